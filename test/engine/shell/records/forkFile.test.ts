import { existsSync, linkSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { expect, test } from 'vitest';
import { makeForkFile, removeUnbegunFork } from '../../../../src/engine/shell/records/forkFile.ts';
import { sidecarPath } from '../../../../src/engine/shell/records/recording.ts';
import { RolloutRecord } from '../../../../src/engine/shell/rolloutRecord.ts';
import { temporaryFolder } from '../../../support/temporary.ts';

function recording(): string {
  const path = join(temporaryFolder('rehearsal-forks'), 'looks.0.traj.jsonl');
  writeFileSync(path, '');
  return path;
}

test('forks of a recording and of its forks have separate files as soon as they are numbered', () => {
  const parent = recording();
  const first = makeForkFile(parent);
  const second = makeForkFile(first.path);
  expect([first, second].map(({ path, number }) => [basename(path), number])).toEqual([
    ['looks.0.fork-1.traj.jsonl', 1],
    ['looks.0.fork-2.traj.jsonl', 2],
  ]);
});

test('a rollout writes into the file of its fork, which no other process can take meanwhile', () => {
  const { path } = makeForkFile(recording());
  const { ino } = statSync(path);
  const record = new RolloutRecord(path);
  for (let begun = 0; begun < 2; begun += 1) {
    record.open();
    expect(statSync(path).ino).toBe(ino);
    writeFileSync(path, 'earlier events\n');
  }
  record.close();
});

test('a file that has another name too is replaced, so that the other stays as it is', () => {
  const parent = recording();
  const { path } = makeForkFile(parent);
  const other = `${parent}.other`;
  linkSync(path, other);
  writeFileSync(other, 'kept\n');
  const record = new RolloutRecord(path);
  record.open();
  record.close();
  expect([readFileSync(other, 'utf8'), readFileSync(path, 'utf8')]).toEqual(['kept\n', '']);
});

test('a fork that recorded nothing leaves no file, and one that did stays', () => {
  const parent = recording();
  const [empty, begun] = [makeForkFile(parent).path, makeForkFile(parent).path];
  writeFileSync(sidecarPath(empty), '');
  writeFileSync(begun, '{}\n');
  for (const path of [empty, begun, `${parent}.nowhere`]) removeUnbegunFork(path);
  expect(existsSync(begun)).toBe(true);
  expect(readdirSync(join(parent, '..')).sort()).toEqual(['looks.0.fork-2.traj.jsonl', 'looks.0.traj.jsonl']);
});
