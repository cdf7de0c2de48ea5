import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Obstacle } from '../obstacle.ts';
import { runNpm } from '../process.ts';
import { announce, elapsed, Failure, withHeartbeat } from '../terminal.ts';
import { cacheFolder, installOnce, isComplete } from './cacheFolder.ts';

/** The npm release of code-server in use, and the VS Code it carries. */
export const codeServerVersion = '4.139.1';
export const vscodeVersion = '1.139.1';

const folder = join(cacheFolder(), 'vscode', codeServerVersion);

/** Path of code-server's entry script; it is run with Node 22.15 or newer. */
export const codeServerEntry = join(folder, 'node_modules', 'code-server', 'out', 'node', 'entry.js');

/** Returns whether VS Code for the browser is installed. */
export function isCodeServerInstalled(): boolean {
  return isComplete(folder);
}

/** Returns why this machine cannot run VS Code in a browser, if it cannot. */
export function codeServerObstacle(): Obstacle | undefined {
  if (process.platform === 'linux') return undefined;
  return { reason: `VS Code for the browser (code-server) is only used on Linux, and this is ${process.platform}` };
}

/**
 * Installs VS Code for the browser (code-server, from npm) into the cache folder where it is not there yet, and
 * returns its entry script. Nothing is compiled; nothing outside the cache folder is written.
 */
export async function installCodeServer(): Promise<string> {
  const obstacle = codeServerObstacle();
  if (obstacle)
    throw new Failure(`${obstacle.reason}. Install VS Code (https://code.visualstudio.com) and its "code" command.`);
  if (isCodeServerInstalled()) return codeServerEntry;
  await installOnce(folder, async () => {
    announce(
      `Downloading VS Code ${vscodeVersion} (code-server ${codeServerVersion} from npm; about 160 MB, 620 MB on disk)`,
    );
    announce(`  into ${folder}`);
    const started = performance.now();
    writeFileSync(join(folder, 'package.json'), '{"private":true}\n');
    const server = join(folder, 'node_modules', 'code-server', 'lib', 'vscode');
    await npmInstall('code-server', folder, `code-server@${codeServerVersion}`);
    // Its shrinkwrap is out of step with its manifests, so `npm ci` would refuse these two.
    await npmInstall('libraries of VS Code', server);
    await npmInstall('libraries of its built-in extensions', join(server, 'extensions'));
    announce(`VS Code ${vscodeVersion} is installed (${elapsed(started)})`);
  });
  return codeServerEntry;
}

async function npmInstall(label: string, where: string, ...packages: string[]): Promise<void> {
  const work = runNpm(where, ['install', '--ignore-scripts', '--omit=dev', ...packages]);
  const { code, output } = await withHeartbeat(label, work);
  if (code !== 0) throw new Failure(`npm could not install ${label} into ${where}:\n${output.trim()}`);
}
