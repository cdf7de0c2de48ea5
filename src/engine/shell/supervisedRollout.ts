import type { EventOf, EventType, Writes } from '../core/events/event.ts';
import type { CheckedRollout } from './checkedFold/checkedRollout.ts';
import type { ExternalSeats, RolloutSeats } from './externalSeats.ts';
import type { RolloutClosed, RolloutRequest } from './liveRollout.ts';
import { isUnverified } from './rollout/effectEvents.ts';
import { RolloutRecord } from './rolloutRecord.ts';
import { RolloutTools } from './tools/rolloutTools.ts';
import type { SharedTools } from './tools/sharedTools.ts';
import type { WorkerEvent } from './workers/workerMessage.ts';
import type { Worker } from './workers.ts';

/** Holds what the supervisor keeps of a rollout while it is played. */
export type SupervisedRollout = {
  readonly id: number;
  readonly request: RolloutRequest;
  readonly settle: (closed: RolloutClosed) => void;
  readonly fail: (error: unknown) => void;
  readonly onEvents: ((events: readonly WorkerEvent[]) => void) | undefined;
  readonly abort: AbortController;
  /** Ends the calls of the response under way. */
  calls: AbortController;
  readonly tools: RolloutTools;
  readonly record: RolloutRecord;
  /** The rollout as its worker's messages make it, from the first time that a worker received it. */
  check: CheckedRollout | null;
  readonly externalSeats: ExternalSeats & Partial<RolloutSeats>;
  worker: Worker<SupervisedRollout> | null;
  /** Whether its worker, which may be the successor of one that died, was asked to start it. */
  isStarted: boolean;
  /** The moment of that by the clock of this process, and the time, in ms, that the events since then claim. */
  startedAt: number;
  claimedMs: number;
  /** Events before this number come without a step. */
  free: number;
  /** Steps that were asked for and have led to no event yet: a worker that starts or takes over receives them. */
  steps: number;
  /** The last events of a rollout whose worker is done with it, as far as they were not stepped to yet; else null. */
  ending: WorkerEvent[] | null;
  /** The writes of the gold actions, if they were requested and are known. */
  gold: Writes | null;
  /** Whether a question was not answered because the rollout, or the run, is to stop. */
  isStopped: boolean;
};

/** Returns a rollout that no worker has received yet. */
export function supervisedRollout(
  given: Pick<SupervisedRollout, 'id' | 'request' | 'settle' | 'fail' | 'onEvents'>,
  tools: SharedTools,
  log: (text: string) => void,
): SupervisedRollout {
  const { request } = given;
  return {
    ...given,
    abort: new AbortController(),
    calls: new AbortController(),
    tools: new RolloutTools(tools),
    record: new RolloutRecord(request.recording, request.sidecar, request.run),
    check: null,
    externalSeats: request.externalSeats.forRollout?.(log) ?? request.externalSeats,
    worker: null,
    isStarted: false,
    startedAt: 0,
    claimedMs: 0,
    free: 0,
    steps: 0,
    ending: null,
    gold: null,
    isStopped: false,
  };
}

/** Whether a rollout waits for its worker: not for an answer, not for a step, and not for the end of what it has. */
export function isDue({ isStarted, ending, check, request: { pace = 'run' }, steps }: SupervisedRollout): boolean {
  return isStarted && !ending && check !== null && !check.isAsking && (pace === 'run' || steps > 0);
}

/** Returns the result of a rollout that is over, or is left where it is. */
export function closedOf(
  { record, gold, abort, isStopped }: SupervisedRollout,
  databaseDiff: string,
  endReason?: string,
): RolloutClosed {
  const { arrived, chain, sidecarChain } = record;
  const end = lastOf(arrived, 'rolloutEnded');
  // Its verification was stopped, such as a question to a judge, and not the conversation before it.
  const isCut = (isStopped || abort.signal.aborted) && isUnverified(lastOf(arrived, 'rewarded'));
  return {
    arrived,
    get events() {
      return arrived.map(({ event }) => event);
    },
    reward: lastOf(arrived, 'rewarded')?.reward ?? null,
    endReason: endReason ?? (isCut ? 'cancelled' : end?.reason) ?? 'cancelled',
    failure: end?.failure ?? null,
    chain,
    sidecarChain,
    databaseDiff,
    ...(gold ? { gold } : {}),
  };
}

/** The last event of a type among those that arrived. */
export function lastOf<Type extends EventType>(arrived: readonly WorkerEvent[], type: Type): EventOf<Type> | undefined {
  return arrived.findLast((each) => each.type === type)?.event as EventOf<Type> | undefined;
}
