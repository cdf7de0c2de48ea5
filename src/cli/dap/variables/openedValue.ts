import { getAt } from '../../../engine/core/world/database.ts';
import type { Debuggee } from '../rollout/debuggee.ts';
import type { Edit } from '../rollout/edit.ts';
import type { Variable } from './rows.ts';

/** A value that is in an editor tab: its text, and what a client edits it by, as long as the session lasts. */
export type OpenedValue = {
  readonly text: string;
  readonly language: string;
  /** Edited by its name like a row of VARIABLES; a fork of what it was opened in can be edited on. */
  readonly variable: Variable;
};

/**
 * A variable for an editor tab, or null where it is not worth one. Its edit is refused where the rollout reads
 * otherwise by now: no one edits what is not shown.
 */
export function openedValue(debuggee: Debuggee, { name, whole }: Variable): OpenedValue | null {
  if (!whole) return null;
  const text = whole.text();
  const { edit, language } = whole;
  const readOnly = { text, language, variable: { name, value: text } };
  const probe = edit?.(text);
  if (!edit || probe === undefined || typeof probe === 'string') return readOnly;
  let [saved, asked] = [text, text];
  let known = readAt(debuggee, probe);
  const variable: Variable = {
    name,
    get value() {
      return saved;
    },
    edit: (next) => {
      asked = next;
      return readAt(debuggee, probe) === known
        ? edit(next)
        : `${name} has another value where the rollout is now: open it there and edit it again`;
    },
    onEdited: () => {
      saved = asked;
      known = readAt(debuggee, probe);
    },
  };
  return { text, language, variable };
}

/** Returns what is where an edit would change something. */
function readAt({ steps, current }: Debuggee, edit: Edit): string | undefined {
  switch (edit.type) {
    case 'database':
      return current && JSON.stringify(getAt(current.state.world[edit.side], edit.path));
    case 'message':
    case 'arguments':
      return JSON.stringify(steps[edit.step]?.event);
    case 'turn':
    case 'sample':
    case 'none':
      return undefined;
    default:
      return edit satisfies never;
  }
}
