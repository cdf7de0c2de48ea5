import type { Parts } from '../load/loadedDomain.ts';
import type { KnownTools, Note } from '../source/note.ts';
import { placeOfTool } from './checkSources.ts';

/** Checks the requirements of dual control: a database of the user's side, and tools that each seat can use. */
export function checkSides(parts: Parts, { tools }: KnownTools, note: Note): void {
  const hasUserSide = parts.file.value.userDatabase !== undefined;
  const hint = 'Name one in domain.yaml: userDatabase: user.json.';
  if (parts.sync && !hasUserSide) {
    const message = 'sync has nothing to synchronize: the domain has no user database.';
    note(parts.sync, 'warning', 'tool/sync-one-sided', message, hint);
  }
  for (const tool of tools.values()) {
    if (tool.owner !== 'user') continue;
    const at = placeOfTool(parts, tool);
    if (tool.handsOff) {
      const message = `${tool.name} belongs to the user and hands off, but only the agent can hand the conversation over.`;
      note(at, 'error', 'tool/user-hands-off', message, 'Remove `handsOff`, or let the agent own it.');
    }
    if (tool.effect === 'write' && !hasUserSide) {
      const message = `${tool.name} writes to the user's database, but the domain has none.`;
      note(at, 'error', 'tool/no-user-database', message, hint);
    }
  }
}
