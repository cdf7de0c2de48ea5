import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test, vi } from 'vitest';
import { processStart } from '../../../../src/engine/shell/processes/processStart.ts';
import { isRunLocked, lockFiles, lockRun } from '../../../../src/engine/shell/records/runLock.ts';
import { temporaryFolder } from '../../../support/temporary.ts';

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

test('a lock whose pid now belongs to another process is taken over', () => {
  const folder = runFolder();
  const pid = other();
  writeFileSync(join(folder, '.lock'), JSON.stringify({ pid, host: hostname(), start: 'an earlier start' }));
  expect(isRunLocked(folder)).toBe(false);
  const release = lockRun(folder);
  expect(ownerOf(folder).pid).toBe(process.pid);
  release();
  expect(readdirSync(folder)).toEqual([]);
});

/** Creates a lock whose process this machine cannot check, renewed some seconds ago. */
function lockedElsewhere(owner: object, seconds: number): string {
  const folder = runFolder();
  const path = join(folder, '.lock');
  writeFileSync(path, JSON.stringify(owner));
  const renewed = new Date(Date.now() - seconds * 1000);
  utimesSync(path, renewed, renewed);
  return folder;
}

test.each([
  ['another host', () => ({ pid: 1, host: 'another', start: 'x 1' })],
  ['an unknown start', () => ({ pid: other(), host: hostname(), start: null })],
])('a lock of %s is held while it is renewed, and taken over afterwards', (_what, ownerOfLock) => {
  const owner = ownerOfLock();
  const held = lockedElsewhere(owner, 60);
  expect(isRunLocked(held)).toBe(true);
  expect(() => lockRun(held)).toThrow('writes the run in');
  const left = lockedElsewhere(owner, 180);
  expect(isRunLocked(left)).toBe(false);
  lockRun(left)();
  expect(readdirSync(left)).toEqual([]);
});

test('a lock is renewed while it is held, but a lock that replaced it is not', () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  onTestFinished(() => void vi.useRealTimers());
  const folder = runFolder();
  const path = join(folder, '.lock');
  const age = () => Date.now() - statSync(path).mtimeMs;
  const release = lockRun(folder);
  utimesSync(path, 0, 0);
  vi.advanceTimersByTime(15_000);
  expect(age()).toBeLessThan(60_000);
  writeFileSync(path, JSON.stringify({ pid: 1, host: 'another', start: null }));
  utimesSync(path, 0, 0);
  vi.advanceTimersByTime(15_000);
  expect(age()).toBeGreaterThan(60_000);
  release();
  expect(vi.getTimerCount()).toBe(0);
});

test.each([
  ['.lock', true],
  ['.lock.4711', true],
  ['.lock.0123456789abcdef', true],
  ['.lock.0123456789abcdef.0123456789abcdef.12', true],
  ['.lock.12.9b2f0c1e-6a1d-4f57-9a39-0d7b6f3f2a10', true],
  ['.lock.mine', false],
  ['a.lock', false],
])('%s is a file of a lock: %s', (name, isOne) => {
  expect(lockFiles.test(name)).toBe(isOne);
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

test('the claim of a process that died while it took over a lock is taken over, too', () => {
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
  const program = fileURLToPath(new URL('../fixtures/takeLock.ts', import.meta.url));
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

test.each([
  ['itself', '.lock'],
  ['nothing', 'nowhere'],
  ['a device', '/dev/zero'],
])('a lock that is a link to %s is taken over', (_, target) => {
  const folder = runFolder();
  symlinkSync(target, join(folder, '.lock'));
  expect(isRunLocked(folder)).toBe(false);
  lockRun(folder)();
  expect(readdirSync(folder)).toEqual([]);
});

test('a folder in the place of a lock is to be removed', () => {
  const folder = runFolder();
  mkdirSync(join(folder, '.lock'));
  expect(() => lockRun(folder)).toThrow(
    `${join(folder, '.lock')}: is a folder, but a file is expected here. Remove it: it has the name of the run's lock`,
  );
});
