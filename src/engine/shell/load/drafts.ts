import type { Persona } from '../../core/domain/persona.ts';
import type { Task } from '../../core/domain/task.ts';
import type { Diagnostic, Location } from '../files/diagnostic.ts';
import { asOfDraft, type Placed, placeOf } from '../source/items.ts';
import type { LoadedDomain, Parts } from './loadedDomain.ts';

type Draftable = { readonly id: string; readonly draft?: boolean | undefined };

/** A task or a persona that is read and checked, and that nothing counts until a person accepts it. */
export type Draft =
  | { readonly kind: 'task'; readonly placed: Placed<Task> }
  | { readonly kind: 'persona'; readonly placed: Placed<Persona> };

export const isDraft = ({ value }: Placed<Draftable>): boolean => value.draft === true;

/** Those that count. */
export function accepted<T extends Draftable>(items: readonly Placed<T>[]): readonly Placed<T>[] {
  return items.some(isDraft) ? items.filter((item) => !isDraft(item)) : items;
}

/** Those that count before the drafts: of two that say the same, the draft is the one too many. */
export function acceptedFirst<T extends Draftable>(items: readonly Placed<T>[]): readonly Placed<T>[] {
  return items.some(isDraft) ? [...accepted(items), ...items.filter(isDraft)] : items;
}

/** The drafts of a domain, in the order of its files. */
export function draftsOf({ personas, tasks }: Pick<Parts, 'personas' | 'tasks'>): readonly Draft[] {
  return [
    ...personas.filter(isDraft).map((placed): Draft => ({ kind: 'persona', placed })),
    ...tasks.filter(isDraft).map((placed): Draft => ({ kind: 'task', placed })),
  ];
}

/** Whether something was found in a draft. */
export function isInDraft({ file, line }: Location, parts: Pick<Parts, 'personas' | 'tasks'>): boolean {
  return draftsOf(parts).some(({ placed }) => isWithin(file, line, placed));
}

/** Whether a line of a file lies in a task or a persona. */
export function isWithin(file: string, line: number, placed: Placed<Draftable>): boolean {
  if (file !== placed.file) return false;
  const at = placeOf<Draftable>(placed);
  return line >= at.line && line <= at.endLine;
}

/** The findings with each draft named, and with nothing of a draft that would keep the domain from running. */
export function withDraftsNamed(found: readonly Diagnostic[], parts: Parts): readonly Diagnostic[] {
  const drafts = draftsOf(parts);
  if (drafts.length === 0) return found;
  const lenient = found.map((each) =>
    drafts.some(({ placed }) => isWithin(each.file, each.line, placed)) ? asOfDraft(each) : each,
  );
  return [...lenient, ...drafts.map(named)];
}

function named({ kind, placed }: Draft): Diagnostic {
  const { id } = placed.value;
  const { file, line, column, endLine, endColumn } = placed.places.key([...placed.path, 'draft']);
  return {
    ...{ file, line, column, endLine, endColumn },
    code: `${kind}/draft`,
    severity: 'info',
    message: `The ${kind} ${id} is a draft: runs, splits and coverage ignore it.`,
    about: id,
    hint: "Edit it, then accept it: Rehearsal shows the audit's findings first.",
  };
}

/**
 * The domain with its drafts among its tasks and personas, so that one can be played by its name. Anyone who counts
 * asks for the domain without.
 * @param ids of the draft tasks; all of them where it is left out
 */
export function withDrafts(loaded: LoadedDomain, ids?: readonly string[]): LoadedDomain {
  const { parts, domain } = loaded;
  const drafts = parts.tasks.filter(isDraft).map(({ value }) => value);
  const chosen = drafts.filter(({ id }) => ids?.includes(id) ?? true);
  const personas = [...domain.personas, ...parts.personas.filter(isDraft).map(({ value }) => value)];
  if (chosen.length === 0 && personas.length === domain.personas.length) return loaded;
  const tasks = [...loaded.tasks, ...chosen];
  return { ...loaded, tasks, domain: { ...domain, tasks, personas } };
}
