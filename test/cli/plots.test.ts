import { expect, test } from 'vitest';
import { unscoredReasons } from '../../src/cli/report/failures.ts';
import { endPlot, turnPlot } from '../../src/cli/report/plots.ts';
import { measureOf } from '../../src/engine/core/evaluation/measure.ts';
import { metricsOf } from '../../src/engine/core/evaluation/metrics.ts';
import { agent, ended, started, user } from '../support/rolloutEvents.ts';

const events = [
  started('book-heron'),
  user('Hello'),
  agent('Hello'),
  user('Bye', 'done'),
  ...ended('userStopped', null),
];
const rollout = { ...measureOf(events, []), recording: '', taskHash: '' };

test('a plot counts one turn in the singular', () => {
  expect(turnPlot([rollout]).svg).toContain('>1 turn<');
});

test('a plot shows an end in full', () => {
  expect(endPlot(metricsOf([rollout])).svg).toContain('>the user ended the conversation</text>');
});

test('trials without a reward are listed with their tasks', () => {
  expect(unscoredReasons([rollout])).toEqual([expect.stringMatching(/^1 trial of book-heron: /)]);
});
