import { realpathSync, statSync } from 'node:fs';
import { basename, dirname, extname, relative, resolve, sep } from 'node:path';
import { contentHash } from '../../core/values/hash.ts';
import { withTexts } from '../../core/values/texts.ts';
import { digestOfBounded, fileLimits, isWithin } from '../files/boundedFile.ts';
import { filesExceptData } from './codeHash.ts';
import type { Effects } from './effects.ts';
import { isSettings, runnerFiles } from './runnerFiles.ts';

/** Suffixes that interpreters add to the name of a program: `node server`, `python -m desk.server`. */
const endings = ['', '.js', '.mjs', '.cjs', '.ts', '.py', '/index.js', '/__main__.py', '/package.json'];

/** Names of files that programs are written in. */
const program =
  /(?:\.(?:[cm]?[jt]sx?|pyw?|sh|bash|zsh|fish|rb|pl|php|lua|ps1|bat|cmd|exe|jar|wasm|so|dll)|\/package\.json)$/i;

/** Names of data that changes with every run. As any of it could be a program, it also has to come after one. */
const data = /\.(?:sqlite3?|db3?|duckdb|parquet|csv|tsv|jsonl|ndjson|log|txt|md|xlsx)(?:-journal|-wal|-shm)?$/i;

/** Options that load the file after them as code or as instructions. */
const loading =
  /^(?:-r|-f|-I|-S|--(?:require|import|(?:experimental-)?loader|(?:make|just|task)?file|config|env-file.*))$/;

/** Programs that run the file that an argument names, whatever its name and mode. */
const interpreter =
  /^(?:(?:ba|z|da|k|fi)?sh|node|deno|bun|tsx|ts-node|python[\d.]*|pypy\d?|ruby|perl|php|lua[\d.]*|pwsh|powershell|java|Rscript|go|awk|env)(?:\.exe)?$/i;

/** Programs that run a package or an image: the files among their arguments are data for it. */
const packages = /^(?:npx|bunx|uvx|pipx|dnx|docker|podman)(?:\.cmd|\.exe)?$/i;

/** Programs that start or load more than the file that an argument names. */
const always = /^(?:bun|uv)(?:\.exe)?$/i;

/** Options of package runners that name what is run, or the folder that it is run in. */
const packageOption =
  /^(?:--(?:from|spec|with|with-editable|with-requirements|editable|directory|project|package|prefix|cwd)|-p|-C)$/;

/** Options of package runners with a value that is not what they run. */
const packageValue = /^(?:--(?:from|spec|with|with-editable|python|package)|-p)$/;

/** Programs that start what a file of theirs names, which may be any file of the folder. */
const anything =
  /^(?:npm|pnpm|yarn|g?make|just|task|rake|pipenv|pixi|mise|poetry|hatch|pdm|tox|nox|cargo|gradlew?|mvnw?|dotnet|(?:docker|podman)-compose)(?:\.cmd|\.exe|\.bat)?$/i;

/** Variables whose files and folders a runtime loads. */
const loadingVariable =
  /^(?:PATH|ENV|BASH_ENV|ZDOTDIR|NODE_(?:PATH|OPTIONS)|PYTHON\w*|VIRTUAL_ENV|CLASSPATH|_?JAVA\w*|JDK_\w*|RUBY\w*|PERL5?\w*|LUA_\w*|PHP\w*|DENO_\w*|BUN_\w*|GO\w*|MAKE\w*|LD_\w*|DYLD_\w*)$/i;

/** Programs that make and start what compose files and Dockerfiles describe. */
const container = /^(?:docker|podman)(?:\.exe)?$/i;

const shell = /^(?:(?:ba|z|da|k|fi)?sh|cmd|pwsh|powershell)(?:\.exe)?$/i;

/** Folders of packages. */
const installed = new Set(['node_modules', '.venv', 'venv']);

/** Folders of packages, and those that other programs write. */
const others = new Set([...installed, '__pycache__', '.git', '.rehearsal']);

type Named = Pick<Effects, 'path' | 'effects'>;

