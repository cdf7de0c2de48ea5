import { join } from 'node:path';
import { runCommand } from '../process.ts';
import { findPython } from '../pythonTests.ts';
import { root } from '../repository.ts';
import { announce, Failure } from '../terminal.ts';
import { cacheFolder, type Download, installOnce, isComplete } from '../vscode/cacheFolder.ts';

/** Thrown if this machine cannot fetch a copy because it cannot reach the registry or the repository. */
export class NotFetched extends Failure {}

/** A pinned copy of a benchmark, which an environment variable names or which is in the cache. */
export type Copy = {
  /** A Python that has the package, or the folder of a checkout. */
  readonly path: () => string;
  readonly isReady: () => boolean;
  /** The downloads that are missing; empty if the copy is complete. */
  readonly downloads: () => readonly Download[];
  /** Fetches the copy if it is missing. Throws `NotFetched`. */
  readonly setUp: () => Promise<void>;
};

/** Fetches a copy if it is missing. Returns why it could not be fetched, or null. Rejects for any other error. */
export async function obstacleOf(copy: Copy): Promise<string | null> {
  try {
    await copy.setUp();
    return null;
  } catch (error) {
    if (error instanceof Failure) return error.message;
    throw error;
  }
}

/** Returns whether a command failed because the network did not let it reach a host. */
function isUnreachable(output: string): boolean {
  return /Could not resolve host|Failed to connect|Connection refused|Network is unreachable|NewConnectionError/.test(
    output,
  );
}

export type Source = {
  /** The folder in the cache, whose name includes the version. */
  readonly name: string;
  /** The environment variable that names another copy. */
  readonly variable: string;
  readonly bytes: number;
};

/** A virtual environment with pinned packages. */
export function pythonWith(requirements: readonly string[], source: Source): Copy {
  const python = (home: string) => join(home, process.platform === 'win32' ? 'Scripts/python.exe' : 'bin/python');
  const what = requirements.filter((each) => !each.startsWith('-')).join(' and ');
  return copyOf(source, what, python, async (home) => [
    [findPython() ?? 'python3', '-m', 'venv', home],
    [python(home), '-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', ...requirements],
  ]);
}

/** A folder with pinned npm packages and their dependencies. */
export function npmFolder(requirements: readonly string[], source: Source): Copy {
  const npm = process.platform === 'win32' ? 'npm.cmd' : 'npm';
  return copyOf(
    source,
    requirements.join(' and '),
    (home) => home,
    async (home) => [
      [npm, 'install', '--prefix', home, '--no-audit', '--no-fund', '--loglevel', 'error', ...requirements],
    ],
  );
}

/** A checkout of a commit. */
export function checkoutOf(repository: string, commit: string, source: Source): Copy {
  const folder = (home: string) => join(home, 'checkout');
  return copyOf(source, `a clone of ${repository}`, folder, async (home) => [
    ['git', 'clone', '--quiet', repository, folder(home)],
    ['git', '-C', folder(home), 'checkout', '--quiet', commit],
  ]);
}

function copyOf(
  { name, variable, bytes }: Source,
  what: string,
  inHome: (home: string) => string,
  commands: (home: string) => Promise<readonly (readonly [string, ...string[]])[]>,
): Copy {
  const home = () => join(cacheFolder(), 'benchmarks', name);
  const isReady = () => process.env[variable] !== undefined || isComplete(home());
  return {
    path: () => process.env[variable] ?? inHome(home()),
    isReady,
    downloads: () => (isReady() ? [] : [{ what, bytes, into: cacheFolder() }]),
    setUp: async () => {
      if (isReady()) return;
      announce(`Fetching ${what} into ${home()} (once)`);
      await installOnce(home(), async (folder) => {
        for (const [program, ...args] of await commands(folder)) {
          const { code, output } = await runCommand(program, args, { cwd: root, echo: true });
          const Kind = isUnreachable(output) ? NotFetched : Failure;
          if (code !== 0) throw new Kind(`${what} could not be fetched. Name a copy of it with ${variable}`);
        }
      });
    },
  };
}
