import { existsSync, readdirSync, renameSync, rmdirSync, rmSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { type WrittenDomain, writeDomain } from '../authoring/writtenDomain.ts';
import { messageOf } from '../engine/shell/files/fault.ts';
import {
  type ImportedDomain,
  type ImportOptions,
  type ImportReport,
  type NotCarried,
  unimportable,
} from './importReport.ts';
import { NotCarriedList } from './notCarriedList.ts';

/**
 * Makes a domain of each part of a benchmark, in a folder of the part's name. All are made before the first is written,
 * so a part that can't be made, or a person who stops it, leaves nothing behind.
 * @param make makes the domain of a part; null if it has none, and adds to the list why
 * @param left parts of the benchmark that are not imported at all
 */
export async function importEach<Name extends string>(
  source: Pick<ImportReport, 'benchmark' | 'from' | 'version'>,
  names: readonly Name[],
  { out, signal }: Pick<ImportOptions, 'out' | 'signal'>,
  make: (name: Name, notCarried: NotCarriedList) => Promise<WrittenDomain | null>,
  left: readonly NotCarried[] = [],
): Promise<ImportReport> {
  const folders = names.map((name) => newFolder(out, name));
  const made: (WrittenDomain | null)[] = [];
  const lists = names.map((name) => new NotCarriedList(name));
  try {
    for (const [at, name] of names.entries()) {
      made.push(await make(name, lists[at] as NotCarriedList));
      signal?.throwIfAborted();
    }
  } catch (error) {
    throw signal?.aborted ? unimportable('cancelled', 'the import was stopped, and nothing was written') : error;
  }
  const notCarried = lists.flatMap((each) => each.list());
  const all = folders.flatMap((folder, at) => {
    const domain = made[at];
    return domain ? [{ folder, domain }] : [];
  });
  if (all.length === 0)
    throw unimportable('split', notCarried.map(({ domain, what }) => `${domain} ${what}`).join('; '));
  writeAll(all);
  return {
    ...source,
    domains: all.map(({ folder, domain }) => importedAs(folder, domain)),
    notCarried: [...left, ...notCarried],
  };
}

/** Returns the folder of a domain to create. Throws if something already exists there. */
function newFolder(out: string, name: string): string {
  const folder = resolve(out, name);
  for (let above = dirname(folder); above !== dirname(above); above = dirname(above))
    if (existsSync(above) && !statSync(above).isDirectory())
      throw unimportable('exists', `${above} is a file, and a folder is expected there; choose another --out`);
  const isThere = existsSync(folder);
  if (!isThere || (statSync(folder).isDirectory() && readdirSync(folder).length === 0)) return folder;
  const what = existsSync(join(folder, 'domain.yaml'))
    ? 'already contains a domain'
    : 'already exists and is not empty';
  throw unimportable('exists', `${folder} ${what}; choose another --out, or remove it first`);
}

/**
 * Returns the folder in which a domain is written until it is complete: next to its final folder, so that it only has
 * to be renamed.
 */
const draftOf = (folder: string) => join(dirname(folder), `.${basename(folder)}.importing`);

function writeAll(all: readonly { readonly folder: string; readonly domain: WrittenDomain }[]): void {
  const folders = all.map(({ folder }) => folder);
  const removeDrafts = () => {
    for (const folder of folders) rmSync(draftOf(folder), { recursive: true, force: true });
  };
  try {
    // One that was killed may have left drafts.
    removeDrafts();
    for (const { folder, domain } of all) writeDomain(draftOf(folder), domain);
    for (const [at, folder] of folders.entries()) settle(folder, folders.slice(0, at), folders.slice(at));
  } finally {
    removeDrafts();
  }
}

/** Gives a domain that is written its name. A fault says which of the others stay. */
function settle(folder: string, before: readonly string[], rest: readonly string[]): void {
  try {
    if (existsSync(folder)) rmdirSync(folder);
    renameSync(draftOf(folder), folder);
  } catch (error) {
    const [kept = '', missing = ''] = [before, rest].map((each) => each.map((one) => basename(one)).join(','));
    const staying = before.length > 0 ? `; written and kept: ${kept}; import the rest with --domains ${missing}` : '';
    throw unimportable('write', `${folder} can't be made (${messageOf(error).split(', ')[0]})${staying}`);
  }
}

function importedAs(folder: string, { tasks }: WrittenDomain): ImportedDomain {
  const [train = 0, test = 0] = ['train', 'test'].map((half) => tasks.filter(({ split }) => split === half).length);
  return { name: basename(folder), folder, tasks: tasks.length, train, test };
}
