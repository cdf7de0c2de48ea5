import type { Domain } from '../../core/domain/domain.ts';
import type { ModelFreeAgent, ModelFreeUser } from '../../core/domain/seatSpec.ts';
import type { Tool } from '../../core/domain/tool.ts';
import type { EndReason, EventType, Failure, RolloutEvent, RolloutStarted, Writes } from '../../core/events/event.ts';
import type { NumberForms } from '../../core/events/message.ts';
import type { Reads } from '../../core/events/reads.ts';
import type { JudgeAnswer } from '../../core/rollout/judgement.ts';
import type { AgentReply, SeatView, UserReply } from '../../core/seats/seat.ts';
import type { Json, JsonObject } from '../../core/values/json.ts';
import type { Attachments } from '../../core/values/media.ts';
import type { CustomResult } from '../../core/verifiers/verify.ts';
import type { Patch } from '../../core/world/database.ts';
import type { FileLine } from '../files/diagnostic.ts';
import type { ToolOutcome } from '../rollout/ports.ts';
import type { RowChange, SidedChange } from './rows.ts';

/** The view of a seat outside the worker (a model, a person); the domain stays in the worker. */
export type RemoteView = Omit<SeatView, 'domain' | 'random'>;

/** The reply function that a seat uses inside the worker; `remote` asks the supervisor. */
export type WorkerSeats = {
  readonly agent: ModelFreeAgent | 'remote';
  readonly user: ModelFreeUser | 'remote';
};

/** A worker's first message: import the tools and describe them. */
export type WorkerOpening = {
  readonly type: 'open';
  readonly toolsFile: string;
  /** Of tools that declare none. */
  readonly timeoutMs: number;
};

/** A message to a worker about its inspector, sent at any time. */
export type ToInspector =
  /** Open it, say where it is, and do nothing more until a debugger is there. */
  { readonly type: 'inspect' } | { readonly type: 'uninspect' };

/** Supervisor to worker. The channel keeps order, so events reach the supervisor before any question that follows them. */
export type ToWorker =
  /** The rest of the domain, once the worker has described the code tools. */
  | {
      readonly type: 'prepare';
      readonly domain: Domain;
      readonly world: { readonly agent: JsonObject; readonly user: JsonObject };
      /** The location of each tool, for messages about its faults. */
      readonly places: Readonly<Record<string, FileLine>>;
    }
  | {
      readonly type: 'start';
      readonly rollout: number;
      readonly task: string;
      /** The start of a new rollout, or the events of one that continues. */
      readonly from: RolloutStarted | readonly RolloutEvent[];
      readonly seats: WorkerSeats;
      /** Events that the supervisor has already: they are folded again and not sent. */
      readonly known: number;
      /** States of sources that the supervisor has recorded: it answers for them, and nothing else is asked. */
      readonly recorded?: readonly string[];
      /** `step` waits for a `step` message before each event that is new; `run` goes through. */
      readonly pace: 'step' | 'run';
      /** Whether the world after the gold actions is reported at the end, whatever the verifiers need. */
      readonly wantsGold?: boolean;
      /** Whether each call reports what it read. */
      readonly reads?: boolean;
    }
  | { readonly type: 'step'; readonly rollout: number }
  | { readonly type: 'cancel'; readonly rollout: number }
  /** Stop on the first line of the code that is called next, in whatever debugger is there. */
  | { readonly type: 'stopInside'; readonly rollout: number }
  | { readonly type: 'answer'; readonly question: number; readonly value: Answer }
  | { readonly type: 'refusal'; readonly question: number; readonly reason: EndReason; readonly failure: Failure };

export type Answer =
  | AgentReply
  | UserReply
  | JudgeAnswer
  | CallAnswer
  | PythonAnswer
  | HostedAnswer
  | SimulatedAnswer
  | { readonly state: Json };

/** Of a tool whose state lies outside; with the snapshot of its source when the call may have changed it. */
export type CallAnswer = Pick<ToolOutcome, 'content' | 'isError' | keyof Attachments | 'saved'>;

/** The process is a new one that does not know this rollout. */
export type Stale = { readonly isStale: true };

/** Of a tool in Python. */
export type PythonAnswer =
  | Stale
  /** The arguments do not fit, so the call never reached the process. */
  | { readonly refusal: string }
  | { readonly content: string; readonly isError: boolean; readonly rows: readonly RowChange[] };

