import { join } from 'node:path';
import type { SeatSpec } from '../../src/engine/core/domain/seatSpec.ts';
import { taskIn } from '../../src/engine/core/domain/taskVariant.ts';
import type { RolloutEvent } from '../../src/engine/core/events/event.ts';
import { baseHash } from '../../src/engine/core/events/world.ts';
import { loadDomain } from '../../src/engine/shell/domain/loadDomain.ts';
import { externalSeatsOf, workerSeats } from '../../src/engine/shell/externalSeats.ts';
import type { RolloutClosed } from '../../src/engine/shell/liveRollout.ts';
import { replayRecording, settingOf } from '../../src/engine/shell/replay.ts';
import { startOf } from '../../src/engine/shell/start.ts';
import { openSupervisor } from '../../src/engine/shell/supervisor.ts';
import { approveDomain } from './approval.ts';
import { temporaryFolder } from './temporary.ts';

export type Rehearsed = RolloutClosed & {
  readonly recording: string;
  /** The result or error of each call, in order. */
  readonly results: readonly string[];
};

type Options = {
  /** The agent of every task, or one for each. */
  readonly agent?: SeatSpec | readonly SeatSpec[];
  readonly user?: SeatSpec;
  readonly readKey?: (name: string) => string | undefined;
  /** The events before a fork: those of every task, or those of each. */
  readonly from?: readonly RolloutEvent[] | ((task: string) => readonly RolloutEvent[]);
  readonly log?: (text: string) => void;
  /** Whether the sidecar keeps what each call read. */
  readonly reads?: boolean;
  /** Called with each event when it is recorded. */
  readonly onEvent?: (task: string, event: RolloutEvent) => void;
};

/** Approves a domain, runs some of its tasks at once as a batch does, and keeps their recordings. */
export async function rehearse(folder: string, tasks: readonly string[], options: Options = {}): Promise<Rehearsed[]> {
  const {
    agent: agents = { type: 'scripted' },
    user = { type: 'agenda' },
    readKey = () => undefined,
    from,
    log,
    reads = false,
    onEvent,
  } = options;
  const supervisor = await openSupervisor(loadDomain(approveDomain(folder)), log ? { log } : {});
  const out = temporaryFolder('rehearsed');
  try {
    const { domain, loaded } = supervisor;
    const database = baseHash(settingOf(loaded).world);
    return await Promise.all(
      tasks.map(async (id, index) => {
        const task = taskIn(domain, id);
        if (!task) throw new Error(`no task ${id}`);
        const agent = agentAt(agents, index);
        const start = startOf(domain, database, task, { seed: '1', trial: index, basis: 'evaluate', agent, user });
        const recording = join(out, `${index}.traj.jsonl`);
        const externalSeats = externalSeatsOf(agent, user, readKey, () =>
          Promise.reject(new Error('no person is asked')),
        );
        const before = typeof from === 'function' ? from(id) : from;
        const request = {
          task,
          from: before ?? start,
          seats: workerSeats(agent, user),
          externalSeats,
          recording,
          reads,
        };
        const live = supervisor.start(request, (events) => {
          for (const { event } of events) onEvent?.(id, event);
        });
        const closed = await live.closed;
        return { ...closed, recording, results: resultsOf(closed.events) };
      }),
    );
  } finally {
    await supervisor.close();
  }
}

/** Replays a recording. Returns the number of differences and the number of steps. */
export function replayed(
  folder: string,
  { recording }: Rehearsed,
): { readonly problems: number; readonly steps: number } {
  const { problems, steps } = replayRecording(loadDomain(folder), recording);
  return { problems: problems.length, steps: steps.length };
}

function agentAt(agents: SeatSpec | readonly SeatSpec[], index: number): SeatSpec {
  if ('type' in agents) return agents;
  const agent = agents[index];
  if (!agent) throw new Error(`no agent for task ${index}`);
  return agent;
}

function resultsOf(events: readonly RolloutEvent[]): readonly string[] {
  return events.flatMap((event) => (event.type === 'toolReturned' ? [event.content] : []));
}
