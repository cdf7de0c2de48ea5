import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { expect, onTestFinished, test } from 'vitest';
import { inRoot } from '../../../scripts/repository.ts';
import { had, mirror, own, weights } from '../../../src/cli/targets/mirror.ts';
import { bytesOf } from '../../../src/cli/targets/ssh/byteReader.ts';
import { temporaryFolder } from '../../support/temporary.ts';

function runFolder(): string {
  const folder = temporaryFolder('rehearsal-mirror');
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Mirrors the messages of the remote agent, sent in chunks of this many bytes. */
async function sent(folder: string, pieces: number, ...said: readonly (object | string)[]): Promise<void> {
  const data = Buffer.from(
    said.map((each) => (typeof each === 'string' ? each : `${JSON.stringify(each)}\n`)).join(''),
  );
  const chunks = Array.from({ length: Math.ceil(data.length / pieces) }, (_, at) =>
    data.subarray(at * pieces, (at + 1) * pieces),
  );
  const nothing = async () => undefined;
  const call = { answers: bytesOf(Readable.from(chunks)), send: nothing, end: nothing, cut: () => undefined };
  await mirror(folder, call, () => undefined);
}

test.each([1, 7, 1000])('files come in pieces of %i bytes, behind what is there', async (pieces) => {
  const run = runFolder();
  writeFileSync(join(run, 'metrics.jsonl'), 'äb');
  const deep = 'trajectories/step-000001/a.0.traj.jsonl';
  await sent(
    run,
    pieces,
    { path: 'metrics.jsonl', offset: 3, size: 2 },
    'cd',
    { running: true },
    { path: deep, offset: 0, size: 3 },
    '{}\n',
    { path: 'empty', offset: 0, size: 0 },
    { over: true },
  );
  expect(readFileSync(join(run, 'metrics.jsonl'), 'utf8')).toBe('äbcd');
  expect(readFileSync(join(run, deep), 'utf8')).toBe('{}\n');
  expect(Object.keys(await had(run)).sort()).toEqual(['empty', 'metrics.jsonl', deep]);
});

test('both sides have the same files for themselves, and leave the same weights out', () => {
  const far = readFileSync(inRoot('trainer', 'remote_agent.py'), 'utf8');
  const listed = (text: string | undefined) => JSON.parse(`[${text}]`).sort();
  expect([...own].sort()).toEqual(listed(/^OWN = \{(.*)\}$/m.exec(far)?.[1]));
  expect([...weights].sort()).toEqual(listed(/^WEIGHTS = \((.*)\)$/m.exec(far)?.[1]));
});

test('a stream that ends in the middle keeps what came', async () => {
  const run = runFolder();
  await expect(sent(run, 5, { path: 'log.txt', offset: 0, size: 9 }, 'words')).rejects.toThrow('4 bytes too early');
  expect(readFileSync(join(run, 'log.txt'), 'utf8')).toBe('words');
  await expect(sent(run, 5)).rejects.toThrow('the connection ended');
});

test('only rollouts that are gone there go here', async () => {
  const run = runFolder();
  await sent(
    run,
    50,
    { path: 'trajectories/a', offset: 0, size: 1 },
    'a',
    { path: 'b', offset: 0, size: 1 },
    'b',
    { gone: 'trajectories/a' },
    { gone: 'b' },
    { over: true },
  );
  expect([existsSync(join(run, 'trajectories', 'a')), existsSync(join(run, 'b'))]).toEqual([false, true]);
});

test.each(['../out', '/out', 'a/../../out', 'a\\out', 'C:out', 'target.json', 'a//b'])(
  '%s does not belong in a run',
  async (path) => {
    const run = runFolder();
    await expect(sent(run, 50, { path, offset: 0, size: 1 }, 'x')).rejects.toThrow('does not belong in a run');
    expect(existsSync(join(dirname(run), 'out'))).toBe(false);
  },
);
