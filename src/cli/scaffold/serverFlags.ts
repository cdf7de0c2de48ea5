import { existsSync, statSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { commandWords } from '../../authoring/domains/commandWords.ts';
import type { GivenServer } from '../../authoring/domains/mcpDomain.ts';
import { counted } from '../../engine/core/text/counted.ts';
import { RefusedFile } from '../../engine/shell/files/boundedFile.ts';
import { copiedEntries, copyFiles } from '../../engine/shell/files/copyFiles.ts';
import { type Io, UsageError } from '../terminal/io.ts';
import type { NewOptions } from './newOptions.ts';

/** Returns the server that the flags name, with absolute paths. */
export function serverOf({ mcp = '', mcpUrl: url, env, header }: NewOptions, { cwd }: Io): GivenServer {
  if (url !== undefined) return { type: 'http', url, headers: Object.fromEntries(header ?? []) };
  const words = commandWords(mcp);
  if (typeof words === 'string') throw new UsageError(`--mcp cannot be read: ${words}`);
  const [command, ...args] = words;
  if (command === undefined) throw new UsageError('--mcp is empty: it is the command that starts the server');
  const placed = (word: string) => {
    const path = resolve(cwd, word);
    return /[\\/.]/.test(word) && !word.startsWith('-') && existsSync(path) ? path : word;
  };
  return { command: placed(command), args: args.map(placed), env: Object.fromEntries(env ?? []) };
}

/** The folder of a new domain for the start state of its server. */
export const filesFolder = 'files';

/** Returns the folder of `--files`; null without one. Throws a `UsageError` where the server would not get the copy. */
export function filesOf({ files: named }: NewOptions, server: GivenServer, { cwd }: Io): string | null {
  if (named === undefined) return null;
  const folder = resolve(cwd, named);
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory())
    throw new UsageError(`--files ${named} is not a folder: name the folder whose copy the server works on`);
  if (!JSON.stringify(server).includes('${instanceFolder}'))
    throw new UsageError(
      `--files ${named} is copied to \${instanceFolder}, and the server does not get that folder. Write \${instanceFolder} in --mcp or --env where the server expects its folder`,
    );
  unlessRefused(folder, () => {
    for (const _ of copiedEntries(folder));
  });
  return folder;
}

/** Copies the start state into the domain. Throws a `UsageError` for what is not copied, such as a link. */
export function copyStart(from: string, folder: string, io: Io): void {
  const to = join(folder, filesFolder);
  const files = unlessRefused(from, () => copyFiles(from, to));
  io.err(`copied ${counted(files, 'file')} to ${relative(io.cwd, to)}; each rollout gets its own copy\n`);
}

/** Returns what work on the start state returns. Throws a `UsageError` for what cannot be copied, such as a link. */
function unlessRefused<Result>(from: string, work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof RefusedFile)) throw error;
    throw new UsageError(`--files ${from}: ${error.message}. ${error.hint}`);
  }
}

/** Returns the tools of `--writes`; undefined without it. Throws a `UsageError` for one that the server does not have. */
export function writesOf({ writes: list }: NewOptions, known: readonly string[]): readonly string[] | undefined {
  if (list === undefined) return undefined;
  const names = list.split(',').flatMap((name) => name.trim() || []);
  if (names.length === 1 && names[0] === 'none' && !known.includes('none')) return [];
  const stranger = names.find((name) => !known.includes(name));
  if (stranger !== undefined)
    throw new UsageError(`--writes: the server has no tool "${stranger}"; it has ${[...new Set(known)].join(', ')}`);
  return names;
}
