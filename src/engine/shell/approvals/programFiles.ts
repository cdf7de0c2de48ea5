import { realpathSync, statSync } from 'node:fs';
import { basename, dirname, extname, relative, resolve, sep } from 'node:path';
import { contentHash } from '../../core/values/hash.ts';
import { digestOfBounded, fileLimits, isWithin } from '../files/boundedFile.ts';
import type { Effects } from './effects.ts';

/** Suffixes that interpreters add to the name of a program: `node server`, `python -m desk.server`. */
const endings = ['', '.js', '.mjs', '.cjs', '.ts', '.py', '/index.js', '/__main__.py', '/package.json'];

/** Names of files that programs are written in. Another file is one if it is executable: data changes with every run. */
const program =
  /(?:\.(?:[cm]?[jt]sx?|pyw?|sh|bash|zsh|fish|rb|pl|php|lua|ps1|bat|cmd|exe|jar|wasm|so|dll)|\/package\.json)$/i;

/** Programs that run the file that an argument names, whatever its name and mode. */
const interpreter =
  /^(?:(?:ba|z|da|k|fi)?sh|node|deno|bun|tsx|ts-node|python[\d.]*|pypy\d?|ruby|perl|php|lua[\d.]*|pwsh|powershell)(?:\.exe)?$/i;

/** Programs that read what they start from a file in their working folder. */
const runners: readonly (readonly [RegExp, readonly string[]])[] = [
  [/^(?:npm|pnpm|yarn|bun)(?:\.cmd)?$/i, ['package.json']],
  [/^deno(?:\.exe)?$/i, ['deno.json', 'deno.jsonc', 'package.json']],
  [/^(?:uv|uvx|poetry|hatch|pdm)(?:\.exe)?$/i, ['pyproject.toml']],
  [/^g?make(?:\.exe)?$/i, ['Makefile', 'makefile', 'GNUmakefile']],
  [/^just(?:\.exe)?$/i, ['justfile', 'Justfile', '.justfile']],
  [/^task(?:\.exe)?$/i, ['Taskfile.yml', 'Taskfile.yaml']],
  [/^rake$/i, ['Rakefile', 'rakefile']],
];

type Named = Pick<Effects, 'path' | 'effects'>;

/**
 * Returns the hash of the program files that the commands of effects name; null where they name none. What is found by
 * `PATH`, what a package runner such as npx loads, and what these files import is not among it.
 * @param isMeant tells the files that count
 */
export function hashOfPrograms(named: Named, isMeant: (file: string) => boolean = () => true): string | null {
  const files = programsOf(named).filter(isMeant);
  return files.length > 0 ? contentHash(files.toSorted().map((file) => [file, digestOf(file)])) : null;
}

/** Returns the program files that can be the person's own: in the folder, and not in a package that was installed there. */
export function ownPrograms(named: Named): readonly string[] {
  const folder = rootOf(named);
  // The path of a server that `new --mcp` starts is its command.
  if (!isFolder(folder)) return [];
  const root = realpathSync(folder);
  return programsOf(named).filter((file) => {
    const real = realpathSync(file);
    return isWithin(root, real) && !relative(root, real).split(sep).includes('node_modules');
  });
}

const rootOf = ({ path }: Named) => (isFolder(path) ? path : dirname(path));

function programsOf(named: Named): readonly string[] {
  const root = rootOf(named);
  const files = named.effects.flatMap((effect) => {
    if (effect.type === 'interpreter') return programsIn([effect.command], root, root);
    if (effect.type !== 'command') return [];
    return programsIn([effect.command, ...effect.args], root, inFolder(effect.cwd ?? '.', root, root));
  });
  return [...new Set(files)];
}

function programsIn([command = '', ...args]: readonly string[], root: string, cwd: string): readonly string[] {
  // A command without a folder is looked for on the PATH.
  const own = /[\\/]/.test(command) ? [inFolder(command, cwd, root)].filter(isFile) : [];
  // `--config=server.js` names a file, too, and a text for a shell has several words.
  const words = args
    .flatMap((arg) => [arg, arg.slice(arg.indexOf('=') + 1), ...(/\s/.test(arg) ? arg.split(/[\s;&|()<>"'`]+/) : [])])
    .filter((word) => word !== '' && !word.startsWith('-'));
  const folders = [cwd, ...words.map((word) => inFolder(word, cwd, root)).filter(isFolder)];
  const paths = (names: readonly string[]) =>
    folders.flatMap((folder) => names.map((name) => inFolder(name, folder, root)));
  const started = [command, ...words].map((word) => basename(word));
  const isScript = started.some((word) => interpreter.test(word))
    ? (path: string) => isProgram(path) || (extname(path) === '' && isFile(path))
    : isProgram;
  const read = runners.flatMap(([runner, files]) => (started.some((word) => runner.test(word)) ? files : []));
  const names = [...new Set(words.flatMap((word) => [word, word.replaceAll('.', '/')]))];
  const named = names.flatMap((name) => endings.map((ending) => `${name}${ending}`));
  return [...new Set([...own, ...paths(named).filter(isScript), ...paths(read).filter(isFile)])];
}

function inFolder(name: string, folder: string, root: string): string {
  return resolve(folder, name.replaceAll('${domainFolder}', root));
}

/** The hash of a file's content; of a larger file, as runtimes are, its size and when it was changed. */
function digestOf(file: string): string {
  const { size, mtimeMs } = statSync(file);
  if (size > fileLimits.text) return `${size} ${mtimeMs}`;
  try {
    return digestOfBounded(file, fileLimits.text);
  } catch {
    return 'not readable';
  }
}

/** Returns what a path leads to; undefined for one that leads nowhere, and for a text that is not a path at all. */
function statOf(path: string) {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

const isFolder = (path: string) => statOf(path)?.isDirectory() ?? false;
const isFile = (path: string) => statOf(path)?.isFile() ?? false;

function isProgram(path: string): boolean {
  const stat = statOf(path);
  return stat?.isFile() === true && (program.test(path) || (stat.mode & 0o111) !== 0);
}
