import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, linkSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
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

test('forks of a recording and of its forks are numbered', () => {
  const parent = recording();
  const first = makeForkFile(parent);
  const second = makeForkFile(first.path);
  expect([first, second].map(({ path, number }) => [basename(path), number])).toEqual([
    ['looks.0.fork-1.traj.jsonl', 1],
    ['looks.0.fork-2.traj.jsonl', 2],
  ]);
});

test('processes that fork one recording at the same time have separate files', async () => {
  const folder = dirname(recording());
  const parents = Array.from({ length: 300 }, (_, at) => join(folder, `task-${at}.0.traj.jsonl`));
  const script = `
    const { makeForkFile } = await import(${JSON.stringify(pathToFileURL(resolve('src/engine/shell/records/forkFile.ts')).href)});
    process.stdout.write('ready\\n');
    for await (const _ of process.stdin) break;
    for (const parent of ${JSON.stringify(parents)}) console.log(makeForkFile(parent).path);
    process.exit();`;
  const children = [1, 2].map(() => {
    const options = { stdio: ['pipe', 'pipe', 'inherit'] } as const;
    const child = spawn(process.execPath, ['--input-type=module', '-e', script], options);
    let out = '';
    const isReady = once(child.stdout, 'data');
    child.stdout.on('data', (chunk: Buffer) => {
      out += chunk.toString();
    });
    return { isReady, begin: () => child.stdin.write('\n'), ended: once(child, 'close').then(() => out) };
  });
  await Promise.all(children.map(({ isReady }) => isReady));
  for (const { begin } of children) begin();
  const outputs = await Promise.all(children.map(({ ended }) => ended));
  const paths = outputs.flatMap((out) => out.trim().split('\n').slice(1));
  expect(new Set(paths).size).toBe(2 * parents.length);
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
