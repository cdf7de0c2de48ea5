import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { inRoot } from '../../../scripts/repository.ts';
import { planFor, withProfile } from '../../../src/cli/targets/gpus.ts';
import { needsOf } from '../../../src/cli/targets/needs.ts';
import type { Launch } from '../../../src/cli/targets/target.ts';
import { evaluationText } from '../../../src/cli/training/plannedRollouts.ts';
import { expectedOf, planText } from '../../../src/cli/training/trainingPlan.ts';
import type { TrainingKind } from '../../../src/engine/core/domain/trainingKind.ts';
import { loadDomain } from '../../../src/engine/shell/domain/loadDomain.ts';
import { firstModelOf } from '../../../src/engine/shell/records/trainingRun.ts';
import { temporaryFolder } from '../../support/temporary.ts';

const launchOf = (config: Launch['config'], run = '/w/runs/now'): Launch => {
  return { kind: 'sft', run, config, isResumed: false, isDetached: false, python: undefined, disk: undefined };
};

/** A checkpoint of a run that began with a model. */
function checkpointOf(model: string): string {
  const run = temporaryFolder('checkpoint');
  writeFileSync(join(run, 'config.json'), JSON.stringify({ kind: 'sft', model }));
  return join(run, 'checkpoints', 'final');
}

test('a checkpoint of a checkpoint began with the model of the first run', () => {
  expect(firstModelOf(checkpointOf(checkpointOf('tiny')))).toBe('tiny');
  const other = join(temporaryFolder('other'), 'checkpoints', 'final');
  for (const model of ['smollm2', 'org/model', other]) expect(firstModelOf(model)).toBe(model);
});

test('checkpoints whose configurations name each other have no first model', () => {
  const [one, other] = [temporaryFolder('one'), temporaryFolder('other')];
  const final = (run: string) => join(run, 'checkpoints', 'final');
  writeFileSync(join(one, 'config.json'), JSON.stringify({ model: final(other) }));
  writeFileSync(join(other, 'config.json'), JSON.stringify({ model: final(one) }));
  expect(firstModelOf(final(one))).toBe(final(one));
});

const h100 = [{ name: 'NVIDIA H100', driver: '580.1' }];

test.each([
  ['a GPU', { model: 'q' }, h100, 'gpu', 'The machine has a GPU (NVIDIA H100).'],
  ['no GPU', { model: 'q' }, 'nvidia-smi is not there', 'cpu', 'No NVIDIA GPU is visible (nvidia-smi is not there).'],
  ['an empty list', { model: 'q' }, [], 'cpu', 'No NVIDIA GPU is visible.'],
  [
    'an old driver',
    { model: 'q' },
    [{ name: 'NVIDIA H200', driver: '535.104.05' }],
    'cpu',
    'The driver 535.104.05 of NVIDIA H200 is older than 580.',
  ],
  ['a named profile', { model: 'q', profile: 'paper' }, [], 'paper', 'You or the configuration chose it.'],
  ['the tiny model', { model: 'tiny', profile: 'trial' }, h100, 'trial', 'The model is tiny.'],
  [
    'a checkpoint of the tiny model',
    { model: checkpointOf('tiny'), profile: 'trial' },
    h100,
    'trial',
    'The model is a checkpoint of tiny.',
  ],
] as const)('%s decides the profile', (_case, config, gpus, profile, reason) => {
  const found = withProfile(launchOf(config), gpus);
  expect({ profile: found.launch.config['profile'], reason: found.reason }).toEqual({ profile, reason });
});

test('the time comes from earlier runs with the same kind, model and profile', () => {
  const root = temporaryFolder('plan');
  const earlier = (name: string, config: object, seconds: readonly number[]) => {
    mkdirSync(join(root, name));
    writeFileSync(join(root, name, 'config.json'), JSON.stringify(config));
    const lines = seconds.map((step_seconds, step) => `${JSON.stringify({ step, step_seconds })}\n`);
    writeFileSync(join(root, name, 'metrics.jsonl'), `${lines.join('')}{"step_sec`);
  };
  const alike = { kind: 'sft', model: 'm', profile: 'cpu' };
  earlier('one', alike, [10, 30, 20]);
  earlier('two', alike, [40]);
  earlier('three', alike, [60]);
  earlier('empty', alike, []);
  earlier('other-model', { ...alike, model: 'n' }, [1]);
  earlier('other-profile', { ...alike, profile: 'gpu' }, [1]);
  const launch = launchOf({ model: 'm', profile: 'cpu', steps: 9 }, join(root, 'now'));
  expect(expectedOf(launch)).toEqual({ model: 'm', steps: 9, secondsPerStep: 40, earlierRuns: 3 });
  expect(expectedOf(launchOf({ model: 'x', profile: 'cpu' }, join(root, 'now')))).toMatchObject({
    steps: 40,
    earlierRuns: 0,
  });
  const whole = launchOf({ model: 'x', profile: 'cpu', steps: null }, join(root, 'now'));
  expect(expectedOf(whole), 'null overrides the default, as in the trainer').not.toHaveProperty('steps');
});

