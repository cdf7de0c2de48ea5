import type { PolicyProblem } from '../../core/domain/policy.ts';
import type { Fix } from '../files/diagnostic.ts';
import { fixOf } from '../source/edit.ts';
import type { Source } from '../source/source.ts';

/**
 * Returns what fixes an id mark: letters, digits and dashes in place of what is not an id; a second mark is taken out,
 * and a brace is added to an open one.
 */
export function markFix({ code, line, column, endColumn }: PolicyProblem, { file, text }: Source): Fix | undefined {
  const row = text.split('\n')[line - 1] ?? '';
  const at = { file, line, column, endLine: line, endColumn };
  if (code === 'policy/second-mark') {
    const space = /\s*$/.exec(row.slice(0, column - 1))?.[0].length ?? 0;
    return fixOf('Remove the second mark', { ...at, column: column - space, text: '' });
  }
  if (code === 'policy/unclosed-mark') return fixOf('Add the closing brace', { ...at, column: endColumn, text: '}' });
  if (code !== 'policy/bad-mark') return undefined;
  const id = (row.slice(column - 1, endColumn - 1).match(/[A-Za-z0-9]+/g) ?? []).join('-').toLowerCase();
  return id === '' ? undefined : fixOf(`Change it to {#${id}}`, { ...at, text: `{#${id}}` });
}
