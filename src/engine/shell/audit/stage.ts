import type { Task } from '../../core/domain/task.ts';
import type { Failure, RolloutEvent } from '../../core/events/event.ts';
import type { AgentReply, UserReply } from '../../core/seats/seat.ts';
import type { ExternalSeats } from '../externalSeats.ts';
import { Fault } from '../files/fault.ts';
import type { SideNote } from '../files/sideNote.ts';
import type { RolloutClosed } from '../liveRollout.ts';
import type { LoadedDomain } from '../load/loadedDomain.ts';
import { baseHashOf } from '../replay.ts';
import { startOf } from '../start.ts';
import { openSupervisor, type Supervisor } from '../supervisor.ts';

/** Every audit of a domain plays the same rollouts. */
const seed = 'audit';

/**
 * A rollout to play. The agent is the gold seat, or a function that returns its reply by the number of the turn,
 * counted from the start of the rollout.
 */
export type Part = {
  readonly task: Task;
  readonly basis?: 'evaluate' | 'train';
  readonly agent: 'gold' | ((turn: number) => AgentReply);
  /** The replies of the user; by default those of the agenda user, unless `externalSeats` has a user. */
  readonly user?: (turn: number) => UserReply;
  /** Answers from outside the worker, such as a model for the user or for simulated tools. */
  readonly externalSeats?: Partial<ExternalSeats>;
  readonly seed?: string;
  /** Returns whether to stop the rollout after an event. */
  readonly until?: (event: RolloutEvent) => boolean;
  /** The events that it continues from. */
  readonly from?: readonly RolloutEvent[];
  readonly onNote?: (note: SideNote) => void;
  /** Leaves the rollout where it is, also where its worker does not answer. */
  readonly signal?: AbortSignal;
};

/** Workers of a domain in which rollouts are played and nothing is recorded. */
export type Stage = {
  readonly supervisor: Supervisor;
  readonly play: (part: Part) => Promise<RolloutClosed>;
  readonly close: () => Promise<void>;
};

/** A rollout that only a model could play. */
export const needsModel = 'audit/needs-model';

/** Whether a call reached the time limit of its tool. */
export const isHung = (failure: Failure | null): failure is Failure => failure?.code.endsWith('/hung') === true;

/** Returns a sentence to append to a time-out, which is measured by the clock. */
export const busyNote = (failure: Failure | null): string =>
  isHung(failure) ? ' A busy machine can also be the cause: run the audit again.' : '';

/**
 * Opens fresh workers.
 * @param more tasks of the audit's own, beside those of the domain
 */
export async function openStage(
  loaded: LoadedDomain,
  signal: AbortSignal,
  more: readonly Task[] = [],
  log: (text: string) => void = () => undefined,
): Promise<Stage> {
  const tasks = [...loaded.tasks, ...more];
  const supervisor = await openSupervisor({ ...loaded, tasks, domain: { ...loaded.domain, tasks } }, { log });
  const database = baseHashOf(supervisor.loaded);
  const play = (part: Part): Promise<RolloutClosed> => {
    const { task, basis = 'evaluate', agent, user, from, externalSeats, until, onNote } = part;
    const seats = { agent: { type: agent === 'gold' ? 'gold' : 'scripted' }, user: { type: 'agenda' } } as const;
    const own = { seed: part.seed ?? seed, trial: 0, basis, ...seats };
    const live = supervisor.start(
      {
        task,
        from: from ?? startOf(supervisor.domain, database, task, own),
        seats: {
          agent: agent === 'gold' ? 'gold' : 'remote',
          user: (user ?? externalSeats?.user) ? 'remote' : 'agenda',
        },
        externalSeats: seatsOfPart(part),
        recording: null,
        ...(onNote ? { onNote } : {}),
      },
      until && ((events) => events.some(({ event }) => until(event)) && live.cancel()),
    );
    const stop = () => live.cancel();
    signal.addEventListener('abort', stop, { once: true });
    part.signal?.addEventListener('abort', () => live.abandon(), { once: true });
    return live.closed.finally(() => signal.removeEventListener('abort', stop));
  };
  return { supervisor, play, close: () => supervisor.close() };
}

function seatsOfPart({ agent, user, externalSeats }: Part): ExternalSeats {
  const turns = { agent: 0, user: 0 };
  const nobody = (): never => {
    throw new Fault({ who: 'infrastructure', code: needsModel, message: 'only a model could answer here' });
  };
  return {
    agent: async () => ({ reply: agent === 'gold' ? nobody() : agent(turns.agent++) }),
    user: async () => ({ reply: user ? user(turns.user++) : nobody() }),
    simulate: async () => nobody(),
    ...externalSeats,
  };
}
