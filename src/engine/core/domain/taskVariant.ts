import type { Domain } from './domain.ts';
import { laidOver, type Persona } from './persona.ts';
import type { Task } from './task.ts';

/** Separates a task and the persona it is run under: no id of either has it. */
const mark = '@';

const variants = new WeakMap<Domain, Map<string, Task>>();
const personas = new WeakMap<Task, { readonly domain: Domain; readonly persona: Persona }>();

/** The id of a task under a persona. */
export function variantId(task: string, persona: string): string {
  return `${task}${mark}${persona}`;
}

/** The id of the task as its file has it, without the persona that it is run under. */
export function baseTask(id: string): string {
  const at = id.lastIndexOf(mark);
  return at < 0 ? id : id.slice(0, at);
}

/**
 * The task with this id, or undefined. `TASK@PERSONA` is the task under another persona: everything else of it, what
 * counts as done included, stays, and its hash is another.
 */
export function taskIn(domain: Domain, id: string): Task | undefined {
  const own = domain.tasks.find((task) => task.id === id);
  const at = id.lastIndexOf(mark);
  if (own || at < 0) return own;
  const known = variants.get(domain) ?? new Map<string, Task>();
  variants.set(domain, known);
  const found = known.get(id);
  if (found) return found;
  const [base, under] = [domain.tasks.find((task) => task.id === id.slice(0, at)), id.slice(at + 1)];
  if (!base || !domain.personas.some((persona) => persona.id === under)) return undefined;
  const made: Task = Object.freeze({ ...base, id, under });
  known.set(id, made);
  return made;
}

/** Returns who plays the user of a task: its persona, with that which the task is run under laid over it. */
export function personaOf(domain: Domain, task: Task): Persona | undefined {
  const known = personas.get(task);
  if (known?.domain === domain) return known.persona;
  const named = (id: string) => domain.personas.find((persona) => persona.id === id);
  const own = named(task.persona);
  const other = task.under === undefined ? undefined : named(task.under);
  if (!own || (task.under !== undefined && !other)) return undefined;
  const persona = other ? laidOver(own, other) : own;
  personas.set(task, { domain, persona });
  return persona;
}
