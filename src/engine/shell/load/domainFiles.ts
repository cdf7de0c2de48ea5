import { existsSync } from 'node:fs';
import { basename, join, resolve, sep } from 'node:path';
import { type DomainFile, domainFileSchema } from '../../core/domain/domain.ts';
import type { personaSchema } from '../../core/domain/persona.ts';
import { type SimulatedTool, simulatedToolSchema } from '../../core/domain/simulatedTool.ts';
import { sourceKeys } from '../../core/domain/sources/sourceKind.ts';
import { type Task, taskSchema } from '../../core/domain/task.ts';
import { type Diagnostic, type Location, startOf } from '../files/diagnostic.ts';
import { partsOf } from '../source/fileParts.ts';
import { entriesIn, type Items, ignoredFile, type Placed, parseFolder, parseItems } from '../source/items.ts';
import { nearest } from '../source/nearest.ts';
import { salvage } from '../source/salvage.ts';
import { type FileKind, inside, type Overlay, readSource, type Source } from '../source/source.ts';
import { documentOf } from '../source/yaml.ts';
import { taskLocation } from './locations.ts';

/** The context in which the files of a domain are read. Findings are added to `diagnostics`. */
export type Reader = {
  readonly folder: string;
  readonly overlay: Overlay | undefined;
  readonly diagnostics: Diagnostic[];
  readonly file: Placed<DomainFile>;
  /** Whether domain.yaml names the files of the domain; otherwise one that is not found is not missing. */
  readonly namesFiles: boolean;
};

/** The result for a file or a folder that a domain does not have. */
export const noItems = { items: [], broken: [], diagnostics: [], sources: [] } as const;

/** Keys of domain.yaml that name files of the domain, or that have tools. */
const keysOfFiles: readonly string[] = [
  'policy',
  'rules',
  'phrases',
  'personas',
  'tasks',
  'simulatedTools',
  'tools',
  'pythonTools',
  'database',
  'userDatabase',
  ...sourceKeys,
];

/**
 * Reads domain.yaml. Where it can't be used, the source is null, and what can be read of it takes its place, so that the
 * other files are checked.
 */
export function readDomainFile(folder: string, overlay: Overlay | undefined, diagnostics: Diagnostic[]) {
  const path = join(folder, 'domain.yaml');
  const read = readSource(path, 'domain', overlay, undefined, folder);
  const fallback = domainFileSchema.parse({ name: basename(folder) || 'domain' });
  const here = () => startOf(path);
  const nowhere = { value: here, key: here, part: here, insert: () => null };
  const placed = (value: DomainFile, places = nowhere): Placed<DomainFile> => ({ value, file: path, path: [], places });
  if ('problem' in read) {
    diagnostics.push(read.problem);
    return { file: placed(fallback), source: null, text: null, lost: nothingLost, namesFiles: false };
  }
  const parsed = parseItems(read.source, { kind: 'domain', schema: 'domain', item: domainFileSchema });
  diagnostics.push(...parsed.diagnostics);
  const [first, second] = parsed.items;
  if (second) {
    const message = 'This file holds a list, but one domain is expected.';
    diagnostics.push({
      ...startOf(path),
      code: 'domain/wrong-type',
      severity: 'error',
      message,
      hint: 'Remove the "- ".',
    });
  }
  if (first) {
    const source = second ? null : read.source;
    return { file: first, source, text: read.source, lost: nothingLost, namesFiles: !second };
  }
  const whole = valueDespiteFaults(read.source);
  const { name } = (whole ?? {}) as { readonly name?: unknown };
  const named = (value: DomainFile) => (value.name === name ? value : { ...value, name: fallback.name });
  const [broken] = parsed.broken;
  if (broken) {
    const isNamed = (key: string) => keysOfFiles.includes(key) || nearest(key, keysOfFiles) !== undefined;
    const namesFiles = ![...broken.keys].some(isNamed);
    const file = { ...broken.placed, value: named(broken.placed.value) };
    return { file, source: null, text: read.source, lost: broken.lost, namesFiles };
  }
  const left = salvage(domainFileSchema, whole);
  const file = placed(named(left?.value ?? fallback));
  return { file, source: null, text: read.source, lost: nothingLost, namesFiles: false };
}

const nothingLost: readonly Location[] = [];

/** Returns the part of a YAML file with faults that can be read; null without one. */
function valueDespiteFaults(source: Source): unknown {
  try {
    return documentOf(source).document.toJS({ maxAliasCount: 100 });
  } catch {
    return null;
  }
}

type Named = 'policy' | 'rules' | 'phrases' | 'tools' | 'pythonTools' | 'database' | 'userDatabase';

/** Reads a file that domain.yaml names. An optional one may be missing where domain.yaml does not name it. */
export function readNamed(reader: Reader, key: Named, kind: FileKind, optional = false): Source | null {
  const { folder, overlay, diagnostics, file, namesFiles } = reader;
  const named = file.places.value([key]);
  const path = file.value[key] ?? '';
  const target = inside(folder, path);
  if (target === null) {
    noteOutside(reader, key, named, 'Name a file inside the folder.');
    return null;
  }
  const isNamed = isWritten(file, key);
  const found = readSource(target, kind, overlay, isNamed ? named : startOf(file.file), folder);
  if ('source' in found) return found.source;
  const isExpected = namesFiles && (isNamed || !optional);
  if (!found.missing || isExpected) diagnostics.push(found.problem);
  else noteOtherEnding(reader, key, kind, target);
  return null;
}

