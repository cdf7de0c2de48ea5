import { existsSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { Recorded } from '../../core/events/event.ts';
import { readRecording } from './recording.ts';

/** The point where two related recordings part: the last event they share, and what each changed after it. */
export type ForkPoint = {
  /** Number of the last event that both have. */
  readonly event: number;
  /** A description of the fork's changes there; null for the recording that continued as it was. */
  readonly edits: readonly [string | null, string | null];
  /** File name of the recording that both come from; it may be one of the two. */
  readonly origin: string;
  /** File names of the recordings between each of them and the origin, its parent first. */
  readonly between: readonly [readonly string[], readonly string[]];
};

/** A recording that another one comes from, the last event they share, and the edits after it, the first one first. */
type Ancestor = { readonly path: string; readonly event: number; readonly edit: string | null };

type Opened = { readonly path: string; readonly lines: readonly Recorded[] };

/**
 * Returns how two recordings are related, by the parents that they and those beside them name; null where they are not.
 */
export function forkPointOf(first: Opened, second: Opened): ForkPoint | null {
  const [one, other] = [ancestorsOf(first), ancestorsOf(second)];
  for (const left of one) {
    const right = other.find(({ path }) => path === left.path);
    if (!right) continue;
    const event = Math.min(left.event, right.event, first.lines.length - 1, second.lines.length - 1);
    const origin = basename(left.path);
    return { event, edits: [left.edit, right.edit], origin, between: [between(one, left), between(other, right)] };
  }
  return null;
}

/** Returns the file names of the recordings that come before an ancestor, without the first one. */
function between(ancestors: readonly Ancestor[], origin: Ancestor): readonly string[] {
  return ancestors.slice(1, Math.max(1, ancestors.indexOf(origin))).map(({ path }) => basename(path));
}

/** The recording itself and those that it comes from, nearest first. */
function ancestorsOf({ path, lines }: Opened): readonly Ancestor[] {
  const found: Ancestor[] = [{ path, event: Number.POSITIVE_INFINITY, edit: null }];
  let parent = parentOf(lines);
  let event = Number.POSITIVE_INFINITY;
  let folder = dirname(path);
  let edits: readonly string[] = [];
  while (parent) {
    const at = join(folder, parent.recording);
    // A recording that was graded again names a parent of its own name, in another folder.
    if (found.some((each) => each.path === at)) break;
    // A fork before an edit of its parent does not contain that edit.
    if (parent.event < event) edits = [parent.edit, ...edits];
    event = Math.min(event, parent.event);
    found.push({ path: at, event, edit: edits.join(', then ') });
    if (!existsSync(at)) break;
    parent = parentOf(readRecording(at).lines);
    folder = dirname(at);
  }
  return found;
}

function parentOf([first]: readonly Recorded[]) {
  return first?.event.type === 'rolloutStarted' ? first.event.parent : undefined;
}
