import { existsSync, statSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { commandWords } from '../../authoring/domains/commandWords.ts';
import type { GivenServer } from '../../authoring/domains/mcpDomain.ts';
import { counted } from '../../engine/core/text/counted.ts';
import { RefusedFile } from '../../engine/shell/files/boundedFile.ts';
import { copiedEntries, copyFiles } from '../../engine/shell/files/copyFiles.ts';
import { type Given, text } from '../options/command.ts';
import { type Io, UsageError } from '../terminal/io.ts';

/** Returns the server that the flags name, with absolute paths. */
export function serverOf(given: Given, { cwd }: Io): GivenServer {
  const url = text(given, 'mcp-url');
  if (url !== undefined) {
    if (!/^https?:/i.test(url) || !URL.canParse(url))
      throw new UsageError(`--mcp-url is an address such as http://127.0.0.1:8000/mcp, not "${url}"`);
    return { type: 'http', url, headers: pairs(given, 'header') };
  }
  const words = commandWords(text(given, 'mcp') ?? '');
  if (typeof words === 'string') throw new UsageError(`--mcp cannot be read: ${words}`);
  const [command, ...args] = words;
  if (command === undefined) throw new UsageError('--mcp is empty: it is the command that starts the server');
  const placed = (word: string) => {
    const path = resolve(cwd, word);
    return /[\\/.]/.test(word) && !word.startsWith('-') && existsSync(path) ? path : word;
  };
  return { command: placed(command), args: args.map(placed), env: pairs(given, 'env') };
}

/** The folder of a new domain for the start state of its server. */
export const filesFolder = 'files';

/** Returns the folder of `--files`; null without one. Throws a `UsageError` where the server would not get the copy. */
export function filesOf(given: Given, server: GivenServer, { cwd }: Io): string | null {
  const named = text(given, 'files');
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
  io.err(`copied ${counted(files, 'file')} to ${relative(io.cwd, to)}; each rollout has a copy\n`);
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

function pairs({ values }: Given, name: 'env' | 'header'): Readonly<Record<string, string>> {
  const list = values[name];
  return Object.fromEntries(
    (Array.isArray(list) ? list : []).map((each) => {
      const [, key, value] = /^([^=]+)=(.*)$/s.exec(String(each)) ?? [];
      if (key === undefined || value === undefined) throw new UsageError(`--${name} is NAME=VALUE, not "${each}"`);
      return [key.trim(), value];
    }),
  );
}

/** Returns the tools of `--writes`; undefined without it. Throws a `UsageError` for one that the server does not have. */
export function writesOf(given: Given, known: readonly string[]): readonly string[] | undefined {
  const list = text(given, 'writes');
  if (list === undefined) return undefined;
  const names = list.split(',').flatMap((name) => name.trim() || []);
  if (names.length === 1 && names[0] === 'none' && !known.includes('none')) return [];
  const stranger = names.find((name) => !known.includes(name));
  if (stranger !== undefined)
    throw new UsageError(`--writes: the server has no tool "${stranger}"; it has ${[...new Set(known)].join(', ')}`);
  return names;
}
