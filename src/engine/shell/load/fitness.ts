import type { Task } from '../../core/domain/task.ts';
import { baseTask } from '../../core/domain/taskVariant.ts';
import { type Diagnostic, errorsOf, unfitness } from '../files/diagnostic.ts';
import { Fault } from '../files/fault.ts';
import type { Placed } from '../source/items.ts';
import { isWithin } from './drafts.ts';
import type { LoadedDomain } from './loadedDomain.ts';

/** Describes what the errors of a domain prevent from running. */
export type Fitness = {
  /** Errors of what every rollout uses, such as the policy, a rule or a tool: no task runs. */
  readonly shared: readonly Diagnostic[];
  /** Errors of files of tasks that concern no task which could be read. */
  readonly unread: readonly Diagnostic[];
  /** The same for files of personas. */
  readonly unreadPersonas: readonly Diagnostic[];
  /** Returns the errors that keep one task from running: its own, and those of its persona. */
  readonly ofTask: (task: Pick<Task, 'id' | 'persona' | 'under'>) => readonly Diagnostic[];
};

/** Groups the errors of a domain by what they prevent from running. */
export function fitnessOf({
  parts,
  domain,
  diagnostics,
}: Pick<LoadedDomain, 'parts' | 'domain' | 'diagnostics'>): Fitness {
  const errors = errorsOf(diagnostics);
  const byKind = Map.groupBy(errors, ({ file }) =>
    file.endsWith('.task.yaml') ? 'task' : file.endsWith('.persona.yaml') ? 'persona' : 'shared',
  );
  const tasks = byId(byKind.get('task') ?? [], parts.tasks);
  const personas = byId(byKind.get('persona') ?? [], parts.personas);
  const read = new Set([...domain.personas.map(({ id }) => id), ...parts.personas.map(({ value }) => value.id)]);
  const ofPersona = (id: string) => personas.get(id) ?? (read.has(id) ? [] : (personas.get(null) ?? []));
  return {
    shared: byKind.get('shared') ?? [],
    unread: tasks.get(null) ?? [],
    unreadPersonas: personas.get(null) ?? [],
    ofTask: ({ id, persona, under }) => [
      ...(tasks.get(baseTask(id)) ?? []),
      ...[persona, ...(under === undefined ? [] : [under])].flatMap(ofPersona),
    ],
  };
}

/**
 * Chooses the tasks that can run. For commands that use many tasks of a domain and leave out those with errors.
 * @returns them, and the errors that keep the others from running
 */
export function fitTasks<T extends Pick<Task, 'id' | 'persona' | 'under'>>(
  tasks: readonly T[],
  loaded: Parameters<typeof fitnessOf>[0],
): { readonly fit: readonly T[]; readonly errors: readonly Diagnostic[] } {
  const { ofTask, unread } = fitnessOf(loaded);
  const errors = new Map(tasks.map((task) => [task, ofTask(task)]));
  return {
    fit: tasks.filter((task) => errors.get(task)?.length === 0),
    errors: [...new Set([...unread, ...[...errors.values()].flat()])],
  };
}

/** Errors by the id of the item that they are in; null where they are in none. */
function byId(
  errors: readonly Diagnostic[],
  items: readonly Placed<{ readonly id: string }>[],
): ReadonlyMap<string | null, readonly Diagnostic[]> {
  const byFile = Map.groupBy(items, ({ file }) => file);
  const owner = ({ file, line }: Diagnostic): string | null =>
    byFile.get(file)?.find((placed) => isWithin(file, line, placed))?.value.id ?? null;
  return Map.groupBy(errors, owner);
}

/** Returns errors as the fault of what they prevent from running; null without an error. */
export function unfitFault(errors: readonly Diagnostic[]): Fault | null {
  const [first] = errors;
  return first ? new Fault({ who: 'environment', code: first.code, message: unfitness(errors) }) : null;
}
