import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type Answer, completion, endpoint } from '../support/endpoint.ts';
import { inFullSuite, sampled } from '../support/suite.ts';
import { temporaryFolder } from '../support/temporary.ts';
import { rehearsal } from '../support/terminal.ts';

const fails: Answer = { status: 500, body: { error: { message: 'the GPU is on fire' } } };
const asks = completion({ content: 'Which parcel is it?' });

/** Runs the evaluation of two rollouts with an endpoint that fails these requests. */
async function evaluation(isFailing: (request: number) => boolean) {
  let asked = 0;
  const url = await endpoint((request) => {
    asked += 1;
    return isFailing(request) ? fails : asks;
  });
  const run = join(temporaryFolder('lost'), 'run');
  const evaluate = (...more: readonly string[]) =>
    rehearsal(
      ...['eval', 'domains/parcel-desk', '--tasks', 'reschedule-P46', '--trials', '2', '--concurrency', '1'],
      ...['--agent', `openai:m@${url}`, '--turn-cap', '3', '--out', run, ...more],
    );
  return { run, evaluate, asked: () => asked };
}

test('a rollout that infrastructure ended is rerun by the same command, without paying for an answer twice', async () => {
  const { run, evaluate, asked } = await evaluation((request) => request === 4);
  const first = await evaluate();
  expect(first).toMatchObject({
    code: 2,
    err: expect.stringMatching(/1 of 2 rollouts could not be run: .*on fire.*\nRun it again with --out /),
  });
  expect(first.out).toContain('1 scored of 2');
  expect(asked()).toBe(5);
  const again = await evaluate();
  expect(again).toMatchObject({ code: 0, err: expect.stringContaining('1 of 2 rollouts already finished') });
  expect(again.out).toContain('2 scored of 2');
  expect(asked()).toBe(7);
  expect(await rehearsal('verify', run)).toMatchObject({ code: 0, out: '2 recordings verified\n' });
  expect((await evaluate()).err).toContain('2 of 2 rollouts already finished');
  expect(asked()).toBe(7);
});

inFullSuite('a rollout that is run again and interrupted is unfinished, and the same command finishes it', async () => {
  const { run, evaluate } = await evaluation((request) => request === 4);
  await evaluate();
  expect(await evaluate('--budget-tokens', '1')).toMatchObject({ code: 2, err: expect.stringContaining('budget') });
  const { out } = await rehearsal('verify', run);
  expect(out).toContain('reschedule-P46.1');
  expect(out).not.toMatch(/cut off|rewritten|missing/);
  expect((await evaluate()).out).toContain('2 scored of 2');
  expect(await rehearsal('verify', run)).toMatchObject({ code: 0, out: '2 recordings verified\n' });
});

test.each(
  sampled(
    [
      { failures: 2, times: 1, scored: 1 },
      { failures: 2, times: 3, scored: 2 },
    ],
    2,
  ),
)(
  'after $failures failures --retry-unscored $times leaves $scored of 2 scored',
  async ({ failures, times, scored }) => {
    const { run, evaluate } = await evaluation((request) => request >= 4 && request < 4 + failures);
    const { code, out } = await evaluate('--retry-unscored', String(times));
    expect(out).toContain(`${scored} scored of 2`);
    expect(code).toBe(scored === 2 ? 0 : 2);
    expect((await rehearsal('verify', run)).code).toBe(0);
  },
);

test('a rollout whose recording cannot be written ends alone, and the command says which and why', async () => {
  let isDown = true;
  const { run, evaluate } = await evaluation(() => isDown);
  await evaluate();
  isDown = false;
  const blocked = join(run, 'reschedule-P46.1.sidecar.jsonl');
  rmSync(blocked, { force: true });
  mkdirSync(blocked);
  const { code, out, err } = await evaluate('--json', '--stream');
  expect(code).toBe(2);
  expect(err).toMatch(/1 of 2 rollouts could not be run: .*reschedule-P46\.1\.sidecar\.jsonl/);
  const lines = out.trim().split('\n');
  const outcomes = lines.flatMap((line) => {
    const { type, outcome } = JSON.parse(line);
    return type === 'rolloutFinished' ? [[outcome.trial, outcome.result]] : [];
  });
  expect(outcomes).toEqual([
    [0, 'failed'],
    [1, 'errored'],
  ]);
  rmSync(blocked, { recursive: true });
  expect((await evaluate()).code).toBe(0);
});

test('a rollout whose judge fails is judged again by the same command, and not played again', async () => {
  let isDown = true;
  const verdict = completion({ content: '{"holds": true, "reason": "it asked"}' });
  const judge = await endpoint(() => (isDown ? fails : verdict));
  const folder = temporaryFolder('unjudged');
  const [domain, run] = [join(folder, 'parcel-desk'), join(folder, 'run')];
  cpSync('domains/parcel-desk', domain, { recursive: true });
  const tasks = join(domain, 'tasks', 'test.task.yaml');
  const task = '- id: reschedule-P46\n';
  const judged = `${task}  judge: [The agent asked for the parcel.]\n  evaluate: [database, judge]\n`;
  writeFileSync(tasks, readFileSync(tasks, 'utf8').replace(task, judged));
  const evaluate = () =>
    rehearsal('eval', domain, '--tasks', 'reschedule-P46', '--judge', `openai:m@${judge}`, '--out', run);
  const times = () => readFileSync(join(run, 'reschedule-P46.0.sidecar.jsonl'), 'utf8').split('\n').slice(0, 8);
  expect(await evaluate()).toMatchObject({
    code: 2,
    err: expect.stringMatching(/1 of 1 rollout could not be run: .*on fire/),
  });
  expect((await rehearsal('verify', run)).out).toContain('1 recording verified');
  const played = times();
  isDown = false;
  expect(await evaluate()).toMatchObject({ code: 0, out: expect.stringContaining('1 scored of 1') });
  expect(times()).toEqual(played);
  expect(await rehearsal('verify', run)).toMatchObject({ code: 0, out: '1 recording verified\n' });
});
