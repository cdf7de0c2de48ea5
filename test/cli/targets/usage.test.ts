import { existsSync, mkdirSync, mkdtempSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../../support/temporary.ts';
import { rehearsal } from '../../support/terminal.ts';

const scratch = temporaryFolder('rehearsal-usage');
const run = join(scratch, 'run');
const begin = ['grpo', 'domains/parcel-desk', '--model', 'tiny', '--out', join(scratch, 'new')];

function runWith(files: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(scratch, 'run-'));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  return folder;
}

test.each([
  [
    [...begin, '--disk', '1000000000'],
    /^there are [\d.]+ GB free for .* needs 1000000000.0 GB: make room, or name another/,
  ],
  [[...begin, '--disk', 'much'], /^--disk is a number of gigabytes above 0, not "much"$/],
  [
    [...begin, '--target', 'moon'],
    /^--target moon: expected local, ssh:\/\/user@host:port\/folder, or ray:\/\/host:8265$/,
  ],
  [[...begin, '--target', 'ssh://-x'], /^--target ssh:\/\/-x: expected ssh:/],
  [['stop'], /^say which run: npx rehearsal train stop RUN$/],
  [['resume', run], /run is not a run: name its folder, or its name in \.rehearsal\/training$/],
  [['resume', runWith({ 'launch.json': '{}' })], /has not started: start it again$/],
  [
    ['resume', runWith({ 'launch.json': '{', 'config.json': '{"kind": "sft"}' })],
    /launch\.json is not a JSON object: it was changed/,
  ],
  [
    ['follow', runWith({ 'launch.json': '{}', 'target.json': '[]' })],
    /target\.json was changed after Rehearsal wrote it, and no longer says where training was started/,
  ],
  [['stop', runWith({ 'launch.json': '{}' })], /is not being trained$/],
  [['fetch', runWith({ 'launch.json': '{}' })], /has no checkpoint; it has none yet$/],
  [['fetch', runWith({ 'launch.json': '{}' }), '--checkpoint', 'x'], /has no checkpoint "x"; it has none yet$/],
])('rehearsal train %j', async (args, says) => {
  const { code, out, err } = await rehearsal('train', ...args);
  expect({ code, out }).toEqual({ code: 2, out: '' });
  expect(err.trim().replace(/^rehearsal train: /, '')).toMatch(says);
});

test.each([
  ['log.txt', 'resume'],
  ['stop', 'stop'],
  ['connection.jsonl', 'follow'],
  ['events.jsonl', 'fetch'],
])('nothing is written through a link named %s in the folder of a run', async (name, operation) => {
  const folder = runWith({ 'launch.json': '{}', 'config.json': '{"kind": "sft"}' });
  const outside = `${folder}.outside`;
  symlinkSync(outside, join(folder, name));
  const { code, err } = await rehearsal('train', operation, folder);
  expect([code, err]).toEqual([2, expect.stringContaining(`${name}: is a symbolic link, and nothing is written`)]);
  expect(existsSync(outside)).toBe(false);
});

test.each([
  'tensorboard',
  'mlflow.db',
  'wandb/run-1',
  'trajectories/step-000001',
  'trajectories/step-000001/rollouts.jsonl.new',
])('a run does not continue with a link named %s out of its folder', async (name) => {
  const folder = runWith({ 'launch.json': '{}', 'config.json': '{"kind": "sft"}' });
  mkdirSync(dirname(join(folder, name)), { recursive: true });
  symlinkSync(`${folder}.outside`, join(folder, name));
  symlinkSync('run-2', join(folder, 'latest-run'));
  const { code, err } = await rehearsal('train', 'resume', folder);
  expect([code, err]).toEqual([
    2,
    expect.stringContaining(`${name}: is a symbolic link out of ${folder}, and nothing`),
  ]);
});
