import { spawn } from 'node:child_process';
import { utimesSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { trainerOf } from '../../src/training/trainerProcess.ts';
import { runFolder } from '../extension/training/runFolder.ts';

/** Longer ago than this test process began. */
const before = Date.now() / 1000 - 24 * 3600;

it('without a pid file, or with one that is being written, there is no trainer', () => {
  const folder = runFolder();
  expect(trainerOf(folder.path)).toBeNull();
  folder.write('pid', '');
  expect(trainerOf(folder.path)).toBeNull();
});

it('a process that lives and began before its file was written is the trainer', () => {
  const folder = runFolder();
  folder.write('pid', String(process.pid));
  expect(trainerOf(folder.path)).toEqual({ pid: process.pid, isRunning: true });
});

it('a process that was killed is no longer running', async () => {
  const folder = runFolder();
  const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' });
  const pid = child.pid ?? 0;
  folder.write('pid', String(pid));
  expect(trainerOf(folder.path)).toEqual({ pid, isRunning: true });
  const gone = new Promise((done) => child.once('exit', done));
  child.kill('SIGKILL');
  await gone;
  expect(trainerOf(folder.path)).toEqual({ pid, isRunning: false });
});

it.skipIf(process.platform === 'win32')('another program that was given the number is not the trainer', () => {
  const folder = runFolder();
  folder.write('pid', String(process.pid));
  utimesSync(join(folder.path, 'pid'), before, before);
  expect(trainerOf(folder.path)).toEqual({ pid: process.pid, isRunning: false });
});
