import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { fileOf, linesOf, rechained } from '../support/recordLines.ts';
import { inFullSuite, sampled } from '../support/suite.ts';
import { temporaryFolder } from '../support/temporary.ts';
import { rehearsal } from '../support/terminal.ts';

const folder = () => join(temporaryFolder('rehearsal'), 'run');
const recordings = (run: string) =>
  readdirSync(run)
    .filter((name) => name.endsWith('.traj.jsonl'))
    .sort();
const texts = (run: string) => recordings(run).map((name) => readFileSync(join(run, name), 'utf8'));

async function evaluated(...more: readonly string[]) {
  const run = folder();
  const { code, out } = await rehearsal(
    'eval',
    'domains/parcel-desk',
    '--split',
    'test',
    '--agent',
    'gold',
    '--out',
    run,
    '--json',
    ...more,
  );
  return { run, code, ...(JSON.parse(out) as { summary: { meanReward: number; rollouts: number } }) };
}

inFullSuite('the same seed gives the same bytes, in any order and concurrency; another seed does not', async () => {
  const one = await evaluated('--seed', 'a', '--concurrency', '1');
  const many = await evaluated('--seed', 'a', '--concurrency', '24');
  const other = await evaluated('--seed', 'b');
  expect(recordings(one.run)).toHaveLength(32);
  expect(texts(many.run)).toEqual(texts(one.run));
  expect(texts(other.run)).not.toEqual(texts(one.run));
  expect([one, many, other].map(({ summary }) => summary.meanReward)).toEqual([1, 1, 1]);
});

test('an interrupted run resumes with the rollouts without a receipt', async () => {
  const { run } = await evaluated('--tasks', 'reschedule-P46,reschedule-P50');
  const before = texts(run);
  const again = await rehearsal(
    'eval',
    'domains/parcel-desk',
    '--tasks',
    'reschedule-P46,reschedule-P50,reschedule-P81',
    '--agent',
    'gold',
    '--out',
    run,
    '--json',
  );
  expect((JSON.parse(again.out) as { summary: { rollouts: number } }).summary.rollouts).toBe(3);
  expect(again.err).toContain('2 of 3 rollouts already finished');
  expect(texts(run).slice(0, 2)).toEqual(before);
});

test('replay reproduces every state, and verify finds one changed byte', async () => {
  const run = folder();
  await rehearsal('run', 'domains/order-desk', 'lamp-variant', '--out', run);
  const path = join(run, 'lamp-variant.0.traj.jsonl');
  expect(await rehearsal('replay', path, '--quiet')).toMatchObject({
    code: 0,
    out: expect.stringMatching(/^\d+ steps replayed, every state, verdict and reward as recorded/),
  });
  for (const named of [run, path])
    expect(await rehearsal('verify', named)).toMatchObject({ code: 0, out: '1 recording verified\n' });
  const text = readFileSync(path, 'utf8');
  writeFileSync(path, text.replace('Could it be white', 'Could it be green'));
  expect(await rehearsal('verify', run)).toMatchObject({
    code: 1,
    out: expect.stringMatching(/lamp-variant\.0\.traj\.jsonl:3: event 2 \(userReplied\) was changed/),
  });
  writeFileSync(path, text.replace('"variant":"white"}', '"variant":"green"}'));
  expect((await rehearsal('replay', path, '--quiet')).code).toBe(1);
});

test('verify finds a forged reward of a single recording, and says where nothing vouches for it', async () => {
  const run = folder();
  await rehearsal('run', 'domains/order-desk', 'lamp-variant', '--out', run);
  const path = join(run, 'lamp-variant.0.traj.jsonl');
  const lines = linesOf(readFileSync(path)).map((line) => line.replace(/"reward":[01]/, '"reward":0.5'));
  writeFileSync(path, fileOf(rechained(lines)));
  expect(await rehearsal('verify', path)).toMatchObject({
    code: 1,
    out: expect.stringMatching(/rewarded says reward 0\.5, its receipt \(ledger\.jsonl:\d\) says [01]/),
  });
  rmSync(join(run, 'ledger.jsonl'));
  expect(await rehearsal('verify', path)).toMatchObject({
    code: 0,
    out: 'no ledger.jsonl is next to this recording: only its own chains were checked, not its receipt\n1 recording verified\n',
  });
});

