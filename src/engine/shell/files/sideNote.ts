import type { ModelRole } from '../../core/evaluation/measure.ts';
import type { Reads } from '../../core/events/reads.ts';
import type { Flaw } from '../../core/simulator/flaw.ts';

/** What the sidecar says about one event beside its time. */
export type SideNote = {
  readonly ms?: number;
  /** Whose model was asked, where the event is the end of the rollout. */
  readonly role?: ModelRole;
  readonly retries?: number;
  readonly usage?: { readonly input: number; readonly output: number };
  /** What the provider says about the answer. */
  readonly finishReason?: string;
  readonly refusal?: string;
  readonly provider?: string;
  /** What the request left out or renamed because its endpoint refuses it. */
  readonly adapted?: readonly string[];
  /** The body that a model was sent for this event; null where it was not asked after all. */
  readonly request?: unknown;
  /** Bodies sent before it for the same answer: a seat may ask its model more than once. */
  readonly earlier?: readonly unknown[];
  /** How earlier answers of the same seat for this event ended. */
  readonly earlierEnds?: readonly { readonly finishReason?: string; readonly refusal?: string }[];
  /** Answers of a model that plays the user which its guard refused, and why. */
  readonly flaws?: readonly (Flaw & { readonly content: string })[];
  /** What the call read whose result this is; kept while debugging. */
  readonly reads?: Reads;
  /** How the result of a tool differs from the output schema of its server. */
  readonly mismatch?: string;
  /** Whether the server of a tool changed its list of tools meanwhile; the agent keeps those of the start. */
  readonly changedTools?: boolean;
  /** A stop that the engine took from the user's message. */
  readonly withheld?: string;
};
