import type { Domain } from '../../core/domain.ts';
import type { EndReason, Failure, RolloutEvent, RolloutStarted } from '../../core/event.ts';
import type { Json, JsonObject } from '../../core/json.ts';
import type { JudgeAnswer, JudgeQuestion } from '../../core/judgement.ts';
import type { AgentReply, SeatView, UserReply } from '../../core/seat.ts';
import type { Tool } from '../../core/tool.ts';

/** What a seat that lives outside the lane (a model, a person) may see; the domain stays where it is. */
export type RemoteView = Omit<SeatView, 'domain' | 'random'>;

/** Which reply function a seat uses inside the lane; `remote` asks the supervisor. */
export type LaneSeats = { readonly agent: 'gold' | 'scripted' | 'remote'; readonly user: 'agenda' | 'remote' };

/** Supervisor to lane. The channel keeps order, so events reach the supervisor before any question that follows them. */
export type ToLane =
  /** The rest of the domain, once the lane has described the code tools. */
  | {
      readonly type: 'prepare';
      readonly domain: Domain;
      readonly world: { readonly agent: JsonObject; readonly user: JsonObject };
    }
  | {
      readonly type: 'start';
      readonly rollout: number;
      readonly task: string;
      /** The start of a new rollout, or the events of one that goes on. */
      readonly from: RolloutStarted | readonly RolloutEvent[];
      readonly seats: LaneSeats;
      /** Events that the supervisor has already: they are folded again and not sent. */
      readonly known: number;
      /** `step` waits for a `step` message before each event that is new; `run` goes through. */
      readonly pace: 'step' | 'run';
    }
  | { readonly type: 'step'; readonly rollout: number }
  | { readonly type: 'cancel'; readonly rollout: number }
  | { readonly type: 'answer'; readonly question: number; readonly value: Answer }
  | { readonly type: 'refusal'; readonly question: number; readonly reason: EndReason; readonly failure: Failure };

export type Answer =
  | AgentReply
  | UserReply
  | { readonly content: string; readonly isError: boolean }
  | { readonly state: Json }
  | JudgeAnswer;

export type LaneEvent = {
  readonly n: number;
  readonly event: RolloutEvent;
  /** Hash of the world after it. */
  readonly state: string;
  /** Milliseconds since the event before it. */
  readonly ms: number;
  /** `{n, event, state}` as JSON text, as it arrived from the lane: what a recording keeps. */
  readonly text?: string;
};

/** Lane to supervisor, in batches. */
export type FromLane =
  | { readonly type: 'described'; readonly tools: readonly Tool[] }
  | { readonly type: 'notDescribed'; readonly failure: Failure }
  | { readonly type: 'prepared' }
  | { readonly type: 'events'; readonly rollout: number; readonly events: readonly LaneEvent[] }
  | { readonly type: 'question'; readonly question: number; readonly rollout: number; readonly about: Question }
  /** The generator is done; `databaseDiff` is the hash of the final differences from the base database. */
  | { readonly type: 'closed'; readonly rollout: number; readonly databaseDiff: string }
  /** A bug of the engine, never of the domain. */
  | { readonly type: 'crashed'; readonly rollout: number; readonly message: string }
  | { readonly type: 'log'; readonly rollout: number | null; readonly text: string };

export type Question =
  | { readonly type: 'agent' | 'user'; readonly view: RemoteView }
  | { readonly type: 'tool'; readonly server: string; readonly name: string; readonly arguments: JsonObject }
  | { readonly type: 'source'; readonly source: string }
  | { readonly type: 'judge'; readonly question: JudgeQuestion };
