import type { World } from '../../core/domain/domain.ts';
import type { Task } from '../../core/domain/task.ts';
import type { Tool } from '../../core/domain/tool.ts';
import type { RolloutEvent, Writes } from '../../core/events/event.ts';
import type { ToolCall, ToolResult } from '../../core/events/message.ts';
import type { RolloutState } from '../../core/events/state.ts';
import type { JudgeAnswer, JudgeQuestion } from '../../core/rollout/judgement.ts';
import type { Setting } from '../../core/rollout/rollout.ts';
import type { AgentReply, SeatView, UserReply } from '../../core/seats/seat.ts';
import type { Json, JsonObject } from '../../core/values/json.ts';
import type { Attachments } from '../../core/values/media.ts';
import type { Random } from '../../core/values/random.ts';
import type { Conclusive, VerificationPorts } from './verification.ts';

/**
 * The result of a call. `writes` is empty for a read, and for a call that failed, unless an environment on the domain's
 * database keeps what its failed calls wrote.
 */
export type ToolOutcome = Attachments & {
  readonly content: string;
  readonly isError: boolean;
  readonly writes: Writes;
  /** The snapshot of a source outside the worker that the call has changed. */
  readonly saved?: { readonly source: string; readonly snapshot: Json };
};

export type ToolContext = {
  readonly world: World;
  readonly now: string;
  readonly random: Random;
  /** Number of the event before the call: the same for every attempt of one call. */
  readonly step: number;
  /** Results of the calls before it in the same response, where an environment of a benchmark is asked. */
  readonly earlier?: readonly ToolResult[];
  /** The arguments of a gold action that quotes results, with the values of these. */
  readonly filled?: JsonObject;
};

/** Everything a rollout needs of the outside. A port that can't do its part throws a `Fault`. */
export type Ports = {
  readonly agent: (view: SeatView) => Promise<AgentReply> | AgentReply;
  readonly user: (view: SeatView) => Promise<UserReply> | UserReply;
  readonly callTool: (tool: Tool, call: ToolCall, context: ToolContext) => Promise<ToolOutcome> | ToolOutcome;
  /** The same for gold actions, where an environment plays them on their own instance. */
  readonly callGold?: Ports['callTool'] | undefined;
  /** Runs the domain's `sync` on a world; absent where no domain has one. */
  readonly sync?: (context: Pick<ToolContext, 'world' | 'now'>) => Promise<Writes> | Writes;
  /** Puts a task's own start into a world by the environment that works on it; absent without an environment. */
  readonly setUp?: (task: Task, context: Pick<ToolContext, 'world' | 'now'>) => Promise<Writes>;
  /** Reads the sources of assertions that are not in the world. */
  readonly readSource: VerificationPorts['readSource'];
  /** Asks the judge; absent without a judge, and its answers are then unknown. */
  readonly judge?: (question: JudgeQuestion) => Promise<JudgeAnswer>;
  readonly verifyBy?: VerificationPorts['verifyBy'];
  /** Receives what the verdicts depend on instead of making them here. The loop then ends before them. */
  readonly conclude?: (evidence: Conclusive) => void;
  /** Lets time pass, for a seeded latency; without it none passes. */
  readonly wait?: (ms: number) => Promise<void>;
};

/** One stop: the event, and the state after it. */
export type Step = { readonly n: number; readonly event: RolloutEvent; readonly state: RolloutState };

export type Rollout = { readonly setting: Setting; readonly task: Task; readonly ports: Ports };
