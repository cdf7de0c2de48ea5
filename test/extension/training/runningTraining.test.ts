import { expect, test, vi } from 'vitest';
import { watchTraining } from '../../../src/extension/training/runningTraining.ts';
import { runFolder } from './runFolder.ts';

/** Long enough for a machine that is busy with other work. */
const limit = { timeout: 240_000 };

/** A training run that a test writes, and the messages about it. */
function watched(pid: number, ...events: readonly object[]) {
  const folder = runFolder();
  folder.write('pid', `${pid}\n`);
  folder.write('events.jsonl', events.map((event) => `${JSON.stringify(event)}\n`).join(''));
  const said: string[] = [];
  const end = vi.fn();
  watchTraining(folder.path, {
    say: (detail) => said.push(detail),
    onAlarm: ({ name, step }) => said.push(`${name} at ${step}`),
    end,
  });
  const append = (file: string, row: object) => folder.append(file, `${JSON.stringify(row)}\n`);
  return { append, said, end };
}

test('a training says its optimizer step, and is over with its last word', async () => {
  const { append, said, end } = watched(process.pid);
  append('events.jsonl', { time: 1, type: 'started' });
  append('metrics.jsonl', { step: 3, time: 2, reward: 0.5 });
  await vi.waitFor(() => expect(said.at(-1)).toBe('optimizer step 3'), limit);
  expect(end).not.toHaveBeenCalled();
  append('events.jsonl', { time: 3, type: 'finished' });
  await vi.waitFor(() => expect(end).toHaveBeenCalled(), limit);
});

test('an alarm is reported once, and earlier ones are not', async () => {
  const alarm = (step: number) => ({ type: 'alarm', alarm: 'tool-loop', step, message: 'm' });
  const { append, said } = watched(process.pid, alarm(1));
  append('metrics.jsonl', { step: 1 });
  await vi.waitFor(() => expect(said).toEqual(['optimizer step 1']), limit);
  append('events.jsonl', alarm(2));
  append('metrics.jsonl', { step: 2 });
  await vi.waitFor(() => expect(said.at(-1)).toBe('optimizer step 2'), limit);
  expect(said.filter((each) => each.includes('at'))).toEqual(['tool-loop at 2']);
});

test('a trainer whose process is gone is over, although it reported no end', async () => {
  const { end } = watched(2 ** 22 + 1);
  await vi.waitFor(() => expect(end).toHaveBeenCalled(), limit);
});
