import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { smallDomain } from '../../support/smallDomain.ts';
import { temporaryFolder } from '../../support/temporary.ts';
import { rehearsal, rehearsalIn } from '../../support/terminal.ts';

const here = temporaryFolder('rehearsal-named');

function runWith(path: string, ...made: readonly string[]): void {
  for (const folder of ['.', ...made]) mkdirSync(join(here, path, folder), { recursive: true });
  writeFileSync(join(here, path, 'launch.json'), '{}');
  writeFileSync(join(here, path, 'result.txt'), 'table\n');
}

runWith('sft', 'checkpoints/checkpoint-2', 'checkpoints/final');
runWith('begun');
runWith('.rehearsal/training/g2', 'checkpoints/checkpoint-4');

describe('a model that is not a model is refused before anything is asked', () => {
  const meant = 'is a training run. Did you mean its checkpoint';
  test.each([
    ['sft', `sft ${meant} ${join('sft', 'checkpoints', 'final')}?`],
    ['g2', `g2 ${meant} ${join('.rehearsal', 'training', 'g2', 'checkpoints', 'checkpoint-4')}?`],
    ['begun', 'begun is a training run, which has no checkpoint yet. Name a model'],
    [
      'tinny',
      'tinny: there is no such folder, and the trainer does not know a model of this name. Did you mean "tiny"?',
    ],
    ['smolm2', '. Did you mean "smollm2"?'],
  ])('%s', async (model, message) => {
    for (const args of [
      ['export-model', model, '--out', 'whole'],
      ['serve-model', model],
    ]) {
      const { code, err } = await rehearsalIn(here, ...args, '--python', '/nowhere/python');
      expect({ code, err }).toEqual({ code: 2, err: expect.stringContaining(`${message}\n`) });
    }
  });
});

test('report names what shows a training run', async () => {
  const { code, err } = await rehearsalIn(here, 'report', 'sft');
  expect({ code, err }).toEqual({
    code: 2,
    err: `rehearsal report: sft is a training run. To see what it did: npx rehearsal train follow sft. To see it next to another one: npx rehearsal compare sft OTHER_RUN, or read ${join('sft', 'result.txt')}\n`,
  });
});

describe('a domain without tasks to play is refused before anything is written', () => {
  const task = (split: string) => `id: one\nsplit: ${split}\npersona: plain\nuser: { goal: Greet. }\nactions: []\n`;
  test.each([
    ['grpo', 'test', [], 'train. Write "split: train" in a task, or choose other tasks with --set split=test'],
    ['evaluate', 'train', [], 'test. Write "split: test" in a task, or choose other tasks with --set split=train'],
    [
      'sft',
      'train',
      ['--set', 'evaluate_every=2', '--recordings', here],
      'test. Write "split: test" in a task, or choose other tasks with --set evaluate_split=train',
    ],
  ] as const)('%s with tasks of the split %s', async (kind, split, more, words) => {
    const domain = smallDomain({}, task(split));
    const run = join(here, 'run');
    for (const plan of [['--plan'], []]) {
      const args = ['--out', run, '--python', '/nowhere/python', ...more, ...plan];
      const { code, err } = await rehearsal('train', kind, domain, ...args);
      expect({ code, err }).toEqual({
        code: 2,
        err: `rehearsal train: ${domain} has no task in the split ${words}\n`,
      });
    }
    expect(existsSync(run)).toBe(false);
  });
});

test.skipIf(process.platform !== 'linux')('a folder that takes no files is named as the cause', async () => {
  const { code, err } = await rehearsal(
    'train',
    'grpo',
    'domains/parcel-desk',
    '--out',
    '/proc/x',
    '--plan',
    '--python',
    '/x',
  );
  expect({ code, err }).toEqual({
    code: 2,
    err: "rehearsal train: /proc/x can't be written in /proc: name another folder with --out\n",
  });
});