/**
 * Returns the hash of the program files that the commands of effects name, and of all files of the folder except data
 * where a command could run any of them; null where there are none. What is found by `PATH` outside of the folder, what
 * a package runner such as npx loads, and what these files import is not among it.
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
    return (
      isWithin(root, real) &&
      !isSettings(file) &&
      !relative(root, real)
        .split(sep)
        .some((part) => installed.has(part))
    );
  });
}

const rootOf = ({ path }: Named) => (isFolder(path) ? path : dirname(path));

/** Returns the folders of which a program is copied and run: a copy of another folder is another program. */
export function copiedFolders(named: Named): readonly string[] {
  const copied = startedBy(named).flatMap(({ starts, copiedOf }) =>
    starts.filter((start) => copiedOf(start).length > 0),
  );
  return [...new Set(copied)].toSorted();
}

function programsOf(named: Named): readonly string[] {
  const files = startedBy(named).flatMap(({ programs, starts, copiedOf }) => [
    ...programs,
    ...starts.flatMap(copiedOf),
  ]);
  return [...new Set(files)];
}

type StartedBy = {
  readonly programs: readonly string[];
  /** The folders that can be copied for it, and what it runs of one. */
  readonly starts: readonly string[];
  readonly copiedOf: (start: string) => readonly string[];
};

function startedBy(named: Named): readonly StartedBy[] {
  const root = rootOf(named);
  return named.effects.flatMap((effect): readonly StartedBy[] => {
    if (effect.type === 'interpreter') {
      const programs = programsIn({ words: [effect.command], env: {}, root, cwd: root });
      return [{ programs, starts: [], copiedOf: () => [] }];
    }
    if (effect.type !== 'command') return [];
    const { command, args, env, cwd, starts = [] } = effect;
    const started = { words: [command, ...args], env, cwd: cwd ?? '.' };
    // An agent's file and a training file are in folders that hold other things too.
    const isDomain = isFolder(named.path);
    const isPlaced = isDomain && cwd !== null && !cwd.includes('${instanceFolder}');
    const programs = (texts: typeof started) => {
      const place = inFolder(texts.cwd, root, root);
      const all = { ...texts, root, cwd: place, isPlaced: isPlaced && isIn(root, place) };
      const unnamed = isDomain ? unnamedPrograms(all) : [];
      return [...programsIn(all), ...unnamed];
    };
    const copiedOf = (start: string) => copiedPrograms(started, start, root, programs);
    return [{ programs: programs(started), starts, copiedOf }];
  });
}

/** Returns the programs that come from a folder whose files are copied, with what they could import there. */
function copiedPrograms<Texts>(
  texts: Texts,
  start: string,
  root: string,
  programs: (texts: Texts) => readonly string[],
): readonly string[] {
  const folder = inFolder(start, root, root);
  const copied = withTexts(texts, (text) => text.replaceAll('${instanceFolder}', () => `\${domainFolder}/${start}`));
  const found = programs(copied).filter((file) => isWithin(folder, file));
  return found.length > 0 ? [...found, ...filesBelow(folder)] : [];
}

type Started = {
  readonly words: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly root: string;
  readonly cwd: string;
};

function programsIn({ words: [command = '', ...args], env, root, cwd }: Started): readonly string[] {
  // A command without a folder is looked for on the PATH.
  const own = /[\\/]/.test(command) ? [inFolder(command, cwd, root)].filter(isFile) : [];
  const given = args.flatMap(pathsNamedIn);
  const settings = Object.values(env).flatMap(pathsNamedIn);
  const loaded = Object.entries(env).flatMap(([name, value]) =>
    loadingVariable.test(name) ? pathsNamedIn(value) : [],
  );
  const words = [...given, ...settings];
  const led = [cwd, ...own, ...words.map((word) => inFolder(word, cwd, root))];
  const folders = led.filter(isFolder);
  const paths = (names: readonly string[]) =>
    folders.flatMap((folder) => names.map((name) => inFolder(name, folder, root)));
  const started = [command, ...given].map((word) => basename(word));
  const names = [...new Set(words.flatMap((word) => [word, word.replaceAll('.', '/')]))];
  const named = names.flatMap((name) => endings.map((ending) => `${name}${ending}`));
  const isOpen =
    started.some((word) => anything.test(word)) ||
    (started.some((word) => shell.test(word)) && args.some((arg) => /^[-/]\w*c/i.test(arg))) ||
    args.includes('--run') ||
    (started.some((word) => container.test(word)) && args.some((arg) => /^(?:compose|build|bake)$/.test(arg)));
  const below = [
    ...(isOpen ? [root] : []),
    // A folder of the domain on a path of a runtime, and one that an interpreter runs.
    ...loaded.map((word) => inFolder(word, cwd, root)).filter((path) => isFolder(path) && isIn(root, path)),
    ...(started[0] !== undefined && interpreter.test(started[0]) ? firstFolder(given, cwd, root) : []),
  ];
  return [
    ...new Set([
      ...own,
      ...paths(named).filter(isFile).filter(isCounted({ command, args, env, cwd, root })),
      ...runnerFiles(
        [command, ...given],
        led.filter((path) => isFolder(path) || isFile(path)),
      ),
      ...below.flatMap(filesBelow),
    ]),
  ];
}

