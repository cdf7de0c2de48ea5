import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { stringify } from 'yaml';
import type { Json, JsonObject } from '../../core/json.ts';
import { onDisk } from '../disk.ts';

/** The text of a database, one row of a table a line. */
export function databaseText(database: JsonObject): string {
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
export function yamlText(value: unknown): string {
  return stringify(value, { lineWidth: 0, aliasDuplicateObjects: false });
}

/** Writes the files of a domain, by their paths in its folder. */
export function writeDomain(folder: string, files: Readonly<Record<string, string>>): void {
  for (const [name, text] of Object.entries(files)) {
    const path = join(folder, name);
    onDisk(dirname(path), () => mkdirSync(dirname(path), { recursive: true }));
    onDisk(path, () => writeFileSync(path, text));
  }
}

/**
 * The id of a task in a domain: letters, digits, dots, dashes and underscores of the benchmark's own id, cut where a file
 * could not be named after it; a number behind it tells those apart that have become equal.
 */
export function taskIdFor(original: string, taken: Set<string>): string {
  const plain = original.replace(/[^A-Za-z0-9._-]+/g, '-').replace(/^[^A-Za-z0-9]+|-+$/g, '');
  const base = plain === '' ? 'task' : plain.slice(0, 120);
  let id = base;
  for (let number = 2; taken.has(id); number++) id = `${base}-${number}`;
  taken.add(id);
  return id;
}
