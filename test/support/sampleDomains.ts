import { cpSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as fc from 'fast-check';
import type { Task } from '../../src/engine/core/domain/task.ts';
import { type Random, randomStream } from '../../src/engine/core/values/random.ts';
import { type LoadedDomain, loadDomain } from '../../src/engine/shell/domain/loadDomain.ts';
import { temporaryFolder } from './temporary.ts';

const root = join(import.meta.dirname, '../../domains');

/** The names of the shipped domains. */
export const sampleDomains: readonly string[] = readdirSync(root).filter((name) =>
  existsSync(join(root, name, 'domain.yaml')),
);

/** Copies the sample domain order-desk, with an empty script for these tasks: the scripted agent fails at its first turn. */
export function withEmptyScripts(...tasks: readonly string[]): string {
  const folder = join(temporaryFolder('scripts'), 'order-desk');
  cpSync(join(root, 'order-desk'), folder, { recursive: true });
  addEmptyScripts(folder, tasks);
  return folder;
}

/** Gives tasks of a domain an empty script. */
export function addEmptyScripts(folder: string, tasks: readonly string[]): void {
  const files = join(folder, 'tasks');
  for (const name of readdirSync(files)) {
    const text = readFileSync(join(files, name), 'utf8');
    const written = text.replace(/^- id: (.+)$/gm, (line, id) => (tasks.includes(id) ? `${line}\n  script: []` : line));
    if (written !== text) writeFileSync(join(files, name), written);
  }
}

const variants = 3;

/** Returns a sample domain in which each task has additional variants, with scripts of an agent that makes mistakes. */
export function withMistakes(name: string): LoadedDomain {
  const loaded = loadDomain(join(root, name));
  const calls = loaded.tasks.flatMap(({ actions }) => actions);
  const variantsOf = (task: Task) =>
    Array.from({ length: variants }, (_, variant): Task => {
      const id = `${task.id}-mistaken-${variant}`;
      return { ...task, id, script: mistakenScript(task, calls, randomStream('mistakes', id)) };
    });
  const tasks = [...loaded.tasks, ...loaded.tasks.flatMap(variantsOf)];
  return { ...loaded, tasks, domain: { ...loaded.domain, tasks } };
}

type Turn = NonNullable<Task['script']>[number];
type Call = Exclude<Turn, string>[number];

/** Returns gold actions with messages between them. Some are missing, too early, repeated, or have a wrong argument. */
function mistakenScript(task: Task, others: readonly Call[], random: Random): Task['script'] {
  const turns = task.actions.flatMap(({ tool, arguments: values }): readonly Turn[] => {
    const call: Call = { tool, arguments: values };
    const words = random.pick(['One moment, please.', `Shall I go ahead with ${Object.values(values).join(' and ')}?`]);
    const mistake = random.integer(8);
    if (mistake === 0) return [words];
    if (mistake === 1) return [[call], words, [call]];
    if (mistake === 2) return [[{ tool: 'no_such_tool', arguments: values }], [call]];
    if (mistake === 3) return [words, [{ tool, arguments: wrong(values, random) }]];
    if (mistake === 4) return [[call, random.pick(others)]];
    if (mistake === 5) return [[random.pick(others)], words, [call]];
    return [words, [call]];
  });
  return [...turns, 'That is done.', 'Is there anything else?', 'Goodbye.'];
}

type Arguments = Task['actions'][number]['arguments'];

function wrong(values: Arguments, random: Random): Arguments {
  const names = Object.keys(values);
  if (names.length === 0) return { unexpected: true };
  const name = random.pick(names);
  const { [name]: _, ...rest } = values;
  return random.chance(0.4) ? rest : { ...values, [name]: random.pick(['', 'nowhere', 0, null, ['x'], { a: 1 }]) };
}

/** Draws a rollout of a domain without a model: a task and a seed, played by the gold seat or with mistakes. */
export function someRollout(domain: LoadedDomain) {
  const mistaken = domain.tasks.filter(({ id }) => id.includes('-mistaken-'));
  const plain = domain.tasks.filter((task) => !mistaken.includes(task));
  const seed = fc.string({ minLength: 1, maxLength: 8 });
  return fc.oneof(
    fc.record({ agent: fc.constant('gold' as const), task: fc.constantFrom(...plain), seed }),
    fc.record({ agent: fc.constant('scripted' as const), task: fc.constantFrom(...mistaken), seed }),
  );
}