type Placed = Started & {
  /** Whether the domain chooses one of its folders as the working folder. */
  readonly isPlaced: boolean;
};

/** Returns the files of the folder that a command can start without a name of any; data and state are left out. */
function unnamedPrograms(started: Placed): readonly string[] {
  const { words, env, root, cwd } = started;
  if (!startsUnnamed(started)) return [];
  const [command = '', ...args] = words;
  const isCopy = cwd.includes('${instanceFolder}') && !leadsInto(args, cwd, root);
  // The folder of an instance is empty unless files are copied into it.
  return isCopy ? [] : filesBelow(root).filter(isCounted({ command, args, env, cwd, root }));
}

function startsUnnamed({ words: [command = '', ...args], env, root, cwd, isPlaced }: Placed): boolean {
  const name = basename(command);
  const rest = (program: string, at: number) => ({ words: [program, ...args.slice(at + 1)], env, root, cwd, isPlaced });
  if (packages.test(name)) {
    const at = firstPackage(args);
    const program = basename(args[at] ?? '').replace(/@[^@]*$/, '');
    return isPlaced || runsFolder(args, cwd, root) || (interpreter.test(program) && startsUnnamed(rest(program, at)));
  }
  if (always.test(name)) return true;
  if (/^env(?:\.exe)?$/i.test(name)) {
    const at = args.findIndex((arg) => !arg.startsWith('-') && !/^\w+=/.test(arg));
    return (
      at < 0 || args.some((arg) => /^(?:-\w*S|--split-string)/.test(arg)) || startsUnnamed(rest(args[at] ?? '', at))
    );
  }
  if (interpreter.test(name)) return !args.some((_, at) => isScript(args.slice(0, at + 1), cwd, root));
  if (!/[\\/]/.test(command)) return true;
  if (command.startsWith('${instanceFolder}')) return false;
  const own = inFolder(command, cwd, root);
  return !isFile(own) || (!isWithin(root, own) && (isPlaced || leadsInto(args, cwd, root)));
}

/** Whether the last of these arguments is the program that an interpreter runs, not a module that is loaded before it. */
function isScript(args: readonly string[], cwd: string, root: string): boolean {
  const [before = '', arg = ''] = args.length > 1 ? args.slice(-2) : ['', ...args];
  if (arg.startsWith('-') || loading.test(before)) return false;
  // A program that is copied there counts with the folder that it is copied from.
  if (arg.startsWith('${instanceFolder}/'))
    return program.test(arg) || args.slice(0, -1).every((each) => each.startsWith('-'));
  const path = inFolder(arg, cwd, root);
  if (isFolder(path)) return !isIn(root, path);
  const names = before === '-m' ? [arg.replaceAll('.', '/')] : [arg];
  const files = names.flatMap((name) => endings.map((ending) => inFolder(`${name}${ending}`, cwd, root)));
  return files.some((file) => isFile(file) && (program.test(file) || isExecutable(file) || extname(file) === ''));
}