/** Of an environment that works on the domain's database: what it wrote on both sides. */
export type HostedAnswer =
  | Stale
  | {
      readonly rows: readonly SidedChange[];
      /** Of a call: its result, and what the `sync` after it wrote. */
      readonly content?: string;
      readonly isError?: boolean;
      readonly synced?: readonly SidedChange[];
      /** Of a function that an assertion calls. */
      readonly said?: Json;
    };

/** Of the model that simulates a tool, or what is wrong with what it answered. */
export type SimulatedAnswer =
  | { readonly content: string; readonly isError: boolean; readonly writes: readonly Patch[] }
  | { readonly problem: string };

/** An event as a worker says it. */
export type ClaimedEvent = {
  readonly n: number;
  readonly type: EventType;
  readonly event: RolloutEvent;
  /** Whether the text was parsed. */
  readonly isParsed: boolean;
  /** Milliseconds since the event before it. */
  readonly ms: number;
  /** `{n, event}` as JSON text. */
  readonly text: string;
};

/** An event that the supervisor has accepted. */
export type WorkerEvent = Omit<ClaimedEvent, 'isParsed'> & {
  /** Hash of the world after it. */
  readonly state: string;
  /** `{n, event, state}` as JSON text: what a recording keeps. */
  readonly text: string;
};

/** Worker to supervisor, in batches. */
export type FromWorker =
  /** `sync`: the module of the tools exports a function of that name. */
  | { readonly type: 'described'; readonly tools: readonly Tool[]; readonly sync: boolean }
  | { readonly type: 'notDescribed'; readonly failure: Failure }
  | { readonly type: 'prepared' }
  | FromInspector
  | { readonly type: 'events'; readonly rollout: number; readonly events: readonly ClaimedEvent[] }
  /** The data that the call read whose result comes next, as the event of this number. */
  | { readonly type: 'reads'; readonly rollout: number; readonly n: number; readonly reads: Reads }
  | { readonly type: 'question'; readonly question: number; readonly rollout: number; readonly about: Question }
  /** Nothing more comes of the rollout in its worker; the verdicts are the supervisor's. */
  | { readonly type: 'closed'; readonly rollout: number; readonly evidence: WorkerEvidence }
  /** A bug of the engine, never of the domain. */
  | { readonly type: 'crashed'; readonly rollout: number; readonly message: string }
  | { readonly type: 'log'; readonly rollout: number | null; readonly text: string };

/**
 * The evidence from a worker that the verdicts depend on: the results of the gold actions in the domain's code, and the
 * results of the domain's verifiers.
 */
export type WorkerEvidence = {
  readonly gold: WorkerGold | null;
  readonly custom: readonly CustomResult[];
};

/** The result of each gold action, in order, with what it and the `sync` after it wrote. A worker says it once. */
export type WorkerGold = {
  /** Of this gold world in its worker. */
  readonly id: number;
  readonly actions?:
    | readonly { readonly turn: number; readonly content: string; readonly writes: Writes }[]
    | undefined;
  /** The action that failed, with `actions`. */
  readonly failed?: string | undefined;
};

export type FromInspector =
  /** The inspector is open at an address, or closed; `problem` says why it can't be opened. */
  | { readonly type: 'inspected'; readonly url: string | null; readonly problem?: string }
  /** A debugger is there, and the worker continues. */
  | { readonly type: 'attached' };

/**
 * The supervisor knows the conversation: what a seat sees, what is judged, and the call under way with its arguments, it
 * takes from its own state.
 */
export type Question =
  | { readonly type: 'agent' | 'user' | 'judge' | 'tool' }
  | {
      readonly type: 'python';
      /** The rollout begins from the base database, with these changes; else they are those since its last call. */
      readonly isFresh: boolean;
      readonly changes: readonly SidedChange[];
      /** Of the call in its rollout, or of the gold action in its task. */
      readonly step: number;
      /** The arguments of a gold action that quotes results of earlier ones, which only the worker has. */
      readonly filled?: JsonObject;
    }
  | {
      readonly type: 'hosted';
      readonly environment: string;
      readonly method: 'call' | 'set_up' | 'sync' | 'ask';
      readonly params: JsonObject;
      /** Another instance than the rollout's own. */
      readonly instance?: 'gold';
      readonly isFresh: boolean;
      readonly changes: readonly SidedChange[];
      readonly timeoutMs?: number;
    }
  | { readonly type: 'simulated' }
  | { readonly type: 'source'; readonly source: string };

/** The arguments of a call, and the forms of their numbers. */
export type GivenArguments = { readonly arguments: JsonObject } & NumberForms;

/** Why a worker ends, in words that follow its tool's name. */
export type ExitCause = { readonly message: string; readonly file?: string; readonly line?: number };
