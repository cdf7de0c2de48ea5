import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { stringify } from 'yaml';
import type { Benchmark } from '../engine/core/domain/benchmark.ts';
import type { Json, JsonObject } from '../engine/core/values/json.ts';
import { makeFolder, onDisk } from '../engine/shell/files/disk.ts';

/** The text of a database, one row of a table a line. */
function databaseText(database: JsonObject): string {
  if (Object.keys(database).length === 0) return '{}\n';
  const members = Object.entries(database).map(([name, member]) => `  ${JSON.stringify(name)}: ${memberText(member)}`);
  return `{\n${members.join(',\n')}\n}\n`;
}

function memberText(member: Json): string {
  if (typeof member !== 'object' || member === null) return JSON.stringify(member);
  const rows = Array.isArray(member)
    ? member.map((row) => JSON.stringify(row))
    : Object.entries(member).map(([key, row]) => `${JSON.stringify(key)}: ${JSON.stringify(row)}`);
  const [open, close] = Array.isArray(member) ? '[]' : '{}';
  return rows.length === 0 ? `${open}${close}` : `${open}\n    ${rows.join(',\n    ')}\n  ${close}`;
}

/** A file of a domain as YAML. Long texts stay on their line, so that no word of them moves. */
function yamlText(value: unknown): string {
  return stringify(value, { lineWidth: 0, aliasDuplicateObjects: false });
}

/** The parts of a domain that an importer provides; the rest is the same for all importers. */
export type WrittenDomain = {
  readonly benchmark: Benchmark;
  /** Name, description and limits: the head of `domain.yaml`. */
  readonly head: Readonly<Record<string, unknown>> & { readonly name: string; readonly description: string };
  /** The interpreter and the settings of the benchmark's adapter. */
  readonly python: string | undefined;
  readonly settings: Readonly<Record<string, string>>;
  readonly policy: string;
  readonly database: JsonObject;
  /** Rows of the user's side; empty where it has none. */
  readonly userDatabase?: JsonObject;
  readonly persona: { readonly id: string; readonly description: string };
  readonly tasks: readonly Readonly<Record<string, unknown>>[];
};

/** The persona of tau's tasks, which describe their customer themselves. */
export const customer = { id: 'customer', description: 'The customer whom the task describes.' };

/** Writes the files of a domain into a folder, its tasks in a file for each split. */
export function writeDomain(folder: string, domain: WrittenDomain): void {
  const { persona, policy, database, userDatabase = {}, tasks } = domain;
  const hasUser = Object.keys(userDatabase).length > 0;
  write(folder, 'domain.yaml', yamlText(domainFile(domain, hasUser)));
  write(folder, 'policy.md', policy);
  write(folder, 'database.json', databaseText(database));
  if (hasUser) write(folder, 'user-database.json', databaseText(userDatabase));
  write(folder, `personas/${persona.id}.persona.yaml`, yamlText(persona));
  for (const half of ['train', 'test']) {
    const own = tasks.filter(({ split }) => split === half);
    if (own.length > 0) write(folder, `tasks/${half}.task.yaml`, yamlText(own));
  }
}

/** Both seats are scripted until a model is named: nothing of a benchmark says what takes them. */
function domainFile({ benchmark, head, python, settings }: WrittenDomain, hasUser: boolean): object {
  return {
    ...head,
    agent: 'scripted',
    user: 'scripted',
    ...(hasUser ? { userDatabase: 'user-database.json' } : {}),
    environments: {
      [benchmark]: { adapter: benchmark, state: 'database', ...(python === undefined ? {} : { python }), settings },
    },
  };
}

function write(folder: string, name: string, text: string): void {
  const path = join(folder, name);
  makeFolder(dirname(path));
  onDisk(path, () => writeFileSync(path, text));
}

/**
 * The id of a task in a domain: letters, digits, dots, dashes and underscores of the benchmark's own id, cut where a file
 * could not be named after it; a number behind it tells those apart that have become equal.
 */
export function taskIdFor(original: string, taken: Set<string>): string {
  const plain = original.replace(/[^A-Za-z0-9._-]+/g, '-').replace(/^[^A-Za-z0-9]+|-+$/g, '');
  const base = plain === '' ? 'task' : plain.slice(0, 120);
  let id = base;
  // Ids name files, and some disks take names that differ in their case alone for the same.
  const isTaken = (name: string) => taken.has(name) || taken.has(name.toLowerCase());
  if (isTaken(id)) id = `${base}-${firstFree((number) => isTaken(`${base}-${number}`))}`;
  taken.add(id).add(id.toLowerCase());
  return id;
}

/** Returns a number from 2 on that is free. It does not try each: a log can have one id a hundred thousand times. */
function firstFree(isTaken: (number: number) => boolean): number {
  let [taken, free] = [1, 2];
  while (isTaken(free)) [taken, free] = [free, 2 * free];
  while (free - taken > 1) {
    const middle = Math.floor((taken + free) / 2);
    if (isTaken(middle)) taken = middle;
    else free = middle;
  }
  return free;
}
