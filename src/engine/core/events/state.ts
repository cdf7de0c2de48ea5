import type { World } from '../domain/domain.ts';
import type { RuleVerdict } from '../domain/rule.ts';
import type { Side } from '../domain/tool.ts';
import type { Json } from '../values/json.ts';
import type { EndReason, EventOf, Failure, RolloutStarted, Verdict } from './event.ts';
import type { Message, ToolCall } from './message.ts';

/** The next event that the rollout waits for. */
export type Phase =
  | { readonly type: 'worldAwaited' }
  /** After the call that succeeded, or after set-up without a call. */
  | { readonly type: 'syncAwaited'; readonly call: ToolCall | null; readonly by: Side }
  | { readonly type: 'userAwaited' }
  | { readonly type: 'agentAwaited' }
  | { readonly type: 'rulesAwaited'; readonly call: ToolCall }
  /** The agent's message is checked against the rules, or after the end the whole rollout. */
  | { readonly type: 'remarksAwaited' }
  | { readonly type: 'callAwaited'; readonly call: ToolCall; readonly by: Side }
  | { readonly type: 'resultAwaited'; readonly call: ToolCall; readonly by: Side }
  | { readonly type: 'endAwaited'; readonly reason: EndReason; readonly failure?: Failure }
  | { readonly type: 'verdictsAwaited' }
  | { readonly type: 'closed' };

/** The whole of a rollout after some events: one immutable value. */
export type RolloutState = {
  readonly started: RolloutStarted;
  readonly phase: Phase;
  /** Number of the next event, so also the count of events so far. */
  readonly next: number;
  readonly world: World;
  /** The world before the first message. */
  readonly start: World;
  readonly messages: readonly Message[];
  /** The world as each message of the user found it, with the number of its event; farewells are not. */
  readonly heard: readonly { readonly step: number; readonly world: World }[];
  /** Calls of the last message that have not been made yet. */
  readonly queue: readonly ToolCall[];
  readonly turn: number;
  /** Calls of the agent that failed. */
  readonly toolErrors: number;
  readonly ruleVerdicts: readonly (RuleVerdict & { readonly step: number })[];
  readonly sources: Readonly<Record<string, Json>>;
  readonly judgements: readonly (Omit<EventOf<'judged'>, 'type'> & { readonly step: number })[];
  /** Last snapshots of tool sources outside the worker, by name. */
  readonly snapshots: Readonly<Record<string, Json>>;
  /** Seeded faults that were injected so far, by their place in the task. */
  readonly injectedFaults: readonly number[];
  readonly verdicts: readonly Verdict[];
  readonly ended: { readonly reason: EndReason; readonly failure?: Failure } | null;
  readonly reward: { readonly value: number | null; readonly reason: string } | null;
};
