import { createHash } from 'node:crypto';
import { appendFileSync, cpSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { approveDomain } from '../support/approval.ts';
import { fileOf, linesOf as linesIn, rechained } from '../support/recordLines.ts';
import { oneOfEachKind } from '../support/suite.ts';
import { temporaryFolder } from '../support/temporary.ts';
import { rehearsal } from '../support/terminal.ts';

/** An attacker changes a verdict or a reward in a recording, and computes its hash chain again. */

const root = temporaryFolder('rehearsal-verdicts');
const domain = 'domains/order-desk';
const recording = join(root, 'lamp-variant.0.traj.jsonl');

beforeAll(async () => {
  const run = await rehearsal('run', domain, 'lamp-variant', '--agent', 'gold', '--out', root);
  expect(run).toMatchObject({ code: 0 });
});

type Line = { n: number; event: { type: string; [key: string]: unknown }; state: string };

const sha = (text: string) => createHash('sha256').update(text).digest('hex');

/** Writes lines with a valid hash chain. */
function written(lines: readonly Line[]): string {
  let head = '0'.repeat(64);
  const texts = lines.map(({ event, state }, n) => {
    const text = JSON.stringify({ n, event, state });
    head = sha(head + text);
    return `${text.slice(0, -1)},"chain":"${head}"}\n`;
  });
  const path = join(root, 'tampered.traj.jsonl');
  writeFileSync(path, texts.join(''));
  return path;
}

const linesOf = (): Line[] =>
  readFileSync(recording, 'utf8')
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line));

/** Changes the text of the first event of a type. */
const retold =
  (type: string, from: RegExp, to: string) =>
  (lines: readonly Line[]): readonly Line[] => {
    const at = lines.findIndex(({ event }) => event.type === type && from.test(JSON.stringify(event)));
    const line = lines[at];
    if (!line) throw new Error(`no ${type} has ${from}`);
    return lines.with(at, { ...line, event: JSON.parse(JSON.stringify(line.event).replace(from, to)) });
  };

const dropped = (type: string) => (lines: readonly Line[]) => {
  const at = lines.findIndex(({ event }) => event.type === type);
  return lines.toSpliced(at, 1);
};

const repeated = (type: string) => (lines: readonly Line[]) => {
  const at = lines.findIndex(({ event }) => event.type === type);
  return lines.toSpliced(at, 0, ...lines.slice(at, at + 1));
};

test('a whole recording has every state, verdict and reward as recorded', async () => {
  expect(await rehearsal('replay', recording, '--quiet')).toMatchObject({
    code: 0,
    out: expect.stringMatching(/^\d+ steps replayed, every state, verdict and reward as recorded\n$/),
  });
});

