import { cpSync, existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { modelServer } from '../support/modelServer.ts';
import { inFullSuite } from '../support/suite.ts';
import { temporaryFolder } from '../support/temporary.ts';
import { rehearsal, rehearsalIn, rehearsalUntil } from '../support/terminal.ts';

/** Mistakes of first-time readers of docs/first-domain.md that had a misleading message or none. */
const scratch = temporaryFolder('first-day');

/** Copies the sample library desk, with one text of one file replaced. */
function changed(file: string, from: string, to: string): string {
  const folder = mkdtempSync(join(scratch, 'desk-'));
  cpSync('domains/library-desk', folder, { recursive: true });
  const path = join(folder, file);
  const text = readFileSync(path, 'utf8');
  if (!text.includes(from)) throw new Error(`${file} does not say ${from}`);
  writeFileSync(
    path,
    text.replace(from, () => to),
  );
  return folder;
}

test.each([
  [
    'a misspelt argument in a slot with a field',
    'domain.yaml',
    'Shall I renew {loan_id.title}',
    'Shall I renew {lone_id.title}',
    /\{lone_id\} is not an argument of renew_loan\. Did you mean "loan_id"\?/,
  ],
  [
    'a misspelt field that only a tool writes',
    'rules.yaml',
    'it.payment == null',
    'it.paymnt == null',
    /has no field paymnt\. Did you mean "payment"\?/,
  ],
])('check finds %s', async (_, file, from, to, finding) => {
  expect((await rehearsal('check', changed(file, from, to))).out).toMatch(finding);
});

test('check --fix reports its fixes', async () => {
  const folder = changed('rules.yaml', '\n  gate: true', '\n  gaet: true');
  expect((await rehearsal('check', folder, '--static', '--fix')).out).toMatch(
    /^fixed .*rules\.yaml:\d+ rule\/unknown-key /m,
  );
});

const failingAction =
  /warning: renew-small-boats: the gold action renew_loan failed, so the reward says nothing about an agent: \S*tasks\/train\.task\.yaml:15:\d+ error task\/gold-fails The gold action renew_loan fails: kaboom\. Correct its arguments/;

test('run warns where a gold action fails, since the reward then says nothing', async () => {
  const folder = changed('tools.ts', 'loan.renewals += 1;', "throw new Error('kaboom');");
  const { err } = await rehearsal('run', folder, 'renew-small-boats', '--agent', 'gold');
  expect(err).toMatch(failingAction);
});

test('no agent has a reward where a gold action fails, so a gate is not decided', async () => {
  const folder = changed('tools.ts', 'loan.renewals += 1;', "throw new Error('kaboom');");
  const { url } = await modelServer(() => 'Sorry, that is not possible. Goodbye.');
  const run = ['eval', folder, '--tasks', 'renew-small-boats', '--agent', `openai:m@${url}`, '--gate', 'reward>=0'];
  const { code, out } = await rehearsal(...run, '--out', join(scratch, 'faulty'));
  expect(out).toContain('the expected database is unknown, because the gold action renew_loan fails: kaboom');
  expect([code, out]).toEqual([2, expect.stringContaining('gate not decided: the run is incomplete')]);
  expect(out).toMatch(/^ +outcome +0 +0 +1$/m);
  const ungated = await rehearsal(...run.slice(0, -2), '--out', join(scratch, 'ungated'));
  expect(ungated).toMatchObject({
    code: 2,
    err: expect.stringMatching(
      /^1 of 1 rollout could not be scored: renew-small-boats: .*renew_loan fails: kaboom.*\nFind the error in the domain with: npx rehearsal check \S+ --audit$/m,
    ),
  });
});

inFullSuite('eval and its reports warn where a gold action fails', async () => {
  const folder = changed('tools.ts', 'loan.renewals += 1;', "throw new Error('kaboom');");
  const out = join(scratch, 'gold-fails');
  const run = ['eval', folder, '--tasks', 'renew-small-boats', '--agent', 'gold', '--out', out];
  expect((await rehearsal(...run)).out).toMatch(failingAction);
  expect((await rehearsal('explain', out)).err).toMatch(failingAction);
  expect((await rehearsal('report', out, '--json', '--stream')).out).toContain('"warning":"the gold action renew_loan');
  const page = join(scratch, 'gold-fails.html');
  await rehearsal('report', out, '--html', page);
  expect(readFileSync(page, 'utf8')).toMatch(failingAction);
});

test('debug says which recordings the folder of a run has', async () => {
  const out = join(scratch, 'run');
  await rehearsal('run', 'domains/order-desk', 'lamp-variant', '--out', out);
  const { code, err } = await rehearsal('debug', out);
  expect([code, err]).toEqual([
    2,
    expect.stringMatching(/run is the folder of a run; name one of its recordings: .*lamp-variant\.0\.traj\.jsonl/),
  ]);
});

test.each([
  [['run', 'domains/order-desk', 'lamp-varient'], /there is no task "lamp-varient"; .*Did you mean "lamp-variant"\?/],
  [['run', 'domains/order-desk', 'lamp-variant', '--agent', 'goldd'], /"goldd" is not a seat .*Did you mean "gold"\?/],
  [['run', 'domains/order-desk', 'lamp'], /has lamp-variant, .*Did you mean "lamp-variant"\?/],
  [['run', 'domains/order-desk', 'cancel'], /Did you mean "cancel-[\w-]+", "cancel-[\w-]+" or "cancel-[\w-]+"\?/],
  [['run', 'domains/order-desk', 'lamp-variant', '--seed'], /: --seed needs a value: --seed TEXT, source of every/],
  [
    ['run', 'domains/order-desk', 'lamp-variant', '--seed', '--gate'],
    /--seed needs a value: .*Write --seed=TEXT for a value that begins with -/,
  ],
  [['doctor', '--live'], /: --live needs a value: --live ENDPOINT, an OpenAI-compatible base URL/],
  [['verify'], /name a run folder or a recording: npx rehearsal verify RUN_FOLDER/],
  [['explain'], /name a run's folder, or a recording/],
  [['check'], /name the folder of a domain \(the one with domain\.yaml\), such as domains\/[\w-]+/],
  [
    ['run', 'domains/order-desk', 'lamp-variant', '--agent', 'agents/x.agent.yaml'],
    /"agents\/x\.agent\.yaml" is not a seat .*Did you mean "agent:agents\/x\.agent\.yaml"\?/,
  ],
])('%j has a message that helps', async (argv, message) => {
  expect((await rehearsal(...argv)).err).toMatch(message);
});

test.each([
  ['run', 'library-desk', ['lost-bread'], '1 of 1 task', '`script`: lost-bread. Write the turns, or choose'],
  [
    'eval',
    'order-desk',
    ['--tasks', 'lamp-variant,wrong-card'],
    '1 of 2 tasks',
    '`script`: wrong-card. Write the turns, choose tasks that have it (lamp-variant), or choose another seat',
  ],
  ['debug', 'library-desk', ['lost-bread'], '1 of 1 task', '`script`: lost-bread. Write the turns, or choose'],
])('%s refuses tasks without a script for the scripted agent', async (command, domain, rest, count, message) => {
  const out = join(mkdtempSync(join(scratch, 'run-')), 'run');
  const argv = [command, `domains/${domain}`, ...rest, '--agent', 'scripted', '--out', out];
  const { code, err } = await rehearsal(...argv);
  expect([code, err]).toEqual([2, expect.stringContaining(message)]);
  expect(err).toContain(`the scripted agent cannot play ${count}, because they have no`);
  expect(existsSync(out)).toBe(false);
});

test('a wrong path or a missing name has a message that names the right one', async () => {
  const folder = mkdtempSync(join(scratch, 'desk-'));
  cpSync('domains/order-desk', folder, { recursive: true });
  const run = join(folder, '.rehearsal', 'runs', '20260101-000000-desk');
  await rehearsal('run', folder, 'lamp-variant', '--agent', 'scripted', '--out', run);
  const recording = join(run, 'lamp-variant.0.traj.jsonl');
  writeFileSync(join(run, 'lamp-variant.0.fork-1.traj.jsonl'), readFileSync(recording));
  const meant = /there is no such recording .*Did you mean "\S*lamp-variant\.0\.traj\.jsonl"\?/;
  for (const name of ['lamp-varient.0.traj.jsonl', 'lamp-variant.0.jsonl', 'lamp-variant.0'])
    expect((await rehearsal('debug', join(run, name))).err).toMatch(meant);
  expect((await rehearsal('compare', recording, join(run, 'lamp-varint.0.traj.jsonl'))).err).toMatch(meant);
  const said = async (...argv: readonly string[]) => (await rehearsal(...argv)).err;
  expect(await said('report', recording)).toContain(`is a recording. Name the folder of its run: ${run}`);
  expect(await said('debug', run)).toContain(`name one of its recordings: ${recording}`);
  expect(await said('explain', folder)).toMatch(/Its runs are in \S+; the newest is 20260101-000000-desk/);
  expect(await said('report', run, '--html', join(folder, 'none/x.html'))).toMatch(/the folder \S+none does not exist/);
  expect(await said('new', join(folder, 'new'))).toMatch(
    /--template NAME \(.*support-desk.*\), --sample NAME \(.*order-desk/,
  );
});

test('in the folder of a domain, a command without an argument names it', async () => {
  const { err } = await rehearsalIn('domains/order-desk', 'check');
  expect(err).toContain('For the domain in this folder, name "."');
});

test('a run that is cancelled before it begins says so', async () => {
  const out = join(mkdtempSync(join(scratch, 'run-')), 'run');
  const { code, err } = await rehearsalUntil(
    AbortSignal.abort(),
    'run',
    'domains/library-desk',
    'lost-bread',
    '--out',
    out,
  );
  expect([code, err]).toEqual([2, 'cancelled before the rollout began\n']);
});
