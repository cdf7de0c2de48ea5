import { expect, test } from 'vitest';
import { alarmSummaries } from '../../../src/webview/models/alarms.ts';

test('an alarm in words, the newest first', () => {
  const alarm = (name: string, step: number) => ({
    name,
    step,
    message: 'KL is 0.7; the limit is 0.5',
    evidence: { kl: 0.71234, limit: 0.5, before: 0.01 },
    recordings: ['trajectories/step-000003/move-2.0.traj.jsonl'],
    advice: 'Raise it.',
    pauses: step === 3,
  });
  const summaries = alarmSummaries([alarm('kl-explosion', 3), alarm('tool-loop', 5)]);
  expect(summaries.map(({ title, step, hasPaused }) => [title, step, hasPaused])).toEqual([
    ['Tool loop', 5, false],
    ['KL explosion', 3, true],
  ]);
  expect(summaries[1]).toMatchObject({
    message: 'KL is 0.7; the limit is 0.5.',
    evidence: [
      ['KL', '0.7123'],
      ['limit', '0.5000'],
      ['before', '0.01000'],
    ],
    recordings: [{ file: 'trajectories/step-000003/move-2.0.traj.jsonl', name: 'move-2.0' }],
  });
});
