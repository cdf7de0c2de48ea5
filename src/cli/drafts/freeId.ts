import { relative } from 'node:path';
import { personaIds } from '../../engine/core/domain/persona.ts';
import { taskIds } from '../../engine/core/domain/task.ts';
import type { LoadedDomain } from '../../engine/shell/load/loadedDomain.ts';
import { type Placed, placeOf } from '../../engine/shell/source/items.ts';
import { type Io, UsageError } from '../terminal/io.ts';

const ids = { task: taskIds, persona: personaIds } as const;

/** Throws a `UsageError` where no task, or no persona, of the domain can be called so, or one is. */
export function requireFree(
  kind: 'task' | 'persona',
  id: string,
  { parts }: Pick<LoadedDomain, 'parts'>,
  { cwd }: Pick<Io, 'cwd'>,
): void {
  const { pattern, words } = ids[kind];
  if (!pattern.test(id)) throw new UsageError(`--id is ${words}, not "${id}"`);
  const all: readonly Placed<{ readonly id: string }>[] = kind === 'task' ? parts.tasks : parts.personas;
  const taken = all.find(({ value }) => value.id.toLowerCase() === id.toLowerCase());
  if (!taken) return;
  const { file, line } = placeOf(taken, 'id');
  throw new UsageError(
    `--id: the domain already has a ${kind} ${taken.value.id} (${relative(cwd, file)}:${line}). Choose another id, or leave --id out to get an unused one`,
  );
}
