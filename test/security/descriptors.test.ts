import { spawn } from 'node:child_process';
import { openSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../support/temporary.ts';

// A shell, a terminal or an editor may leave files open in the processes that it starts, as `exec 200>>file` does.

const folder = temporaryFolder('rehearsal-descriptors');
const module = new URL('../../src/engine/shell/processes/sandbox.ts', import.meta.url).href;

/** Prints the paths of every open file. */
const listing = `const { readdirSync, readlinkSync } = process.getBuiltinModule('node:fs');
for (const fd of readdirSync('/proc/self/fd')) try { console.log(readlinkSync('/proc/self/fd/' + fd)) } catch {}`;
const confining = `import { spawnConfined } from ${JSON.stringify(module)};
spawnConfined(process.execPath, ['-e', ${JSON.stringify(listing)}], { readable: [], memoryMb: 4096 }, { stdio: ['ignore', 'pipe', 'inherit'], env: {} })
  .process.stdout.pipe(process.stdout);`;

/** Returns the open files of a confined program whose grandparent has a file open by these numbers. */
async function openInside(descriptors: readonly number[], sandbox: string): Promise<string> {
  const file = join(folder, 'secret.txt');
  writeFileSync(file, 'secret');
  const stdio: ('ignore' | 'pipe' | 'inherit' | number)[] = ['ignore', 'pipe', 'inherit'];
  for (let at = 3; at <= Math.max(...descriptors); at++)
    stdio.push(descriptors.includes(at) ? openSync(file, 'r+') : 'ignore');
  const args = ['--disable-warning=ExperimentalWarning', '--input-type=module', '-e', confining];
  const env = { ...process.env, REHEARSAL_SANDBOX: sandbox };
  const child = spawn(process.execPath, args, { stdio, env });
  return text(child.stdout as NonNullable<typeof child.stdout>);
}

test.runIf(process.platform === 'linux').each([
  ['just above its own', [3, 4, 5], ''],
  ['with a gap before them', [200, 201], ''],
  ['with a gap before them, without a sandbox', [40, 900], 'off'],
])('a confined program has no file that its parents left open: %s', async (_, descriptors, sandbox) => {
  const open = await openInside(descriptors, sandbox);
  expect(open).toContain('pipe:');
  expect(open).not.toContain('secret.txt');
});
