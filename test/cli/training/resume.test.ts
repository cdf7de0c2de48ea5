import { mkdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../../support/temporary.ts';
import { rehearsal } from '../../support/terminal.ts';

/** A run with these events whose interpreter does not exist, so that nothing can start. */
function runWith(kind: string, events: readonly object[]): string {
  const run = join(temporaryFolder('rehearsal-resume'), 'run');
  mkdirSync(run);
  writeFileSync(join(run, 'launch.json'), JSON.stringify({ run, model: 'tiny', steps: 6 }));
  writeFileSync(join(run, 'config.json'), JSON.stringify({ kind, run, model: 'tiny', steps: 6 }));
  writeFileSync(join(run, 'events.jsonl'), events.map((event) => `${JSON.stringify(event)}\n`).join(''));
  return run;
}

const python = ['--python', '/nowhere/python'];
const finished = [{ type: 'started' }, { type: 'finished', step: 6 }];
const done = 'is finished after 6 of 6 optimizer steps. To continue, add --set steps=N with a larger N';

test.each(['sft', 'grpo'])('a finished run of %s is left as it is', async (kind) => {
  const run = runWith(kind, finished);
  const launched = readFileSync(join(run, 'launch.json'), 'utf8');
  const left = { code: 0, out: `${run} ${done}\n`, err: '' };
  expect(await rehearsal('train', 'resume', run, ...python)).toMatchObject(left);
  const refused = { code: 2, out: '', err: `rehearsal train: ${run} ${done}\n` };
  expect(await rehearsal('train', 'resume', run, '--set', 'steps=4', ...python)).toMatchObject(refused);
  expect(readFileSync(join(run, 'launch.json'), 'utf8')).toBe(launched);
});

test.each([
  ['a finished run with more steps', 'sft', finished, ['--set', 'steps=9']],
  ['a finished run with more epochs', 'grpo', finished, ['--set', 'epochs=9']],
  ['a finished evaluation, whose table is written again', 'evaluate', [{ type: 'finished' }], []],
  ['a stopped run', 'sft', [{ type: 'stopped', step: 3 }], []],
] as const)('%s continues', async (_case, kind, events, options) => {
  const { code, err } = await rehearsal('train', 'resume', runWith(kind, events), ...options, ...python);
  expect({ code, err }).toEqual({ code: 2, err: expect.stringContaining('/nowhere/python') });
});

test('a run that is running is refused with what follows and what stops it, and nothing is written', async () => {
  const run = runWith('sft', [{ type: 'started' }]);
  const pid = join(run, 'pid');
  writeFileSync(pid, String(process.pid));
  const later = Date.now() / 1000 + 60;
  utimesSync(pid, later, later);
  const launched = readFileSync(join(run, 'launch.json'), 'utf8');
  expect(await rehearsal('train', 'resume', run, '--set', 'batch=1', ...python)).toMatchObject({
    code: 2,
    out: '',
    err: `rehearsal train: ${run} is running (process ${process.pid}). To see its progress: npx rehearsal train follow ${run}. To end it: npx rehearsal train stop ${run}\n`,
  });
  expect(readFileSync(join(run, 'launch.json'), 'utf8')).toBe(launched);
});
