import { readdirSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { isWithin } from '../files/boundedFile.ts';

type Runner = {
  readonly name: RegExp;
  /** Files that say what is run. A person who writes the program edits them, too. */
  readonly programs?: readonly string[];
  /** Files that say where code comes from, and what else is loaded. */
  readonly settings?: readonly string[];
  /** Whether its programs are read in the working folder only, not in the folders above it. */
  readonly isHere?: true;
};

const ofNode = ['.npmrc', '.pnpmfile.cjs', '.pnpmfile.mjs', 'pnpm-workspace.yaml', '.yarnrc', '.yarnrc.yml'];
const ofBun = ['.npmrc', 'bunfig.toml'];
const ofUv = ['uv.toml', '.python-version'];
const ofCompose = ['compose', 'docker-compose'].flatMap((name) =>
  ['', '.override'].flatMap((part) => ['yaml', 'yml'].map((ending) => `${name}${part}.${ending}`)),
);

/** The files by which programs run other code, in their working folder, in a folder that they get, and in those above. */
const runners: readonly Runner[] = [
  { name: /^(?:npm|pnpm|yarn)(?:\.cmd)?$/i, programs: ['package.json'], settings: ofNode },
  { name: /^(?:npx|pnpx)(?:\.cmd)?$/i, programs: ['package.json'], settings: ofNode, isHere: true },
  { name: /^bun(?:\.exe)?$/i, programs: ['package.json'], settings: ofBun },
  { name: /^bunx(?:\.exe)?$/i, programs: ['package.json'], settings: ofBun, isHere: true },
  { name: /^node(?:\.exe)?$/i, programs: ['node.config.json'], isHere: true },
  { name: /^(?:tsx|ts-node)(?:\.cmd)?$/i, settings: ['tsconfig.json'] },
  { name: /^deno(?:\.exe)?$/i, programs: ['deno.json', 'deno.jsonc', 'package.json'], settings: ['.npmrc'] },
  { name: /^uvx?(?:\.exe)?$/i, programs: ['pyproject.toml'], settings: ofUv },
  { name: /^poetry(?:\.exe)?$/i, programs: ['pyproject.toml'], settings: ['poetry.toml'] },
  { name: /^(?:hatch|pdm)(?:\.exe)?$/i, programs: ['pyproject.toml'], settings: ['hatch.toml', 'pdm.toml'] },
  { name: /^pipenv(?:\.exe)?$/i, programs: ['Pipfile', '.env'] },
  { name: /^pixi(?:\.exe)?$/i, programs: ['pixi.toml', 'pyproject.toml'], settings: ['.pixi/config.toml'] },
  { name: /^mise(?:\.exe)?$/i, settings: ['mise.toml', '.mise.toml', 'mise.local.toml', '.tool-versions'] },
  { name: /^cargo(?:\.exe)?$/i, programs: ['Cargo.toml'], settings: ['.cargo/config.toml', 'rust-toolchain.toml'] },
  { name: /^go(?:\.exe)?$/i, programs: ['go.mod', 'go.work'] },
  { name: /^(?:dotnet|dnx)(?:\.exe)?$/i, settings: ['nuget.config', 'NuGet.Config', 'global.json'] },
  { name: /^(?:(?:docker|podman)-)?compose(?:\.exe)?$/i, programs: [...ofCompose, '.env'] },
];

/** Files that an interpreter of Python loads at its start, and the one that names the environment it belongs to. */
const ofPython = /^(?:.+\.pth|.+\._pth|(?:site|user)customize\.py|pyvenv\.cfg)$/i;

const settings = new Set(runners.flatMap((runner) => runner.settings ?? []).map((name) => basename(name)));

/**
 * Whether a file says where the code of a program comes from, or what else it loads. An edit of it can make another
 * program run, so it is not an edit of the program.
 */
export const isSettings = (file: string): boolean => settings.has(basename(file)) || ofPython.test(basename(file));

/**
 * Returns the files by which a command can be made to run other code than its words say.
 * @param words the command and the words of its arguments
 * @param paths the working folder, and the files and folders that words name
 */
export function runnerFiles(words: readonly string[], paths: readonly string[]): readonly string[] {
  const names = words.map((word) => basename(word));
  const folders = [...new Set(paths.map((path) => (kindOf(path) === 'folder' ? path : dirname(path))))];
  const above = foldersAbove(folders);
  const read = runners
    .filter(({ name }) => names.some((each) => name.test(each)))
    .flatMap((runner) => [
      ...inEach(runner.isHere ? folders : [...folders, ...above], runner.programs ?? []),
      ...inEach([...folders, ...above], runner.settings ?? []),
    ]);
  const isNode = names.some((name) => /^(?:np[mx]|pnp[mx]|yarn|bunx?)(?:\.cmd|\.exe)?$/i.test(name));
  const packages = isNode ? words.map((word) => word.replace(/(?<=.)@[^@/]*$/, '')) : [];
  const installed = packages.flatMap((name) => [`node_modules/.bin/${name}`, `node_modules/${name}/package.json`]);
  const isPython = names.some((name) => /^(?:uv|poetry|pdm|hatch|pipenv)(?:\.exe)?$/i.test(name));
  const environments = [
    ...paths.flatMap((path) => (kindOf(path) === 'folder' ? [path] : environmentAround(path))),
    ...(isPython ? inEach([...folders, ...above], ['.venv']) : []),
  ];
  return [...read, ...inEach([...folders, ...above], installed), ...environments.flatMap(environmentFiles)].filter(
    (file) => kindOf(file) === 'file',
  );
}

const inEach = (folders: readonly string[], names: readonly string[]) =>
  folders.flatMap((folder) => names.map((name) => join(folder, name)));

/** Returns the folders above others, except the person's home folder and those above it: files there are their own. */
function foldersAbove(folders: readonly string[]): readonly string[] {
  const home = homedir();
  const found = new Set<string>();
  for (const folder of folders)
    for (let at = dirname(folder); at !== dirname(at) && at !== home && !isWithin(at, home); at = dirname(at))
      found.add(at);
  return [...found];
}

/** Returns the environment of Python that a program is in: `.venv` of `.venv/bin/python`. */
function environmentAround(program: string): readonly string[] {
  const folder = dirname(program);
  return /^(?:bin|Scripts)$/i.test(basename(folder)) ? [folder, dirname(folder)] : [];
}

function environmentFiles(folder: string): readonly string[] {
  const libraries = inEach([folder], ['lib', 'lib64', 'Lib']);
  const versions = libraries.flatMap((library) =>
    inEach([library], ['', ...namesIn(library).filter((name) => /^(?:python|pypy)/.test(name))]),
  );
  return [folder, ...inEach(versions, ['site-packages'])].flatMap((at) =>
    inEach(
      [at],
      namesIn(at).filter((name) => ofPython.test(name)),
    ),
  );
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function kindOf(path: string): 'file' | 'folder' | null {
  try {
    const stat = statSync(path, { throwIfNoEntry: false });
    return stat?.isFile() ? 'file' : stat?.isDirectory() ? 'folder' : null;
  } catch {
    return null;
  }
}
