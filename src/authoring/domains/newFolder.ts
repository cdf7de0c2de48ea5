import { existsSync, readdirSync, rmdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fromDisk, makeFolder, onDisk } from '../../engine/shell/files/disk.ts';
import { Fault } from '../../engine/shell/files/fault.ts';

/** Texts of files by their paths inside a folder. */
export type Files = Readonly<Record<string, string>>;

/** Throws a `Fault` if the folder of a new domain contains other files: existing files are never overwritten. */
export function requireEmpty(folder: string): void {
  const stat = statSync(folder, { throwIfNoEntry: false });
  if (!stat) return;
  if (!stat.isDirectory()) throw taken(folder, 'is a file');
  const [first] = fromDisk(folder, () => readdirSync(folder));
  if (first !== undefined) throw taken(folder, `is not empty (it contains ${first})`);
}

function taken(folder: string, what: string): Fault {
  const message = `${folder} ${what}. A new domain never overwrites files. Choose an empty folder, or one that does not exist`;
  return new Fault({ who: 'infrastructure', code: 'domain/taken', message });
}

/**
 * Writes the files of a new domain, all of them or none.
 * @returns their paths inside the folder, in order
 */
export function writeNew(folder: string, files: Files): readonly string[] {
  requireEmpty(folder);
  const wasThere = statSync(folder, { throwIfNoEntry: false }) !== undefined;
  const written: string[] = [];
  try {
    for (const [name, text] of Object.entries(files)) {
      const path = join(folder, name);
      makeFolder(dirname(path));
      onDisk(path, () => writeFileSync(path, text, { flag: 'wx' }));
      written.push(name);
    }
  } catch (error) {
    if (!wasThere) rmSync(folder, { recursive: true, force: true });
    else
      for (const name of new Set(written.map((each) => each.split('/')[0] ?? '')))
        rmSync(join(folder, name), { recursive: true, force: true });
    throw error;
  }
  return written;
}

/**
 * Writes the files of a new domain and does with it what shows whether it is whole. Where that fails, the files are taken
 * away again, so that the folder can be tried once more; what others wrote there meanwhile stays.
 */
export async function writeWhole<T>(
  folder: string,
  files: Files,
  prove: () => Promise<T>,
): Promise<{ readonly written: readonly string[]; readonly proof: T }> {
  const wasThere = existsSync(folder);
  const written = writeNew(folder, files);
  try {
    return { written, proof: await prove() };
  } catch (error) {
    for (const name of written) rmSync(join(folder, name), { force: true });
    const folders = new Set(written.map((name) => dirname(join(folder, name))).filter((each) => each !== folder));
    for (const each of [...folders, ...(wasThere ? [] : [folder])]) removeEmpty(each);
    if (!(error instanceof Fault)) throw error;
    throw new Fault({ ...error.failure, message: `${error.message}\nNothing was created in ${folder}` });
  }
}

function removeEmpty(folder: string): void {
  if (existsSync(folder) && readdirSync(folder).length === 0) rmdirSync(folder);
}
