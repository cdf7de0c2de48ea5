import { literal } from './literal.ts';

/** Whether a name fits a pattern in which `*` matches any letters. */
export function nameMatches(name: string, pattern: string): boolean {
  return new RegExp(`^${pattern.split('*').map(literal).join('.*')}$`).test(name);
}
