import { hashOf, openDatabase } from '../core/database.ts';
import type { Domain } from '../core/domain.ts';
import { type RolloutStarted, recordingFormat } from '../core/event.ts';
import type { JsonObject } from '../core/json.ts';
import { systemPrompt } from '../core/policy.ts';
import { type Task, taskHash } from '../core/task.ts';
import type { StaticDomain } from './load/loadDomain.ts';
import { type SeatSpec, seatName } from './seats/seatSpec.ts';
import { version } from './version.ts';

export type StartOptions = {
  readonly seed: string;
  readonly trial: number;
  readonly basis: 'evaluate' | 'train';
  readonly agent: SeatSpec;
  readonly user: SeatSpec;
  /** Who answers what only a judge can tell; without one those answers are unknown. */
  readonly judge?: SeatSpec;
  readonly turnCap?: number;
};

const hashes = new WeakMap<JsonObject, string>();

/** Hash of a domain's base database, made once. */
export function databaseHash({ world }: Pick<StaticDomain, 'world'>): string {
  const known = hashes.get(world.agent);
  if (known !== undefined) return known;
  const hash = hashOf(openDatabase(world.agent));
  hashes.set(world.agent, hash);
  return hash;
}

/** Event 0 of a new rollout of a task. `database` is the hash of the domain's base database. */
export function startOf(domain: Domain, database: string, task: Task, options: StartOptions): RolloutStarted {
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
    basis: options.basis,
    turnCap: options.turnCap ?? domain.file.turnCap,
    toolErrorCap: domain.file.toolErrorCap,
    seats: {
      agent: seatName(options.agent),
      user: seatName(options.user),
      ...(options.judge ? { judge: seatName(options.judge) } : {}),
    },
    system: systemPrompt(domain, task),
    tools: domain.tools
      .filter(({ owner }) => owner === 'agent')
      .map(({ name, description, parameters }) => ({
        name,
        description,
        parameters: parameters as RolloutStarted['tools'][number]['parameters'],
      })),
    database,
  };
}
