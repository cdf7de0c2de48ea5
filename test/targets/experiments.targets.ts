import { execFile } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { inRoot } from '../../scripts/repository.ts';
import { commandLine } from '../support/commandLine.ts';
import { linesOf } from '../support/jsonLines.ts';
import { modelServer } from '../support/modelServer.ts';
import { temporaryFolder } from '../support/temporary.ts';

const scratch = temporaryFolder('rehearsal-experiments');
/** Runs the command line in a separate process, as the engine does. Rejects with its output if it fails. */
const rehearsal = (...args: readonly string[]) =>
  promisify(execFile)(process.execPath, ['--no-warnings', commandLine, ...args], { cwd: scratch });

type Line = Readonly<Record<string, unknown>>;

/** Settings that reduce a paper's experiment to a model of a few layers, one step and a short answer. */
const small = {
  sft: { recordings: ['balanced-synthesis'], steps: 1, batch: 2, context: 8192 },
  grpo: { steps: 1, tasks_per_step: 1, turn_cap: 2, context: 8192 },
  evaluate: { trials: 1, greedy_trials: 0, turn_cap: 1, context: 8192 },
};

test('every arm of the experiments that the paper leaves open is trained and evaluated', async () => {
  const user = await modelServer(() => 'Please go on.');
  const written = readFileSync(inRoot('docs', 'examples', 'experiments', 'mua-rl.experiment.yaml'), 'utf8');
  const replaced = [
    ['../../../domains', inRoot('domains')],
    ['http://127.0.0.1:8001/v1', user.url],
    ['Qwen/Qwen3-8B', 'tiny'],
  ] as const;
  for (const [text] of replaced) expect(written).toContain(text);
  const recipe = parse(replaced.reduce((text, [from, to]) => text.replaceAll(from, to), written));
  const file = join(scratch, 'small.experiment.yaml');
  writeFileSync(file, stringify({ ...recipe, ...small, seeds: [1] }));
  const synthesized = async (name: string, ...domains: readonly string[]) => {
    const folders = domains.map((domain) => inRoot('domains', domain));
    await rehearsal('synth', ...folders, '--count', '4', '--out', join(scratch, name));
  };
  await synthesized('balanced-synthesis', 'order-desk', 'parcel-desk');
  await synthesized('order-desk-synthesis', 'order-desk');

  const out = join(scratch, 'out');
  await rehearsal('experiment', file, '--out', out);

  const result = JSON.parse(readFileSync(join(out, 'result.json'), 'utf8'));
  const arms: readonly Line[] = result.arms;
  expect(arms.map(({ arm, notScored }) => [arm, notScored])).toEqual(Object.keys(recipe.arms).map((arm) => [arm, 0]));
  const comparisons: readonly Line[] = result.comparisons;
  expect(comparisons.map(({ from, to }) => [from, to])).toEqual(recipe.compare);

  const plan: readonly Line[] = JSON.parse(
    (await rehearsal('experiment', file, '--out', out, '--plan', '--json')).stdout,
  );
  const stageOf = (arm: string, kind: string) => {
    const stage = plan.find((each) => each['kind'] === kind && (each['arms'] as string[]).includes(arm));
    return join(out, 'runs', String(stage?.['name']));
  };
  const begunWith = (arm: string): string =>
    JSON.parse(readFileSync(join(stageOf(arm, 'grpo'), 'config.json'), 'utf8')).model;
  expect(begunWith('no-cold-start')).toBe('tiny');
  for (const arm of ['whole', 'small-user', 'intermediate'])
    expect(begunWith(arm)).toBe(join(stageOf(arm, 'sft'), 'checkpoints', 'final'));
  // Training uses another user simulator than the evaluation. The user's messages show which one was asked.
  const saidBy = (run: string) =>
    readdirSync(join(run, 'trajectories'), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.traj.jsonl'))
      .map((name) => readFileSync(join(run, 'trajectories', name), 'utf8').includes('Please go on.'));
  expect(new Set(saidBy(stageOf('small-user', 'grpo')))).toEqual(new Set([true]));
  expect(new Set(saidBy(stageOf('small-user', 'evaluate')))).toEqual(new Set([false]));
  const [trained] = linesOf(join(stageOf('intermediate', 'grpo'), 'metrics.jsonl'));
  expect(Number(trained?.['trained_reward'])).toBeGreaterThan(Number(trained?.['reward']));
  // A domain that no arm was trained on.
  const tasksOf = (arm: string) =>
    new Set(
      linesOf(join(stageOf(arm, 'evaluate'), 'trajectories', 'sampled', 'rollouts.jsonl')).map(({ task }) => task),
    );
  expect(tasksOf('balanced-unseen')).toEqual(tasksOf('one-domain-unseen'));
  expect(tasksOf('balanced-unseen').isDisjointFrom(tasksOf('whole'))).toBe(true);
});