/** Notes a file such as rules.yml, without which a domain has no rules. */
function noteOtherEnding({ diagnostics, file }: Reader, key: Named, kind: FileKind, target: string): void {
  const other = target.replace(/\.yaml$/, '.yml');
  if (other === target || !existsSync(other)) return;
  const path = file.value[key] ?? '';
  const hint = `Rename it to ${path}, or write ${key}: ${basename(other)} in domain.yaml.`;
  diagnostics.push(ignoredFile(other, kind, `the domain reads ${path}`, hint));
}

function noteOutside(
  { diagnostics, file }: Reader,
  key: Named | 'personas' | 'tasks',
  at: Location,
  hint: string,
): void {
  const message = `${key} is ${file.value[key]}, which is outside the domain's folder.`;
  diagnostics.push({ ...at, code: 'domain/path-outside', severity: 'error', message, hint });
}

/** Whether the key is in the file, and is not a default. */
function isWritten(file: Placed<DomainFile>, key: string): boolean {
  const at = file.places.key([key]);
  return at.endColumn > at.column && at.endLine === at.line;
}

/** Reads the files of a folder that domain.yaml names. */
export function readFolder<T>(
  reader: Reader,
  key: 'personas' | 'tasks',
  suffix: string,
  kind: 'persona' | 'task',
  item: typeof personaSchema | typeof taskSchema,
  isThere: boolean,
): Items<T> {
  if (!isThere) return noItems;
  const { folder, overlay, diagnostics, file } = reader;
  const target = inside(folder, file.value[key]);
  const at = isWritten(file, key) ? file.places.value([key]) : startOf(file.file);
  if (target === null) {
    noteOutside(reader, key, at, 'Name a folder inside it.');
    return noItems;
  }
  const found = parseFolder(target, suffix, { kind, schema: kind, item } as never, overlay, folder) as Items<T>;
  diagnostics.push(...found.diagnostics);
  if (reader.namesFiles && found.items.length === 0 && found.diagnostics.length === 0) {
    const message = `The domain has no ${key}: there is no ${kind} in ${join(target, sep)}*${suffix}.`;
    diagnostics.push({
      ...at,
      code: `${kind}/none`,
      severity: 'warning',
      message,
      hint: `Add a file, for example ${file.value[key]}/first${suffix}.`,
    });
  }
  return found;
}

export const readTasks = (reader: Reader, isThere = true): Items<Task> =>
  readFolder<Task>(reader, 'tasks', taskSuffix, 'task', taskSchema, isThere);

const taskSuffix = '.task.yaml';
const taskKind = { kind: 'task', schema: 'task', item: taskSchema } as const;

/**
 * Reads the tasks of a domain in steps of at most a few milliseconds, and works out where they are. Whatever then reads
 * the domain finds them read. Each step gives the tasks that it has read. Nothing is reported: reading the domain does.
 */
export function* readTasksAhead(folder: string, overlay?: Overlay): Generator<readonly Task[], void> {
  const root = resolve(folder);
  const { file, source } = readDomainFile(root, overlay, []);
  const target = source && inside(root, file.value.tasks);
  for (const name of (target && namesIfReadable(target, root, overlay)) ?? []) {
    if (target === null || !name.endsWith(taskSuffix)) continue;
    const read = readSource(join(target, name), 'task', overlay, undefined, root);
    if (!('source' in read)) continue;
    for (const part of partsOf(read.source)) yield parseItems(part.source, taskKind).items.map(({ value }) => value);
    const { items } = parseItems(read.source, taskKind);
    for (let from = 0; from < items.length; from += placedAtOnce) {
      for (const item of items.slice(from, from + placedAtOnce)) taskLocation(item);
      yield [];
    }
  }
}

/** Working out where the parts of this many tasks are takes a few milliseconds. */
const placedAtOnce = 100;

function namesIfReadable(folder: string, root: string, overlay?: Overlay): readonly string[] | null | undefined {
  try {
    return entriesIn(folder, overlay, root)?.names;
  } catch {
    return null;
  }
}

/** The simulated tools; a domain needs neither them nor a folder for them. */
export function readSimulated({ folder, overlay, file }: Reader): Items<SimulatedTool> {
  const target = inside(folder, file.value.simulatedTools);
  const of = { kind: 'tool', schema: 'tool', item: simulatedToolSchema } as const;
  return target === null
    ? noItems
    : (parseFolder(target, '.tool.yaml', of as never, overlay, folder) as Items<SimulatedTool>);
}

/** The databases of both sides; the agent's may be missing where a domain has no code that works on it. */
export function readDatabases(reader: Reader, hasCodeTools: boolean) {
  const agent = readNamed(reader, 'database', 'database', !hasCodeTools);
  const user = reader.file.value.userDatabase === undefined ? null : readNamed(reader, 'userDatabase', 'database');
  return { agent, user };
}
