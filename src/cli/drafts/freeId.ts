import type { LoadedDomain } from '../../engine/shell/load/loadedDomain.ts';
import { UsageError } from '../io.ts';

/** Throws a `UsageError` where a task of the domain can't be called so. */
export function requireFree(id: string, { parts }: LoadedDomain): void {
  if (!taskIdPattern.test(id))
    throw new UsageError(`--id is at most 160 letters, digits, dots, dashes and underscores, not "${id}"`);
  if (parts.tasks.some(({ value }) => value.id.toLowerCase() === id.toLowerCase()))
    throw new UsageError(`--id: the domain has a task ${id} already`);
}

const taskIdPattern = /^[A-Za-z0-9][A-Za-z0-9._-]{0,159}$/;
