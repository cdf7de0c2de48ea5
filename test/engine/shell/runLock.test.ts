import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { processStart } from '../../../src/engine/shell/processStart.ts';
import { isRunLocked, lockRun } from '../../../src/engine/shell/runLock.ts';
import { temporaryFolder } from '../../support/temporary.ts';

function runFolder(): string {
  const folder = temporaryFolder('rehearsal-lock');
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

/** A process that lives until the test ends. */
function other(): number {
  const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' });
  onTestFinished(() => void child.kill('SIGKILL'));
  return child.pid ?? 0;
}

const ownerOf = (folder: string) => JSON.parse(readFileSync(join(folder, '.lock'), 'utf8')) as { readonly pid: number };

test('a lock of a living process keeps others out, and names it', () => {
  const folder = runFolder();
  const pid = other();
  writeFileSync(join(folder, '.lock'), JSON.stringify({ pid, host: hostname(), start: processStart(pid) }));
  expect(isRunLocked(folder)).toBe(true);
  expect(() => lockRun(folder)).toThrow(
    `another process (${pid}) writes the run in ${folder}. Wait until it ends, or choose another run folder with --out`,
  );
});

test('a lock whose pid another process has by now is taken over', () => {
  const folder = runFolder();
  const pid = other();
  writeFileSync(join(folder, '.lock'), JSON.stringify({ pid, host: hostname(), start: 'an earlier start' }));
  expect(isRunLocked(folder)).toBe(false);
  const release = lockRun(folder);
  expect(ownerOf(folder).pid).toBe(process.pid);
  release();
  expect(readdirSync(folder)).toEqual([]);
});

test.each(['', '{"pid": 1', '{"pid": 1, "host": "here"}', '[]', '{"pid": -1, "host": "", "start": "now"}'])(
  'a lock file without an owner is taken over: %j',
  (text) => {
    const folder = runFolder();
    writeFileSync(join(folder, '.lock'), text);
    lockRun(folder)();
    expect(existsSync(join(folder, '.lock'))).toBe(false);
  },
);

test('of a process that died while it took a lock over, the claim is taken over, too', () => {
  const folder = runFolder();
  const dead = JSON.stringify({ pid: other(), host: hostname(), start: 'an earlier start' });
  writeFileSync(join(folder, '.lock'), dead);
  const claim = `.lock.${createHash('sha256').update(dead).digest('hex').slice(0, 16)}`;
  writeFileSync(join(folder, claim), dead);
  lockRun(folder)();
  expect(readdirSync(folder)).toEqual([]);
});

test('of many processes that find a dead owner, one at a time has the lock', async () => {
  const folder = runFolder();
  writeFileSync(join(folder, '.lock'), JSON.stringify({ pid: other(), host: hostname(), start: 'an earlier start' }));
  const program = fileURLToPath(new URL('fixtures/takeLock.ts', import.meta.url));
  const takers = Array.from({ length: 8 }, () => {
    const child = spawn(process.execPath, [program, folder], { stdio: ['ignore', 'ignore', 'pipe'] });
    let said = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      said += text;
    });
    return once(child, 'close').then(([code]) => ({ code, said }));
  });
  expect(await Promise.all(takers)).toEqual(Array.from({ length: 8 }, () => ({ code: 0, said: '' })));
  expect(readdirSync(folder)).toEqual(['.lock']);
});
