import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { basename, dirname, isAbsolute, join, resolve } from 'node:path';
import type * as z from 'zod';
import type { Benchmark } from '../engine/core/domain/benchmark.ts';
import { parsedCalls } from '../engine/core/events/message.ts';
import { throwUnlessApproved } from '../engine/shell/approvals/approvals.ts';
import { readBoundedText } from '../engine/shell/files/boundedFile.ts';
import { Fault, messageOf } from '../engine/shell/files/fault.ts';
import { withoutPage } from '../engine/shell/files/htmlPage.ts';
import { withoutKeys } from '../engine/shell/processes/childEnvironment.ts';
import { neutralFolder } from '../engine/shell/processes/machineProgram.ts';
import { BridgeProcess } from '../engine/shell/tools/bridgeProcess.ts';
import { unimportable } from './importReport.ts';
import type { NotCarriedList } from './notCarriedList.ts';

/** A benchmark's Python package: the module, and how somebody without a copy gets one. */
export type PackageName = { readonly module: string; readonly howToGet: string };

/** The folder that the user named, or that of the package of this name. */
export function copyFolder(from: string, named: PackageName, python?: string): string {
  const folder = isPath(from) ? resolve(from) : packageFolder(from, named, python);
  if (!existsSync(folder)) throw unimportable('missing', `there is no folder ${folder}. ${named.howToGet}`);
  return folder;
}

const isPath = (from: string) => isAbsolute(from) || /[\\/]/.test(from) || from.startsWith('.') || existsSync(from);

/** The folder of an installed package, without importing it. */
function packageFolder(name: string, { module, howToGet }: PackageName, python = 'python3'): string {
  // The working directory is not a place of packages, though Python looks there first.
  const program = `import sys; sys.path[:] = [p for p in sys.path if p]; import importlib.util as u; s = u.find_spec("${module}"); print(s.submodule_search_locations[0] if s else "")`;
  let found: string;
  try {
    found = execFileSync(python, ['-c', program], {
      cwd: neutralFolder,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
      env: withoutKeys(),
    }).trim();
  } catch (error) {
    if (isNoProgram(error))
      throw unimportable(
        'python',
        `${name} needs Python 3.10 or newer, and ${python} is not a Python interpreter. ${pythonHint}`,
      );
    throw unimportable(
      'python',
      `${python} can't be asked for the package ${name}: ${messageOf(error).split('\n')[0]}`,
    );
  }
  if (found === '') throw unimportable('package', `${python} has no package ${module} (${name}). ${howToGet}`);
  return found;
}

const isNoProgram = (error: unknown) =>
  ['ENOENT', 'EACCES', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '');

const pythonHint = 'Install it, or name one with the option --python';

/**
 * Returns the interpreter for a copy: the one that is named, else that of the virtual environment that the copy is in.
 * Throws an `ApprovalQuestion` unless the latter is approved: it came with the folder.
 */
export function interpreterFor(
  folder: string,
  { from, python }: { readonly from: string; readonly python: string | undefined },
): string | undefined {
  const beside = python ?? interpreterBeside(folder);
  // The folder of a package by its name was found by an interpreter of this machine.
  if (python === undefined && beside !== undefined && isPath(from)) {
    const effect = { type: 'interpreter', by: 'the import', command: beside } as const;
    const without = 'name an interpreter with --python';
    throwUnlessApproved({ name: basename(folder), path: folder, effects: [effect], without });
  }
  return beside;
}

function interpreterBeside(folder: string): string | undefined {
  for (let at = folder; at !== dirname(at); at = dirname(at))
    for (const place of [join(at, 'pyvenv.cfg'), join(at, '.venv', 'pyvenv.cfg')]) {
      const programs = ['bin/python', 'Scripts/python.exe'].map((each) => join(dirname(place), each));
      const program = existsSync(place) && programs.find((each) => existsSync(each));
      if (program) return program;
    }
  return undefined;
}

/** The first names in a folder, for a message that says what was found. */
export function namesIn(folder: string): string {
  return (statSync(folder).isDirectory() ? readdirSync(folder).slice(0, 8).join(', ') : 'a file') || 'nothing';
}

/** The text of a file of the copy. */
export function textIn(file: string): string {
  if (!existsSync(file))
    throw unimportable(
      'layout',
      `expected ${file}, which is not there; ${partialCheckout(file) ?? 'this version has a different layout'}`,
    );
  const text = readBoundedText(file);
  if (text.startsWith(lfsPointer))
    throw unimportable('lfs', `${file} is a Git LFS pointer, not the file itself. Run "git lfs pull" in its checkout`);
  return text;
}

const lfsPointer = 'version https://git-lfs.github.com/spec/';

