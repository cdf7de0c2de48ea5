import { chmodSync, cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { inRoot } from '../../scripts/repository.ts';
import { readExperiment } from '../../src/cli/experiment/experimentFile.ts';
import { planOf } from '../../src/engine/core/evaluation/experiment.ts';
import { inFullSuite } from '../support/suite.ts';
import { temporaryFolder } from '../support/temporary.ts';
import { rehearsal, rehearsalIn } from '../support/terminal.ts';

const folder = temporaryFolder('rehearsal-experiment');
/** parcel-desk with a few tasks, to keep the rollouts before training short. */
const desk = join(folder, 'parcel-desk');
cpSync(inRoot('domains', 'parcel-desk'), desk, { recursive: true });
for (const split of ['train', 'test']) {
  const path = join(desk, 'tasks', `${split}.task.yaml`);
  const tasks = readFileSync(path, 'utf8').split(/^(?=- id:)/m);
  writeFileSync(path, tasks.slice(0, 6).join(''));
}

function written(text: string, name = 'a'): string {
  const path = join(folder, `${name}.experiment.yaml`);
  writeFileSync(path, text);
  return path;
}

test.each([
  ['no arms', 'model: tiny\n', /:1:1 error experiment\/[a-z-]+ arms is missing\./],
  [
    'an empty list of arms',
    'arms: {}\n',
    /:1:7 error experiment\/[a-z-]+ arms is .*an experiment has one arm at least/,
  ],
  [
    'an unknown key',
    'arms: { a: {} }\nseed: 1\n',
    /:2:1 error experiment\/[a-z-]+ The key seed is not known here.*Did you mean "seeds"/,
  ],
  [
    'a key no trainer has',
    'arms:\n  a: { grpo: { step: 1 } }\n',
    /:2:16 error experiment\/[a-z-]+ The key step is not known to grpo\..*steps/,
  ],
  [
    'a seed of one arm',
    'arms:\n  a: { sft: { seed: 1 } }\n',
    /The key seed can appear only once, for the whole experiment/,
  ],
  ['a name with a space', 'arms:\n  a b: {}\n', /:2:3 error .*the name of an arm has letters, digits/],
  [
    'a pair with an unknown arm',
    'arms: { a: {} }\ncompare: [[a, b]]\n',
    /:2:15 error experiment\/[a-z-]+ There is no arm b\..*The arms are a\./,
  ],
  ['a seed that is not a number', 'arms: { a: {} }\nseeds: [one]\n', /:2:9 error experiment\/[a-z-]+ .*one/],
  ['a seed that appears twice', 'arms: { a: {} }\nseeds: [1, 1]\n', /:2:8 error .*a seed appears twice/],
  ['an arm against itself', 'arms: { a: {} }\ncompare: [[a, a]]\n', /:2:11 error .*a pair of two arms is expected/],
  ['no pairs', 'arms: { a: {}, b: {} }\ncompare: [a, b]\n', /:2:11 error .*compare\[0\] is "a"/],
  ['no YAML', 'arms: [\n', /experiment\/syntax/],
])('%s is refused with its line', (_, text, message) => {
  expect(() => readExperiment(written(text), folder)).toThrow(message);
});

test('a stage may say where a Ray cluster keeps its run, and how many machines it takes', () => {
  const grpo = { nodes: 2, storage: '/shared/runs' };
  const text = `domain: .\narms:\n  a: { grpo: ${JSON.stringify(grpo)} }\n`;
  expect(readExperiment(written(text), folder).experiment.arms).toEqual({ a: { grpo } });
});

test('a file that is not there is named, and a command without one says so', async () => {
  expect(() => readExperiment('none.experiment.yaml', folder)).toThrow(/none\.experiment\.yaml does not exist/);
  expect(await rehearsal('experiment')).toMatchObject({ code: 2, err: expect.stringMatching(/say which experiment/) });
});

describe.skipIf(process.platform === 'win32')('with a stand-in for the trainer', () => {
  const python = join(folder, 'python');
  const program = join(folder, 'trainer.cjs');
  // Trains nothing: reports its start and end, leaves a checkpoint that names all of its inputs, and succeeds at one
  // task for each earlier stage of training.
  writeFileSync(
    program,
    `
const fs = require('node:fs');
const [kind] = process.argv.slice(2);
const config = JSON.parse(fs.readFileSync('launch.json', 'utf8'));
fs.writeFileSync('config.json', JSON.stringify({ kind }));
const say = (type) => fs.appendFileSync('events.jsonl', JSON.stringify({ type }) + '\\n');
say(process.argv.includes('--resume') ? 'resumed' : 'started');
const before = fs.existsSync(config.model + '/stages') ? fs.readFileSync(config.model + '/stages', 'utf8') : '';
if (kind === 'evaluate') {
  if (before === 'sft,' && fs.existsSync('${folder}/cut')) { fs.rmSync('${folder}/cut'); process.exit(1); }
  fs.mkdirSync('trajectories/sampled', { recursive: true });
  const right = before.split(',').length - 1;
  const rows = ['a', 'b', 'c'].map((task, at) => JSON.stringify({ task, reward: at < right ? 1 : 0, calls: {} }));
  fs.writeFileSync('trajectories/sampled/rollouts.jsonl', rows.join('\\n') + '\\n');
} else {
  if (kind === 'grpo' && fs.existsSync('${folder}/broken')) { console.error('no memory is left'); process.exit(1); }
  fs.mkdirSync('checkpoints/final', { recursive: true });
  fs.writeFileSync('checkpoints/final/stages', before + kind + ',');
}
say('finished');
`,
  );
  writeFileSync(
    python,
    `#!/bin/sh
case "$1$2" in *setup_environment.py*) echo '{"python": "${python}"}'; exit ;; esac
case "$*" in
  *--check*) echo '{"disk": 0, "free": 1}'; exit ;;
  -c*) exit ;;
esac
shift 3
exec "${process.execPath}" "${program}" "$@"
`,
  );
  chmodSync(python, 0o755);

  const file = written(
    `domain: ${desk}
model: tiny
sft: { trials: 1 }
arms:
  base: {}
  sft: { sft: {} }
  sft+grpo: { sft: {}, grpo: {} }
compare: [[sft, sft+grpo]]
`,
    'whole',
  );

  inFullSuite('every stage is run once, and the arms are set against each other', async () => {
    const out = join(folder, 'whole');
    const run = await rehearsal('experiment', file, '--out', out, '--python', python);
    expect(run).toMatchObject({ code: 0 });
    expect(run.out).toMatch(/base +0\.0 .*\n +sft +33\.3 .*\n +sft\+grpo +66\.7 /);
    expect(run.out).toMatch(
      /sft\+grpo against sft: \+0\.333 \(95 % 0\.000 to \+1\.000\), better on 1 and worse on 0 of 3/,
    );
    expect(readdirSync(join(out, 'runs')).length).toBe(5);
    const again = await rehearsal('experiment', file, '--out', out, '--python', python, '--json');
    expect(again.err).toBe('');
    expect(JSON.parse(again.out)).toEqual(JSON.parse(readFileSync(join(out, 'result.json'), 'utf8')));
  });

  inFullSuite('without a folder it lies by its name, and its runs beside the others', async () => {
    const work = join(folder, 'work');
    mkdirSync(work);
    const first = await rehearsalIn(work, 'experiment', file, '--python', python);
    expect(first).toMatchObject({ code: 0 });
    expect(readdirSync(join(work, '.rehearsal', 'training')).length).toBe(5);
    const again = await rehearsalIn(work, 'experiment', file);
    expect(again).toMatchObject({ code: 0, out: first.out, err: '' });
    expect(existsSync(join(work, '.rehearsal', 'experiments', 'whole', 'result.txt'))).toBe(true);
  });

  inFullSuite('a missing input of a later stage is reported before the first stage runs', async () => {
    const late = written(`domain: ${desk}\nmodel: tiny\narms: { a: {}, b: { sft: { recordings: [none] } } }\n`, 'late');
    const out = join(folder, 'late');
    const { code, err } = await rehearsal('experiment', late, '--out', out, '--python', python);
    expect({ code, err }).toEqual({ code: 2, err: expect.stringMatching(/none: there are no recordings/) });
    expect(existsSync(join(out, 'runs'))).toBe(false);
  });

  inFullSuite(
    'a training run that the trainer rejects is reported with its line in the experiment and leaves no files',
    async () => {
      const own = join(folder, 'refusing');
      writeFileSync(
        own,
        `#!/bin/sh
case "$1$2" in *setup_environment.py*) echo '{"python": "${own}"}'; exit ;; esac
case "$*" in *--check*) cat > /dev/null; echo 'error: steps: expected integer | null, found "many"' >&2; exit 2 ;; esac
`,
        { mode: 0o755 },
      );
      const wrong = written(`domain: ${desk}\nmodel: tiny\narms:\n  a:\n    grpo: { steps: many }\n`, 'wrong');
      const out = join(folder, 'wrong');
      const { code, err } = await rehearsal('experiment', wrong, '--out', out, '--python', own);
      expect({ code, err }).toEqual({
        code: 2,
        err: expect.stringMatching(/wrong\.experiment\.yaml:5: steps: expected integer/),
      });
      expect(existsSync(join(out, 'experiment.json'))).toBe(false);
      const { placed } = readExperiment(wrong, folder);
      const [stage] = planOf(readExperiment(wrong, folder).experiment).stages;
      expect(stage && placed(stage, 'model: there is no such model')).toBe(`${wrong}:2: model: there is no such model`);
      expect(stage && placed(stage, 'there is no memory')).toBe('there is no memory');
    },
  );

  inFullSuite('a folder of another experiment, and files that were changed, are refused by their name', async () => {
    const out = join(folder, 'mixed');
    await rehearsal('experiment', file, '--out', out, '--python', python);
    const other = written(`domain: ${desk}\nmodel: tiny\narms: { a: {} }\n`, 'other');
    const mixed = await rehearsal('experiment', other, '--out', out, '--python', python);
    expect(mixed.err).toMatch(/mixed is of the experiment .*whole\.experiment\.yaml; name another folder with --out/);
    const stage = readdirSync(join(out, 'runs')).find((name) => name.startsWith('evaluate')) ?? '';
    const rows = join(out, 'runs', stage, 'trajectories', 'sampled', 'rollouts.jsonl');
    writeFileSync(rows, '{"task": "a", "reward": "x"}\n');
    expect((await rehearsal('experiment', file, '--out', out)).err).toMatch(
      /rollouts\.jsonl:1: no rollout of an evaluation/,
    );
    writeFileSync(rows, '');
    expect((await rehearsal('experiment', file, '--out', out)).err).toMatch(/the evaluation has no rollouts/);
    writeFileSync(join(out, 'experiment.json'), '{');
    expect((await rehearsal('experiment', file, '--out', out)).err).toMatch(
      /experiment\.json was changed after Rehearsal wrote it/,
    );
  });

  inFullSuite('one that was ended resumes with the unfinished stage', async () => {
    const out = join(folder, 'broken-once');
    writeFileSync(join(folder, 'broken'), '');
    const first = await rehearsal('experiment', file, '--out', out, '--python', python);
    expect(first).toMatchObject({ code: 2, err: expect.stringMatching(/no memory is left/) });
    expect(existsSync(join(out, 'result.json'))).toBe(false);
    const plan = await rehearsal('experiment', file, '--out', out, '--plan');
    expect(plan.out).toMatch(
      /evaluate-seed1-\w+ \(sft\) after .*: finished\ngrpo-seed1-\w+ \(sft\+grpo\) after .*: unfinished\n/,
    );
    rmSync(join(folder, 'broken'));
    const second = await rehearsal('experiment', file, '--out', out, '--python', python);
    expect(second).toMatchObject({ code: 0, out: expect.stringMatching(/66\.7/) });
    expect(second.err).not.toMatch(/: sft-seed1/);
  });

  inFullSuite('an interrupted evaluation resumes with the trials that have no recording', async () => {
    const out = join(folder, 'cut-once');
    writeFileSync(join(folder, 'cut'), '');
    expect((await rehearsal('experiment', file, '--out', out, '--python', python)).code).toBe(2);
    const second = await rehearsal('experiment', file, '--out', out, '--python', python);
    expect(second).toMatchObject({ code: 0, out: expect.stringMatching(/66\.7/) });
    const begun = readdirSync(join(out, 'runs')).filter((run) =>
      readFileSync(join(out, 'runs', run, 'events.jsonl'), 'utf8').includes('"resumed"'),
    );
    expect(begun).toEqual([expect.stringMatching(/^evaluate-seed1/)]);
  });
});
