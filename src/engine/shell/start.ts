import type { Domain } from '../core/domain/domain.ts';
import { systemPrompt } from '../core/domain/policy.ts';
import { type SeatSpec, seatName } from '../core/domain/seatSpec.ts';
import { type Task, taskHash } from '../core/domain/task.ts';
import { offeredAs, type Side } from '../core/domain/tool.ts';
import { type RolloutStarted, recordingFormat } from '../core/events/event.ts';
import { version } from './files/version.ts';

export type StartOptions = {
  readonly seed: string;
  readonly trial: number;
  readonly basis: 'evaluate' | 'train';
  readonly agent: SeatSpec;
  readonly user: SeatSpec;
  /** Answers questions that only a judge can decide; without a judge those answers are unknown. */
  readonly judge?: SeatSpec;
  readonly turnCap?: number;
};

/** Event 0 of a new rollout of a task. `database` is the hash of the domain's base database. */
export function startOf(domain: Domain, database: string, task: Task, options: StartOptions): RolloutStarted {
  const userTools = offered(domain, 'user');
  return {
    type: 'rolloutStarted',
    format: recordingFormat,
    engine: version,
    domain: { name: domain.name, hash: domain.hash },
    policyHash: domain.policy.hash,
    task: { id: task.id, hash: taskHash(task), split: task.split },
    seed: options.seed,
    trial: options.trial,
    now: task.now ?? domain.file.now,
    ...(domain.file.timeZone === undefined ? {} : { timeZone: domain.file.timeZone }),
    basis: options.basis,
    turnCap: options.turnCap ?? domain.file.turnCap,
    toolErrorCap: domain.file.toolErrorCap,
    ...(domain.file.callCap === undefined ? {} : { callCap: domain.file.callCap }),
    ...(domain.file.callsPerResponse === undefined ? {} : { callsPerResponse: domain.file.callsPerResponse }),
    ...(domain.file.unreadableCalls === undefined ? {} : { unreadableCalls: domain.file.unreadableCalls }),
    ...(domain.file.callSyntax === undefined ? {} : { callSyntax: domain.file.callSyntax }),
    ...(domain.file.userEnds === undefined ? {} : { userEnds: domain.file.userEnds }),
    ...(domain.file.messageCap === undefined ? {} : { messageCap: domain.file.messageCap }),
    ...(domain.file.closing === undefined ? {} : { closing: domain.file.closing }),
    seats: {
      agent: seatName(options.agent),
      user: seatName(options.user),
      ...(options.judge ? { judge: seatName(options.judge) } : {}),
    },
    system: systemPrompt(domain, task),
    ...(domain.file.greeting === undefined ? {} : { greeting: domain.file.greeting }),
    tools: offered(domain, 'agent').filter(({ name }) => isOfferedAtStart(task, name)),
    ...(userTools.length > 0 ? { userTools } : {}),
    database,
  };
}

/** The tools that a seat is shown. */
function offered({ tools }: Domain, seat: Side): RolloutStarted['tools'] {
  return tools.filter(({ owner }) => owner === seat).map(offeredAs) as RolloutStarted['tools'];
}

function isOfferedAtStart({ tools, laterTools = [] }: Task, name: string): boolean {
  return (tools?.includes(name) ?? true) && !laterTools.some((later) => later.tools.includes(name));
}
