import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Io } from '../../src/cli/io.ts';
import { launchTrainer } from '../../src/cli/trainerLaunch.ts';

/** A run's folder that was trained before, and a trainer that goes on with it: a program for Node in place of Python. */
function resumed(program: string) {
  const run = mkdtempSync(join(tmpdir(), 'rehearsal-run-'));
  const events = join(run, 'events.jsonl');
  writeFileSync(events, '{"type": "started"}\n');
  let out = '';
  const io: Io = {
    out: (text) => {
      out += text;
    },
    err: () => undefined,
    terminal: false,
    cwd: run,
    environment: {},
    signal: new AbortController().signal,
    readLine: () => Promise.reject(new Error('nobody is at this terminal')),
  };
  const launch = { python: process.execPath, args: ['-e', program], run, isDetached: true, json: true };
  return { run, events, launched: launchTrainer(io, launch), printed: () => out };
}

test('a detached trainer that goes on with a run is waited for until it says so', async () => {
  const { run, events, launched, printed } = resumed(
    `setTimeout(() => require('node:fs').appendFileSync('events.jsonl', '{"type": "resumed"}\\n'), 400)`,
  );
  expect(await launched).toBe(0);
  expect(readFileSync(events, 'utf8')).toContain('resumed');
  expect(JSON.parse(printed())).toMatchObject({ run });
});

test('one that ends before it begins is a fault with its last words', async () => {
  const { launched } = resumed("console.error('there is no checkpoint'); process.exit(1)");
  await expect(launched).rejects.toThrow('training did not start: there is no checkpoint');
});
