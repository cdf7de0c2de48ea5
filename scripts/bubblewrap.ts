import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { findSandbox } from '../src/engine/shell/processes/sandbox.ts';
import type { Obstacle } from './obstacle.ts';
import { findOnPath, isExecutable, runCommand } from './process.ts';
import { announce, elapsed, Failure, warn } from './terminal.ts';
import { cacheFolder, type Download, installOnce, isComplete } from './vscode/cacheFolder.ts';

const folder = join(cacheFolder(), 'bubblewrap');
const programs = join(folder, 'unpacked', 'usr', 'bin');

const isWanted = () => process.platform === 'linux' && !process.env.REHEARSAL_BUBBLEWRAP && !findOnPath('bwrap');
const isDebian = () => Boolean(findOnPath('apt-get') && findOnPath('dpkg-deb'));

/** Returns what `putBubblewrapOnPath` would download. */
export function bubblewrapDownloads(): Download[] {
  if (!isWanted() || !isDebian() || isComplete(folder)) return [];
  return [
    { what: "bubblewrap, the sandbox of domain code, with Debian's list of packages", bytes: 10e6, into: folder },
  ];
}

/**
 * Puts bubblewrap on the PATH of this process and into `REHEARSAL_BUBBLEWRAP`, since VS Code takes its PATH from a login
 * shell. On Debian and Ubuntu, it is unpacked into the cache folder if the machine lacks it, without root. Throws a
 * `Failure` if the variable is set and does not name a program.
 */
export async function putBubblewrapOnPath(): Promise<void> {
  const named = process.env.REHEARSAL_BUBBLEWRAP;
  if (process.platform === 'linux' && named && !isExecutable(named)) {
    throw new Failure(
      `REHEARSAL_BUBBLEWRAP is ${named}, which is not an executable file. Set it to the path of bubblewrap, or unset it.`,
    );
  }
  if (!isWanted()) return;
  if (isDebian() && !isComplete(folder))
    await installOnce(folder, unpack).catch((error: Error) => warn(`bubblewrap: ${error.message}`));
  if (!isComplete(folder)) return;
  process.env.PATH = `${process.env.PATH ?? ''}${delimiter}${programs}`;
  process.env.REHEARSAL_BUBBLEWRAP = join(programs, 'bwrap');
}

/** Returns why domain code cannot be confined on this machine. */
export function sandboxObstacle(): Obstacle | undefined {
  const sandbox = findSandbox();
  return sandbox.name === null ? { reason: `no sandbox: ${sandbox.reason}. ${sandbox.advice}` } : undefined;
}

async function unpack(): Promise<void> {
  announce('Downloading bubblewrap with apt-get');
  const started = performance.now();
  for (const path of ['lists/partial', 'archives/partial']) mkdirSync(join(folder, path), { recursive: true });
  const own = [
    `Dir::State::Lists=${join(folder, 'lists')}`,
    `Dir::Cache=${folder}`,
    'APT::Sandbox::User=',
    'Acquire::Languages=none',
  ].flatMap((option) => ['-o', option]);
  for (const args of [['update'], ['download', 'bubblewrap']]) {
    const { code, output } = await runCommand('apt-get', [...own, ...args], { cwd: folder });
    if (code !== 0) throw new Error(`apt-get ${args.join(' ')} failed: ${output.trim().split('\n').at(-1)}`);
  }
  const archive = readdirSync(folder).find((name) => name.endsWith('.deb')) ?? '';
  const { code, output } = await runCommand('dpkg-deb', ['-x', archive, 'unpacked'], { cwd: folder });
  if (code !== 0) throw new Error(`dpkg-deb failed: ${output.trim()}`);
  for (const name of ['lists', 'archives']) rmSync(join(folder, name), { recursive: true, force: true });
  announce(`bubblewrap is unpacked (${elapsed(started)})`);
}
