import { textHash } from '../values/hash.ts';
import type { McpServer } from './domain.ts';
import { isToolName } from './tool.ts';

type Naming = Pick<McpServer, 'rename' | 'prefix'>;

/** Returns the name of a server's tool as its domain declares it, which may be one that no model can be offered. */
function declaredName(own: string, { rename = {}, prefix = '' }: Naming): string {
  return (Object.hasOwn(rename, own) ? rename[own] : undefined) ?? `${prefix}${own}`;
}

/** Returns whether a tool of a server gets another name only because models cannot be offered its own. */
export function isAdapted(own: string, naming: Naming): boolean {
  return !isToolName(declaredName(own, naming));
}

const longest = 64;
const digits = 8;

/**
 * Returns the name that a tool of a server has in the domain: by `rename`, else its own after `prefix`. In a name that models
 * cannot be offered, `_` replaces what they do not take, and a part of the hash of the name ends one that is too long.
 */
export function serverToolName(own: string, naming: Naming): string {
  const declared = declaredName(own, naming);
  const legal = declared.replace(/[^A-Za-z0-9_-]+/g, '_');
  if (legal.length <= longest && /[A-Za-z0-9]/.test(legal)) return legal;
  return `${legal.slice(0, longest - digits - 1)}_${textHash(declared).slice(0, digits)}`;
}
