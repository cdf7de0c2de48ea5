import type { Task } from '../core/domain/task.ts';
import type { Failure, RolloutEvent, RolloutStarted, Writes } from '../core/events/event.ts';
import type { Json } from '../core/values/json.ts';
import type { ExternalSeats } from './externalSeats.ts';
import type { SideNote } from './files/sideNote.ts';
import type { SidecarLine } from './records/recording.ts';
import type { WorkerEvent, WorkerSeats } from './workers/workerMessage.ts';
import type { Inspector } from './workers/workerProcess.ts';

export type RolloutRequest = {
  readonly task: Task;
  /** The start of a new rollout, or the events of one that continues (a fork). */
  readonly from: RolloutStarted | readonly RolloutEvent[];
  readonly seats: WorkerSeats;
  readonly externalSeats: ExternalSeats;
  /** The path of the recording; null keeps none. An existing file is replaced. */
  readonly recording: string | null;
  readonly pace?: 'step' | 'run';
  /** Whether the sidecar keeps the reads of each call. Tools in TypeScript and simulated tools report them. */
  readonly reads?: boolean;
  /** The sidecar lines about the first events, if a rollout continues after its process died. */
  readonly sidecar?: readonly SidecarLine[];
  /** The id of the run that the recording belongs to. */
  readonly run?: string | undefined;
  /** Recorded states of tool sources, which then replace the sources themselves: none of them is started. */
  readonly recordedSources?: Readonly<Record<string, Json>>;
  /** Whether to return the world after the gold actions at the end. */
  readonly wantsGold?: boolean;
  /** Receives the sidecar's note about an answer from outside the worker. */
  readonly onNote?: (note: SideNote) => void;
};

export type RolloutClosed = {
  /** As they arrived: number and type are known, the rest is parsed when it is first read. */
  readonly arrived: readonly WorkerEvent[];
  readonly events: readonly RolloutEvent[];
  readonly reward: number | null;
  readonly endReason: string;
  readonly failure: Failure | null;
  readonly chain: string;
  readonly sidecarChain: string;
  readonly databaseDiff: string;
  /** The writes of the gold actions from the start of the conversation on, if they were requested. */
  readonly gold?: Writes;
};

export type LiveRollout = {
  /** Rejects only when the recording can't be kept or the engine has a bug. */
  readonly closed: Promise<RolloutClosed>;
  /** Lets a stepped rollout continue to its next event. */
  readonly step: () => void;
  /** Ends the rollout with an event that records it. */
  readonly cancel: () => void;
  /** Gives the pending calls of the current response an error as their result, if they are made outside the worker. */
  readonly cancelCalls: () => void;
  /** Leaves it where it is: nothing more is recorded. `closed` says cancelled. */
  readonly abandon: () => void;
  readonly inside: Inside;
};

/** The inside of the worker that folds a rollout, for a JavaScript debugger. */
export type Inside = {
  readonly isOpen: () => boolean;
  /** Opens the worker's inspector; a sentence where it can't be. */
  readonly open: () => Promise<Inspector | string>;
  readonly close: () => void;
  /** Stops on the first line of the code that the rollout calls next. */
  readonly stopAtCall: () => void;
};
