import { readdirSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { contentHash } from '../../core/values/hash.ts';
import { digestOfBounded, fileLimits } from '../files/boundedFile.ts';
import { lockFiles } from '../records/runLock.ts';

/**
 * Names of files that Rehearsal reads as data: they are edited every day and start nothing. What domain.yaml and agents'
 * files start has a hash already. Only these names count, because `package.json` or `compose.yaml` can start a program.
 */
const data =
  /^(domain\.yaml|policy\.md|rules\.yaml|phrases\.yaml|database\.json|user\.json|readme\.md|\.ds_store|.+\.(task|persona|tool|agent|experiment|training)\.yaml)$/;

/** Files of a run, which may lie in the domain. */
const recorded = /^(run\.json|ledger\.jsonl|.+\.(traj|sidecar)\.jsonl)$/;

/** Folders that Rehearsal and Git write. */
const written = new Set(['.rehearsal', '.git']);

/** More files than a domain usually has next to its data. */
const mostFiles = 1000;

/**
 * Returns the hash of every file in a folder except data, runs and the folders `.rehearsal` and `.git`; null where there
 * is a link, a file that cannot be read, or more than 1,000 such files.
 * @param texts what the domain starts: a file or a folder that is named in them is never left out, and nothing is if a
 * pattern such as `run*` could name anything
 * @param absent names of files and folders that a copy of the folder does not have, where its hash is meant
 */
export function codeHashOf(
  folder: string,
  texts: readonly string[],
  absent: ReadonlySet<string> = new Set(),
): string | null {
  const named = texts.map((text) => text.toLowerCase());
  const words = new Set(named.flatMap((text) => text.split(/[^\w.@+-]+/)));
  const isAnyNamed = texts.some((text) => !text.includes('://') && /[*?`]|\[[^\]]*\]|\$\(/.test(text));
  const isNamed = (name: string) =>
    words.has(name) || (/[^\w.@+-]/.test(name) && named.some((text) => text.includes(name)));
  try {
    const code = codeIn(folder, isNamed, isAnyNamed ? () => false : isData, absent)?.map((file) => [
      relative(folder, file).split(sep).join('/'),
      digestOfBounded(file, fileLimits.data),
    ]);
    return code ? contentHash(code.toSorted(([a = ''], [b = '']) => (a < b ? -1 : 1))) : null;
  } catch {
    return null;
  }
}

const isData = (name: string) => data.test(name) || recorded.test(name) || lockFiles.test(name);

/** Returns the files of a folder except data and runs, and what else is left out; null where there are too many. */
export function filesExceptData(folder: string, isLeft: (name: string) => boolean): readonly string[] | null {
  const found: string[] = [];
  const folders = [folder];
  for (let at = folders.pop(); at !== undefined; at = folders.pop()) {
    for (const entry of readdirSync(at, { withFileTypes: true })) {
      const name = entry.name.toLowerCase();
      if (isData(name) || written.has(name) || isLeft(name)) continue;
      if (entry.isDirectory()) folders.push(join(at, entry.name));
      else found.push(join(at, entry.name));
      if (found.length + folders.length > mostFiles) return null;
    }
  }
  return found;
}

function codeIn(
  folder: string,
  isNamed: (name: string) => boolean,
  isData: (name: string) => boolean,
  absent: ReadonlySet<string>,
): readonly string[] | null {
  const found: string[] = [];
  const folders = [{ path: folder, isNamed: false }];
  for (let at = folders.pop(); at !== undefined; at = folders.pop()) {
    for (const entry of readdirSync(at.path, { withFileTypes: true })) {
      if (absent.has(entry.name)) continue;
      const path = join(at.path, entry.name);
      const name = entry.name.toLowerCase();
      if (entry.isSymbolicLink()) return null;
      const isCode = at.isNamed || isNamed(name);
      if (entry.isDirectory() ? isCode || !written.has(name) : isCode || !isData(name)) {
        if (entry.isDirectory()) folders.push({ path, isNamed: isCode });
        else found.push(path);
      }
      if (found.length + folders.length > mostFiles) return null;
    }
  }
  return found;
}