test.each(sampled(['sidecar', 'ledger'], 2))('verify finds a changed %s', async (kind) => {
  const run = folder();
  await rehearsal('run', 'domains/parcel-desk', 'reschedule-P46', '--out', run);
  const name = readdirSync(run).find((each) => each.includes(kind)) ?? '';
  const path = join(run, name);
  writeFileSync(path, readFileSync(path, 'utf8').replace(/"(n|trial)":0/, '"$1":7'));
  expect(await rehearsal('verify', run)).toMatchObject({ code: 1, out: expect.stringContaining(name) });
});

test('verify names a run.json that was changed, is gone, or that no line vouches for', async () => {
  const run = folder();
  const options = ['--agent', 'gold', '--out', run, '--json'];
  await rehearsal('eval', 'domains/parcel-desk', '--tasks', 'reschedule-P46', ...options);
  const path = join(run, 'run.json');
  const ledger = join(run, 'ledger.jsonl');
  const written = readFileSync(path, 'utf8');
  expect((await rehearsal('verify', run)).code).toBe(0);
  for (const changed of [
    written.replace('"seed": "1"', '"seed": "2"'),
    written.replace('"effect": "write"', '"effect": "read"'),
    `${written} `,
  ]) {
    expect(changed).not.toBe(written);
    writeFileSync(path, changed);
    expect(await rehearsal('verify', run)).toMatchObject({
      code: 1,
      out: `${path}:1: was changed after it was written: the ledger vouches for other bytes\n1 problem in 1 recording\n`,
    });
  }
  rmSync(path);
  expect(await rehearsal('verify', run)).toMatchObject({
    code: 1,
    out: expect.stringContaining(`${path}:1: is missing`),
  });
  writeFileSync(path, written);
  expect((await rehearsal('verify', run)).code).toBe(0);

  const lines = readFileSync(ledger, 'utf8');
  const receipts = lines.split('\n').filter((line) => !line.startsWith('{"run"'));
  writeFileSync(ledger, receipts.join('\n'));
  const dropped = await rehearsal('verify', run);
  expect(dropped.out).toContain(`${path}:1: no line of the ledger vouches for it`);
  expect(dropped.out).toContain(`${ledger}:1: receipt of reschedule-P46.0 does not follow the one before it`);
  writeFileSync(ledger, lines);

  await rehearsal('eval', 'domains/parcel-desk', '--tasks', 'reschedule-P46,reschedule-P50', ...options);
  expect(readFileSync(path, 'utf8')).toContain('reschedule-P50');
  expect(await rehearsal('verify', run)).toMatchObject({ code: 0, out: '2 recordings verified\n' });
  writeFileSync(path, written);
  expect((await rehearsal('verify', run)).out, 'an older run.json put back').toContain('was changed');
});

inFullSuite('the transcript of a rollout in which the user has tools', async () => {
  const { code, out } = await rehearsal('run', 'domains/help-line', 'bill-L2019', '--out', folder());
  expect(code).toBe(0);
  await expect(out.replace(/recording .*\n/, '')).toMatchFileSnapshot('golden/helpLineBill.txt');
});

test('the transcript of the well-known failure', async () => {
  const { code, out } = await rehearsal('run', 'domains/order-desk', 'lamp-variant', '--out', folder());
  expect(code).toBe(0);
  await expect(out.replace(/recording .*\n/, '')).toMatchFileSnapshot('golden/lampVariant.txt');
});

inFullSuite('--gate turns a reward of 0 into exit code 1', async () => {
  expect((await rehearsal('run', 'domains/order-desk', 'lamp-variant', '--gate', '--out', folder())).code).toBe(1);
  expect(
    (await rehearsal('run', 'domains/order-desk', 'lamp-variant', '--agent', 'gold', '--gate', '--out', folder())).code,
  ).toBe(0);
});

inFullSuite('an unreachable model ends the rollout as not scored, and the record is kept and whole', async () => {
  const run = folder();
  const { code, out } = await rehearsal(
    'run',
    'domains/parcel-desk',
    'reschedule-P46',
    '--agent',
    'openai:m@http://127.0.0.1:9/v1',
    '--out',
    run,
  );
  expect(code).toBe(2);
  expect(out).toMatch(/ended: the infrastructure failed: http:\/\/127\.0\.0\.1:9\/v1 can't be reached/);
  expect((await rehearsal('verify', run)).code).toBe(0);
});

test('check finds nothing in the sample domains', async () => {
  for (const domain of ['domains/parcel-desk', 'domains/order-desk']) {
    expect(await rehearsal('check', domain)).toMatchObject({ code: 0, out: expect.stringMatching(/no findings/) });
  }
});
