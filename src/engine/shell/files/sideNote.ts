import type { ModelRole } from '../../core/evaluation/measure.ts';
import type { Reads } from '../../core/events/reads.ts';
import type { Flaw } from '../../core/simulator/guard.ts';
import type { BrokenEnd } from '../../core/values/answerEnd.ts';

/** The sidecar's data about one event besides its time. */
export type SideNote = {
  readonly ms?: number;
  /** Whose model was asked, where the event is the end of the rollout. */
  readonly role?: ModelRole;
  readonly retries?: number;
  readonly usage?: { readonly input: number; readonly output: number };
  /** The provider's reason for the end of the answer. */
  readonly finishReason?: string;
  readonly refusal?: string;
  /** Describes how the answer ended if its provider does not. */
  readonly brokenEnd?: BrokenEnd;
  readonly provider?: string;
  /** The fields that the request left out or renamed because its endpoint refuses them. */
  readonly adapted?: readonly string[];
  /** The body that a model was sent for this event; null where it was not asked after all. */
  readonly request?: unknown;
  /** Bodies sent before it for the same answer: a seat may ask its model more than once. */
  readonly earlier?: readonly unknown[];
  /** The ends of earlier answers of the same seat for this event. */
  readonly earlierEnds?: readonly Pick<SideNote, 'finishReason' | 'refusal' | 'brokenEnd'>[];
  /** Answers of a model that plays the user which its guard refused, and why. */
  readonly flaws?: readonly (Flaw & { readonly content: string })[];
  /** The data that the call read whose result this is; kept while debugging. */
  readonly reads?: Reads;
  /** The difference between the result of a tool and the output schema of its server. */
  readonly mismatch?: string;
  /** Whether the server of a tool changed its list of tools meanwhile; the agent keeps those of the start. */
  readonly changedTools?: boolean;
  /** A stop that the engine took from the user's message. */
  readonly withheld?: string;
};
