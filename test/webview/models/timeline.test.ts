import { expect, it } from 'vitest';
import { findingsOf } from '../../../src/webview/models/findings.ts';
import { fullHeight, spanText, timelineOf } from '../../../src/webview/models/timeline.ts';
import { failed, notesOf, trajectoryOf } from './recorded.ts';

const trajectory = trajectoryOf(failed);
const notes = notesOf(
  { n: 0, ms: 4, refused: [] },
  { n: 1, ms: 1500, input: 100, output: 20, refused: [] },
  { n: 2, ms: 0.5, refused: [] },
  { n: 4, ms: 30, refused: [] },
  { n: 5, ms: 500, input: 150, output: 10, refused: [] },
  { n: 9, ms: 12, refused: [] },
  { n: 14, ms: 700, input: 60, output: 5, refused: [] },
);
const findings = findingsOf(trajectory, notes);

it('every turn has what each took and its tokens', () => {
  expect(timelineOf(trajectory, notes, findings, 10).map((span) => `${span.step}: ${spanText(span)}`)).toEqual([
    '0: Before the first turn: user 4 ms',
    '1: Turn 1: agent 1.5 s, tools 30 ms, engine 0.5 ms, 100 tokens in, 20 out',
    '5: Turn 2: agent 500 ms, tools 12 ms, 150 tokens in, 10 out, 1 with something that went wrong',
    '12: Turn 3: user 700 ms, 60 tokens in, 5 out, 2 with something that went wrong',
  ]);
});

it.each([1, 2, 3])('in %d spans nothing is lost', (most) => {
  const spans = timelineOf(trajectory, notes, findings, most);
  expect(spans.length).toBeLessThanOrEqual(most);
  const ms = spans.flatMap((span) => Object.values(span.ms)).reduce((sum, each) => sum + each, 0);
  expect(ms).toBe(2746.5);
  expect(spans.reduce((sum, { input, output }) => sum + input + output, 0)).toBe(345);
  expect([spans[0]?.firstTurn, spans.at(-1)?.lastTurn]).toEqual([0, 3]);
});

it.each([
  ['the longest is as high as it gets', [3, 5, 10], 10],
  ['one that dwarfs all others is cut', [...Array.from({ length: 19 }, () => 10), 5000], 30],
  ['nothing was measured', [0, 0], 0.001],
])('of the bars, %s', (_name, times, expected) => {
  const spans = times.map((agent, turn) => ({
    firstTurn: turn,
    lastTurn: turn,
    step: turn,
    ms: { agent, user: 0, tools: 0, engine: 0 },
    input: 0,
    output: 0,
    failures: 0,
  }));
  expect(fullHeight(spans)).toBe(expected);
});

it('without a sidecar there is no timeline', () => {
  expect(timelineOf(trajectory, new Map(), findings, 10)).toEqual([]);
});
