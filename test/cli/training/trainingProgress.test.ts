import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { throwIfFailed } from '../../../src/cli/targets/runFolder.ts';
import { outcome } from '../../../src/cli/training/trainingOutcome.ts';
import { laterProgress, progressOf } from '../../../src/cli/training/trainingProgress.ts';
import { temporaryFolder } from '../../support/temporary.ts';

function runOf(kind: string) {
  const run = join(temporaryFolder('rehearsal-progress'), 'run');
  mkdirSync(run);
  writeFileSync(join(run, 'config.json'), JSON.stringify({ kind, domain: '/w/desk' }));
  const append = (name: string, lines: readonly object[]) =>
    appendFileSync(join(run, name), lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
  return { run, append };
}

/** Keeps what is printed. */
function printer() {
  const printed: string[] = [];
  return { io: { err: (text: string) => void printed.push(text) }, err: () => printed.join('') };
}

const evaluated = { type: 'evaluated', domain: 'desk', held_out: false, right: 9, rollouts: 20, success: 0.45 };

test('each optimizer step, evaluation, alarm and warning is a line while a run is followed', async () => {
  const { run, append } = runOf('grpo');
  append('events.jsonl', [{ type: 'started' }, { type: 'data', steps: 2 }, { ...evaluated, step: 0 }]);
  append('metrics.jsonl', [
    { step: 0, 'evaluate/reward': 0.45 },
    { step: 1, loss: 0.25, reward: 0.5, step_seconds: 4.04 },
  ]);
  const all = printer();
  const later = printer();
  const resumed = await laterProgress(run);
  await progressOf(run).during(all.io, () =>
    resumed.during(later.io, async () => {
      append('events.jsonl', [
        { type: 'alarm', alarm: 'kl-explosion', step: 2, message: 'KL is 0.7' },
        { type: 'warning', message: 'slow' },
        { ...evaluated, step: 2, success: null },
      ]);
      append('metrics.jsonl', [{ step: 2, reward: 1, step_seconds: 3 }]);
    }),
  );
  const newLines = `alarm kl-explosion at optimizer step 2: KL is 0.7
warning: slow
evaluation on desk after optimizer step 2: nothing could be scored
optimizer step 2 of 2: reward 1.000, 3.0 s
`;
  expect(later.err()).toBe(newLines);
  for (const line of [
    'evaluation on desk before training: 45.0 % (9 of 20)\n',
    'optimizer step 1 of 2: reward 0.500, loss 0.2500, 4.0 s\n',
    ...newLines.split(/(?<=\n)/),
  ])
    expect(all.err()).toContain(line);
});

test.each([
  [{ step: 5 }, 'resumed from optimizer step 5\n'],
  [{ step: 5, incomplete: [10] }, 'resumed from optimizer step 5; the checkpoint of step 10 was not complete\n'],
  [
    { step: 0, incomplete: [5, 10] },
    'restarted before optimizer step 1; the checkpoints of steps 5, 10 were not complete\n',
  ],
  [{ step: 0, kind: 'evaluate' }, ''],
])('a run that is resumed reports its checkpoint: %j', async (fields, line) => {
  const { run, append } = runOf('grpo');
  append('events.jsonl', [{ type: 'started' }]);
  const { io, err } = printer();
  const resumed = await laterProgress(run);
  await resumed.during(io, async () => append('events.jsonl', [{ type: 'resumed', kind: 'grpo', ...fields }]));
  expect(err()).toBe(line);
});

test('the rollouts of an evaluation are counted while they are played', async () => {
  const { run, append } = runOf('evaluate');
  append('events.jsonl', [{ type: 'played', part: 'greedy', rollouts: 3, planned: 24, right: 2 }]);
  expect(await progressOf(run).read()).toEqual(['greedy: 3 of 24 rollouts, 2 right']);
});

test('a run ends with what it measured, its alarms and the next commands', () => {
  const { run, append } = runOf('sft');
  const io = { cwd: join(run, '..'), environment: {} };
  append('events.jsonl', [
    { type: 'alarm', alarm: 'rows-too-long', step: 1, message: 'm' },
    { type: 'finished', step: 2 },
  ]);
  append('metrics.jsonl', [
    { step: 1, loss: 2 },
    { step: 2, loss: 0.5 },
  ]);
  mkdirSync(join(run, 'checkpoints', 'final'), { recursive: true });
  expect(outcome(run, false, io)).toBe(`trained: ${run}/checkpoints/final
at optimizer step 2: loss 0.5000; at the first: loss 2.0000
alarms: rows-too-long at step 1. To see their messages: npx rehearsal train follow run
measure it:          npx rehearsal train evaluate /w/desk --model run/checkpoints/final
train with rewards:  npx rehearsal train grpo /w/desk --model run/checkpoints/final
compare runs:        npx rehearsal compare OTHER_RUN run
`);
  expect(outcome(run, true, io)).toBe(`${JSON.stringify({ run })}\n`);
});

test('an evaluation ends with its table, and its errors say that it evaluates', () => {
  const { run, append } = runOf('evaluate');
  append('events.jsonl', [{ type: 'error', message: 'no model' }]);
  expect(() => throwIfFailed(run)).toThrow('the evaluation ended with an error: no model');
  expect(() => throwIfFailed(run, { code: null, signal: 'SIGKILL' })).toThrow(
    /^the evaluation ended with an error|^the evaluation was killed by SIGKILL, .* resume with: npx rehearsal train/,
  );
  writeFileSync(join(run, 'result.json'), '{}');
  writeFileSync(join(run, 'result.txt'), 'table\n');
  expect(outcome(run, false, { cwd: '/', environment: {} })).toBe(
    `table\ncompare it with another evaluation: npx rehearsal compare OTHER_RUN ${run.slice(1)}\n`,
  );
});