test('the plan of an evaluation has weights and recordings only, and small memory in MiB', () => {
  const launch = launchOf({ model: 'tiny', profile: 'trial' });
  const needs = needsOf(
    '{"disk": 268435456, "free": 107374182400, "memory": {"needed": 11258464, "available": 25200000000}}',
  );
  const plan = { ...planFor('this machine', launch, [], 'x'), needs, model: 'tiny', earlierRuns: 0 };
  const text = planText({ ...plan, kind: 'evaluate', domains: ['d'], input: null, evaluation: null, leftOut: [] });
  expect(text).toContain('memory     11 MiB of 23.5 GiB for weights, without activations\n');
  expect(text).toContain('disk       0.3 GiB for recordings, 100.0 GiB free\n');
});

test('the plan counts the rollouts that evaluate the model', () => {
  const domain = (name: string) => ({ loaded: loadDomain(inRoot('domains', name), { soundness: false }), said: {} });
  const request = { domains: [domain('parcel-desk')], heldOut: [], file: null, ofFile: {} } as const;
  const text = (kind: TrainingKind, config: object) => evaluationText({ ...request, kind }, { ...config });
  const tasks = request.domains[0].loaded.tasks.filter(({ split }) => split === 'test').length;
  expect(text('grpo', { profile: 'cpu' })).toBe(
    `${tasks} rollouts before the first optimizer step, after every 10 steps and after the last: ${tasks} tasks of the split test, 1 trial each`,
  );
  expect(text('evaluate', { profile: 'cpu', trials: 2, greedy_trials: 1 })).toBe(
    `${3 * tasks} rollouts: ${tasks} tasks of the split test, 2 trials each at temperature 1 and 1 greedy`,
  );
  expect([text('grpo', { profile: 'trial' }), text('sft', { profile: 'cpu' })]).toEqual([null, null]);
});

test('a plan names the domain, the input, the device, the profile and why, memory, disk, downloads and time', () => {
  const launch = launchOf({ model: 'org/model', profile: 'gpu' });
  const needs = needsOf(
    'a library prints\n{"disk": 3221225472, "free": 107374182400, "memory": {"needed": 9663676416, "available": 85899345920, "vllm": 34359738368}, "parameters": 596049920, "chat": "compact, because x", "download": 1192135096}\n',
  );
  const plan = { ...planFor('this machine', launch, h100, 'The machine has a GPU (NVIDIA H100).'), needs };
  const learnedFrom = {
    kind: 'sft',
    domains: ['parcel-desk'],
    input: 'recordings in /w/synth',
    evaluation: '2 rollouts',
    leftOut: [],
  } as const;
  expect(planText({ ...plan, ...learnedFrom, model: 'org/model', steps: 40, secondsPerStep: 12, earlierRuns: 2 })).toBe(
    `\
domain     parcel-desk
input      recordings in /w/synth
evaluate   2 rollouts
target     this machine (NVIDIA H100)
profile    gpu. The machine has a GPU (NVIDIA H100).
model      org/model, 596 million parameters
dialect    compact, because x
memory     9.0 GiB of 80.0 GiB for weights, gradients and optimizer, without activations; vLLM may take 32.0 GiB while it samples
disk       3.0 GiB to write, 100.0 GiB free
downloads  the weights of org/model: about 1192 MB
time       about 8 min for 40 steps (12.0 s per optimizer step, the median of 2 earlier runs)
`,
  );
  const environment = [{ what: "the trainer's Python environment", bytes: 617e6 }];
  expect(
    planText({ ...planFor('lab', launch, [], 'x'), downloads: environment, model: 'm', steps: 40, earlierRuns: 0 }),
  ).toContain(`\
memory     known once the trainer is installed on lab
disk       checked before training, once the trainer is installed on lab
downloads  the trainer's Python environment: about 617 MB
time       not known for 40 optimizer steps, because no earlier run has this kind, model and profile
`);
});