/** Whether a package runner gets a folder of the domain as the package, or the whole folder. */
function runsFolder(args: readonly string[], cwd: string, root: string): boolean {
  const first = firstPackage(args);
  return args.some((arg, at) => {
    const isPackage =
      at === first || [args[at - 1] ?? '', arg.split('=')[0] ?? ''].some((each) => packageOption.test(each));
    const paths = pathsNamedIn(arg).map((word) => inFolder(word, cwd, root));
    return isPackage && paths.some((path) => isIn(root, path) && isFolder(path));
  });
}

const firstPackage = (args: readonly string[]) =>
  args.findIndex((arg, at) => !arg.startsWith('-') && !packageValue.test(args[at - 1] ?? ''));

const leadsInto = (args: readonly string[], cwd: string, root: string) =>
  args.flatMap(pathsNamedIn).some((word) => {
    const path = inFolder(word, cwd, root);
    return isIn(root, path) && (isFile(path) || isFolder(path));
  });

/** Returns the parts of an argument that may name a file: `--config=server.js`, `-mserver`, and a text for a shell. */
function pathsNamedIn(arg: string): readonly string[] {
  const attached = /^-[A-Za-z]([^-=].*)$/.exec(arg)?.[1];
  const words = [arg, ...arg.split(/[\s;&|()<>"'`=:,]+/), ...(attached === undefined ? [] : [attached])];
  return [...words, ...words.filter((word) => word.includes('%')).map(decoded)].filter(
    (word) => word !== '' && !word.startsWith('-'),
  );
}

/** Returns a part of a URL without its escapes. */
function decoded(word: string): string {
  try {
    return decodeURIComponent(word);
  } catch {
    return word;
  }
}

type Counted = Omit<Started, 'words'> & { readonly command: string; readonly args: readonly string[] };

/** Returns whether a file that a command names counts: every one does except data that a program before it gets. */
function isCounted({ command, args, env, cwd, root }: Counted): (file: string) => boolean {
  const isInterpreter = [command, ...args].some((word) => interpreter.test(basename(word)));
  const isLoaded = (arg: string, at: number) =>
    loading.test(args[at - 1] ?? '') || loading.test(arg.split('=')[0] ?? '');
  const pathsIn = (arg: string) => pathsNamedIn(arg).map((word) => inFolder(word, cwd, root));
  const loaded = new Set(args.filter(isLoaded).flatMap(pathsIn));
  const exempt = new Set(
    args.flatMap((arg, at) => {
      const before = args[at - 1] ?? '';
      const isGiven =
        packages.test(basename(command)) ||
        (isInterpreter
          ? args.slice(0, at).some((each) => isProgramName(each, cwd, root))
          : /^-/.test(before) || /^-.*=/.test(arg));
      return isGiven && !isLoaded(arg, at) ? pathsIn(arg) : [];
    }),
  );
  const kept = new Set(
    Object.entries(env).flatMap(([name, value]) => (loadingVariable.test(name) ? [] : pathsIn(value))),
  );
  return (file) => {
    if (isExecutable(file) || program.test(file)) return true;
    if (exempt.has(file) && data.test(file)) return false;
    // Where a server keeps its state.
    if (kept.has(file) && (data.test(file) || file.endsWith('.json'))) return false;
    return isWithin(root, file) || (isInterpreter && extname(file) === '') || (loaded.has(file) && !data.test(file));
  };
}

const isProgramName = (word: string, cwd: string, root: string) =>
  !word.startsWith('-') && (program.test(word) || (!data.test(word) && isFile(inFolder(word, cwd, root))));

/** Returns the folder that an interpreter runs, where no file before it is a program: `node .`, `python shop`. */
function firstFolder(words: readonly string[], cwd: string, root: string): readonly string[] {
  const first = words.map((word) => inFolder(word, cwd, root)).find((path) => isFile(path) || isFolder(path));
  return first !== undefined && isFolder(first) && isIn(root, first) ? [first] : [];
}

const isIn = (root: string, path: string) => path === root || isWithin(root, path);

/** Returns the files of a folder except data; none where there are too many. */
function filesBelow(folder: string): readonly string[] {
  try {
    return filesExceptData(folder, (name) => others.has(name) || data.test(name)) ?? [];
  } catch {
    return [];
  }
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

const isExecutable = (path: string) => ((statOf(path)?.mode ?? 0) & 0o111) !== 0;
