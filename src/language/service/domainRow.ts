import { basename } from 'node:path';
import { type Diagnostic, type Location, placeAt, startOf } from '../../engine/shell/files/diagnostic.ts';
import type { LoadedDomain } from '../../engine/shell/load/loadedDomain.ts';
import { writtenIds } from '../../engine/shell/load/writtenIds.ts';
import { unreadItems } from '../unread.ts';

/** The ways in which the Test Explorer groups tasks. */
export type Grouping = 'split' | 'persona';

/** A task as the Test Explorer shows it. */
export type TaskRow = {
  readonly id: string;
  readonly split: string;
  readonly persona: string;
  readonly at: Location | undefined;
  /** The task's error, if any. */
  readonly error: string | undefined;
};

/** A file without a single task that can be read, or with one that can't. */
export type BrokenFile = { readonly file: string; readonly line: number; readonly error: string };

/** A domain as the Test Explorer shows it. */
export type DomainRow = {
  readonly folder: string;
  readonly name: string;
  readonly error: string | undefined;
  readonly groups: readonly { readonly name: string; readonly tasks: readonly TaskRow[] }[];
  readonly broken: readonly BrokenFile[];
};

/** The same without its tasks: how many each group has. */
export type DomainOutline = Omit<DomainRow, 'groups'> & {
  readonly groups: readonly { readonly name: string; readonly count: number }[];
};

type Read = Pick<LoadedDomain, 'folder' | 'domain' | 'tasks' | 'locations' | 'diagnostics' | 'parts'>;

/** The rows of a domain that was read from its folder. Errors are on the task, else on the file, else on the domain. */
export function domainRow(read: Read, grouping: Grouping): DomainRow {
  const { folder, domain, tasks, locations, diagnostics } = read;
  const errors = diagnostics.filter(({ severity }) => severity === 'error');
  const places = Map.groupBy(locations.tasks, ([, { file }]) => file);
  const owner = ({ file, line }: Diagnostic) =>
    places.get(file)?.find(([, at]) => at.line <= line && line <= at.endLine)?.[0];
  const byTask = Map.groupBy(errors, owner);
  const elsewhere = byTask.get(undefined) ?? [];
  const isTaskFile = ({ file }: Diagnostic) => file.endsWith('.task.yaml');
  const unread = unreadRows(read);
  const shown = new Set(unread.map(({ at }) => at?.file));
  const files = Map.groupBy(
    elsewhere.filter((each) => isTaskFile(each) && !shown.has(each.file)),
    ({ file }) => file,
  );
  const readRows = [...new Map(tasks.map((task) => [task.id, task])).values()].map((task): TaskRow => {
    const { id, split, persona } = task;
    const at = locations.tasks.get(id);
    return { id, split, persona, at: at && placeAt(at), error: textOf(byTask.get(id) ?? []) };
  });
  return {
    folder,
    name: domain.name || basename(folder),
    error: textOf(elsewhere.filter((each) => !isTaskFile(each))),
    groups: [...Map.groupBy([...readRows, ...unread], (row) => row[grouping])]
      .map(([name, members]) => ({ name, tasks: members }))
      .sort((one, other) => one.name.localeCompare(other.name)),
    broken: [...files].map(([file, found]) => ({ file, line: found[0]?.line ?? 1, error: textOf(found) ?? '' })),
  };
}

/** Returns the tasks that cannot be read, by the ids in their texts, with what of their split and persona can be read. */
function unreadRows(read: Read): readonly TaskRow[] {
  const { parts } = read;
  const byFile = Map.groupBy(unreadItems(read, 'task'), ({ file }) => file);
  return [...byFile].flatMap(([file, unread]) => {
    const written = new Set(writtenIds(parts.texts.get(file)?.source.text ?? '').map(({ id }) => id));
    const broken = new Map(
      parts.broken.tasks.flatMap(({ placed }) => (placed.file === file ? [[placed.value.id, placed.value]] : [])),
    );
    return unread.flatMap(({ id, line, error }): readonly TaskRow[] => {
      if (!written.has(id)) return [];
      const { split = 'train', persona = 'unknown' } = broken.get(id) ?? {};
      return [{ id, split, persona, at: { ...startOf(file), line, endLine: line }, error: textOf([error]) }];
    });
  });
}

function textOf(errors: readonly Diagnostic[]): string | undefined {
  if (errors.length === 0) return undefined;
  return errors
    .map(({ file, line, message, hint }) => `${basename(file)}:${line}: ${[message, hint].filter(Boolean).join(' ')}`)
    .join('\n\n');
}
