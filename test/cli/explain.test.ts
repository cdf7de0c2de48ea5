import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { rehearsal } from '../support/terminal.ts';

const root = mkdtempSync(join(tmpdir(), 'rehearsal-explain-'));
const run = join(root, 'run');
const recording = join(run, 'lamp-variant.0.traj.jsonl');

beforeAll(async () => {
  await rehearsal('run', 'domains/order-desk', 'lamp-variant', '--agent', 'scripted', '--out', run);
}, 60_000);
afterAll(() => rmSync(root, { recursive: true, force: true }));

test('a reward is explained by its verdicts, their steps and the lines that demand it', async () => {
  const { code, out } = await rehearsal('explain', recording);
  expect(code).toBe(0);
  expect(out).toMatch(/^REWARD 0 {2}rule confirm-before-write was violated at step 16/);
  expect(out).toMatch(/orders\.W1138\.items\[0\]\.variant +is "white", expected "brass"/);
  expect(out).toMatch(/wrote it {3}\(domains\/order-desk\/tools\.ts:\d+\)/);
  expect(out).toMatch(/violated +rule confirm-before-write .*\(domains\/order-desk\/policy\.md:16\)/);
});

test('as data, each line has its place', async () => {
  const answer = JSON.parse((await rehearsal('explain', recording, '--json')).out);
  expect(answer).toMatchObject({ recording, reward: 0 });
  expect(answer.chain).toContainEqual({
    text: expect.stringContaining('demanded by the task'),
    at: expect.objectContaining({ file: expect.stringContaining('lamp-variant.task.yaml'), line: expect.any(Number) }),
  });
});

test.each([
  [[], /RECORDING: there is no such recording/],
  [['none.traj.jsonl'], /none\.traj\.jsonl: there is no such recording/],
  [['package.json'], /a file that ends in \.traj\.jsonl/],
])('explain %j can not be done', async (args, words) => {
  const { code, err } = await rehearsal('explain', ...args);
  expect(code).toBe(2);
  expect(err).toMatch(words);
});

test('a file that is no recording says so by its line', async () => {
  const broken = join(root, 'broken.traj.jsonl');
  writeFileSync(broken, 'no JSON\n');
  const { code, err } = await rehearsal('explain', broken, '--domain', 'domains/order-desk');
  expect(code).toBe(2);
  expect(err).toMatch(/broken\.traj\.jsonl:1: /);
});