/** Each change with its kind: the type of the event, and the change to it. */
const tamperings = [
  [
    'rewarded',
    'the reward',
    retold('rewarded', /"reward":1/, '"reward":0'),
    /rewarded: reward is recorded as 0, recomputed as 1$/,
  ],
  [
    'rewarded',
    'no reward',
    retold('rewarded', /"reward":1/, '"reward":null'),
    /reward is recorded as null, recomputed as 1$/,
  ],
  ['rewarded', 'why it was rewarded', retold('rewarded', /"reason":"/, '"reason":"no '), /reason is recorded as "no /],
  [
    'rewarded',
    'who failed',
    retold('rewarded', /"failedBy":null/, '"failedBy":"agent"'),
    /failedBy is recorded as "agent"/,
  ],
  [
    'card',
    'the report card',
    retold('rewarded', /"layer":"outcome","verdict":"held"/, '"layer":"outcome","verdict":"violated"'),
    /rewarded: card\[0\]\.verdict is recorded as "violated", recomputed as "held"$/,
  ],
  [
    'verdictReached',
    'the verdict of a verifier',
    retold('verdictReached', /"held":true/, '"held":false'),
    /verdictReached of \S+: verdict\.held is recorded as false, recomputed as true$/,
  ],
  [
    'rulesChecked',
    'the verdict of a rule',
    retold('rulesChecked', /"verdict":"held"/, '"verdict":"violated"'),
    /rulesChecked: verdicts\[\d+\]\.verdict is recorded as "violated", recomputed as "held"$/,
  ],
  [
    'dropped',
    'a dropped verdict',
    dropped('verdictReached'),
    /is recorded, recomputed is verdictReached|is recorded as/,
  ],
  ['dropped', 'a dropped check of rules', dropped('rulesChecked'), /is recorded, recomputed is rulesChecked$/],
  ['repeated', 'a repeated check of rules', repeated('rulesChecked'), /rulesChecked is recorded/],
  [
    'rolloutEnded',
    'why it ended',
    retold('rolloutEnded', /"userStopped"/, '"turnCap"'),
    /rolloutEnded: reason is recorded as "turnCap"/,
  ],
  [
    'toolCalled',
    'which call was made',
    retold('toolCalled', /"name":"/, '"name":"x'),
    /toolCalled: call\.name is recorded as "x/,
  ],
] as const;

const cases = oneOfEachKind<(typeof tamperings)[number]>(tamperings, ([kind]) => kind);
test.each(cases)('replay finds a recording with another value: %s: %s', async (_kind, _what, tamper, message) => {
  const path = written(tamper(linesOf()));
  const { code, out } = await rehearsal('replay', path, '--domain', domain, '--quiet');
  expect({ code, out }).toMatchObject({ code: 1, out: expect.stringContaining(`${path}:`) });
  expect(out.trim().split('\n')).toHaveLength(1);
  expect(out.trim()).toMatch(/:\d+: event \d+: /);
  expect(out.trim()).toMatch(message);
});

test('with --static nothing of the domain runs, and the states alone are compared', async () => {
  const path = written(retold('rewarded', /"reward":1/, '"reward":0')(linesOf()));
  expect(await rehearsal('replay', path, '--domain', domain, '--static', '--json')).toMatchObject({
    code: 0,
    out: expect.stringMatching(/"problems":\[\],"recomputed":false\}\n$/),
  });
});

test('a recording does not choose which programs start', async () => {
  const folder = join(root, 'with-server');
  cpSync(domain, folder, { recursive: true });
  const started = join(root, 'started');
  const server = `\nmcpServers:\n  files: { command: touch, args: [${started}], state: none }\n`;
  appendFileSync(join(folder, 'domain.yaml'), server);
  const path = written(linesOf());
  writeFileSync(join(root, 'run.json'), JSON.stringify({ domain: 'order-desk', folder }));
  expect(await rehearsal('replay', path, '--quiet')).toMatchObject({
    code: 2,
    err: expect.stringContaining(`Add --domain ${folder} to start them, or --static to compare the states only`),
  });
  expect(existsSync(started)).toBe(false);
  expect(await rehearsal('replay', path, '--static', '--quiet')).toMatchObject({ code: 0 });
  approveDomain(folder);
  expect((await rehearsal('replay', path, '--quiet', '--domain', folder)).code).toBe(2);
  expect(existsSync(started)).toBe(true);
});

test('a run whose recording was changed is reported as one that does not verify, and is not graded again', async () => {
  const run = join(temporaryFolder('rehearsal-tampered'), 'run');
  const tasks = 'reschedule-P46,reschedule-P50';
  const played = await rehearsal('eval', 'domains/parcel-desk', '--agent', 'gold', '--tasks', tasks, '--out', run);
  expect(played).toMatchObject({ code: 0 });
  const path = join(run, 'reschedule-P46.0.traj.jsonl');
  const changed = readFileSync(path, 'utf8').replace('"value":"Tuesday"', '"value":"Friday"');
  writeFileSync(path, fileOf(rechained(linesIn(Buffer.from(changed)))));
  const { out } = await rehearsal('report', run);
  expect(out).toContain(`this run does not verify (1 problem), so its results are not certain. List them with: `);
  const regraded = await rehearsal('regrade', run);
  expect(regraded).toMatchObject({ code: 1, out: expect.stringContaining('1 rollout graded again') });
  expect(regraded.out).toMatch(
    /^reschedule-P46 trial 0: .*was rewritten: its chain is intact but is not the one that/m,
  );
  const changedRun = readFileSync(join(run, 'run.json'), 'utf8').replace('"seed": "1"', '"seed": "2"');
  writeFileSync(join(run, 'run.json'), `${changedRun}\n`);
  expect(await rehearsal('regrade', run)).toMatchObject({
    code: 2,
    err: expect.stringMatching(
      /failed verification, so it is not scored again\. [\s\S]*run\.json:1: was changed after/,
    ),
  });
});
