import { externalSource } from '../../core/domain/tool.ts';
import { keysIn } from '../../core/text/value.ts';
import { jsonOf } from '../../core/values/json.ts';
import type { RolloutClosed } from '../liveRollout.ts';
import type { LoadedDomain } from '../load/loadedDomain.ts';
import { replacing } from '../source/edit.ts';
import { placeOf } from '../source/items.ts';
import { nearest } from '../source/nearest.ts';
import type { Note } from '../source/note.ts';
import { madeIn } from './goldReplay.ts';

/**
 * Notes a name under `volatile:` that no state and no result of its server has, and that is almost one of theirs. Returns
 * the first of each server.
 */
export function noteMisspeltVolatile(
  { domain, file, parts }: LoadedDomain,
  closed: readonly RolloutClosed[],
  note: Note,
): ReadonlyMap<string, string> {
  const misspelt = new Map<string, string>();
  for (const [name, { volatile = [] }] of Object.entries(file.mcpServers)) {
    if (volatile.length === 0) continue;
    const tools = domain.tools.filter((tool) => externalSource(tool) === name);
    const own = new Set(tools.map((tool) => tool.name));
    const seen = closed.flatMap(({ arrived }) => [
      ...arrived.flatMap(({ event }) => (event.type === 'sourceRead' && event.source === name ? [event.state] : [])),
      ...madeIn(arrived).flatMap(({ call, content }) => (own.has(call.name) ? [jsonOf(content)] : [])),
    ]);
    const names = new Set([...own, ...keysIn(seen), ...tools.flatMap(({ outputSchema }) => keysIn(outputSchema))]);
    for (const [index, pattern] of volatile.entries()) {
      const wrong = pattern.split('.').find((part) => part !== '*' && !names.has(part) && nearest(part, names));
      const meant = wrong === undefined ? undefined : nearest(wrong, names);
      if (wrong === undefined || meant === undefined) continue;
      if (!misspelt.has(name)) misspelt.set(name, wrong);
      const at = placeOf(parts.file, 'mcpServers', name, 'volatile', index);
      const message = `No state or result of the server ${name} has a field ${wrong}.`;
      const path = pattern.split('.').map((part) => (part === wrong ? meant : part));
      const fix = replacing(at, pattern, path.join('.'));
      note(at, 'warning', 'domain/unknown-field', message, `Did you mean "${meant}"?`, fix);
    }
  }
  return misspelt;
}