/** Returns what to do about a file that Git tracks and that is not on the disk; null where Git does not track it. */
export function partialCheckout(file: string): string | null {
  let folder = dirname(file);
  while (!existsSync(folder)) folder = dirname(folder);
  try {
    // Git would otherwise start the programs that the configuration of the checkout names, also to fetch what is missing.
    const question = ['-C', folder, '-c', 'core.fsmonitor=false', 'ls-files', '--error-unmatch', '--', file];
    execFileSync('git', question, {
      cwd: neutralFolder,
      stdio: 'ignore',
      env: { ...withoutKeys(), GIT_ALLOW_PROTOCOL: '' },
    });
  } catch {
    return null;
  }
  return 'Git tracks it, so the checkout is partial. Run "git sparse-checkout disable" and "git checkout HEAD -- ." in it';
}

/** A JSON file of the copy, in which calls tell their floats. */
export function jsonIn(file: string): unknown {
  return parsed(textIn(file), file, parsedCalls);
}

/** A file of the copy that holds one JSON value a line. */
function jsonLinesIn(file: string): readonly unknown[] {
  return textIn(file)
    .split('\n')
    .flatMap((line, index) => (line.trim() === '' ? [] : [parsed(line, `${file}:${index + 1}`)]));
}

function parsed(text: string, place: string, parse: (text: string) => unknown = JSON.parse): unknown {
  try {
    return parse(text);
  } catch (error) {
    const page = withoutPage(text);
    if (page !== text) throw unimportable('syntax', `${place} is ${page.trim()}, not JSON. Download the raw file`);
    throw unimportable('syntax', `${place} does not parse: ${messageOf(error)}`);
  }
}

/** The lines of a file that are laid out as the schema says; each other one is not carried over. */
export function entriesIn<Entry>(file: string, schema: z.ZodType<Entry>, notCarried: NotCarriedList): readonly Entry[] {
  return jsonLinesIn(file).flatMap((raw) => {
    const parsed = schema.safeParse(raw);
    if (parsed.success) return [parsed.data];
    const named = (raw as { readonly id?: unknown } | null)?.id;
    notCarried.task(String(named), `it has a different layout: ${problemsOf(parsed.error)}`);
    return [];
  });
}

/** Returns what only the benchmark's own code can tell, as its adapter says it; throws if it does not fit the schema. */
export async function askAdapter<About>(
  schema: z.ZodType<About>,
  adapter: { readonly name: Benchmark; readonly settings: Readonly<Record<string, string>> },
  at: {
    readonly label: string;
    readonly package: string;
    readonly out: string;
    readonly python: string | undefined;
    readonly log: (text: string) => void;
    readonly signal: AbortSignal | undefined;
  },
): Promise<About> {
  const process = new BridgeProcess({
    label: at.label,
    kind: 'database',
    folder: dirname(at.package),
    file: resolve(at.out),
    adapter,
    python: at.python,
    pythonHint,
    log: at.log,
  });
  try {
    const call = {
      answer: schema,
      timeoutMs: 120_000,
      what: 'reading it',
      ...(at.signal ? { signal: at.signal } : {}),
    };
    return await process.request('about', {}, call);
  } catch (error) {
    throw missingFile(error) ?? error;
  } finally {
    process.close();
  }
}

/** Returns the fault of a file that an adapter misses, with what to do about it; null for any other error. */
function missingFile(error: unknown): Error | null {
  const { code, file, message } = error instanceof Fault ? error.failure : {};
  if (code !== 'import/layout' || file === undefined || message === undefined) return null;
  const partial = partialCheckout(file);
  return unimportable('layout', partial === null ? message : `expected ${file}, which is not there; ${partial}`);
}

/** Returns what does not fit a schema, in one line; `whole` is what a file or a task as such is called. */
export function problemsOf({ issues }: z.ZodError, whole = 'the task'): string {
  return issues
    .slice(0, 3)
    .map((issue) => {
      const at = issue.path.join('.') || whole;
      return issue.code === 'unrecognized_keys'
        ? `${at} has the unknown key ${issue.keys.join(', ')}`
        : `${at}: ${issue.message}`;
    })
    .join('; ');
}

/** Returns what a copy calls itself: the installed package, else the version that its project file names. */
export function versionOf(folder: string, named: RegExp, projects: readonly string[]): string {
  const installed = readdirSync(dirname(folder)).find((name) => named.test(name) && name.endsWith('.dist-info'));
  if (installed)
    return installed
      .replace('.dist-info', '')
      .replaceAll('_', '-')
      .replace(/-(?=\d)/, ' ');
  for (const project of projects.filter((each) => existsSync(each))) {
    const text = readBoundedText(project);
    const [name, version] = ['name', 'version'].map(
      (key) => new RegExp(`^${key}\\s*=\\s*"([^"]+)"`, 'm').exec(text)?.[1],
    );
    if (name !== undefined && version !== undefined) return `${name} ${version}`;
  }
  return 'unknown version';
}
