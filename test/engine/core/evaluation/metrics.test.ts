import { expect, test } from 'vitest';
import { missedThresholds, parseGate } from '../../../../src/engine/core/evaluation/gate.ts';
import { measureOf, type ToolKind } from '../../../../src/engine/core/evaluation/measure.ts';
import { metricsOf, missingRewards, shownPassHats } from '../../../../src/engine/core/evaluation/metrics.ts';
import type { RolloutEvent } from '../../../../src/engine/core/events/event.ts';
import { agent, called, ended, ruleChecked, started, user } from '../../../support/rolloutEvents.ts';

const tools: readonly ToolKind[] = [
  { name: 'look', effect: 'read' },
  { name: 'move', effect: 'write' },
  { name: 'think', effect: 'read', generic: true },
  { name: 'transfer', effect: 'write', generic: true, handsOff: true },
];
const look = (id: string) => called({ name: 'look', arguments: { id } }, `row ${id}`);
const measured = (events: readonly RolloutEvent[]) => measureOf(events, tools);
const rollout = (task: string, trial: number, reward: number | null) =>
  measured([
    started(task, trial),
    user('hi'),
    ...ended(reward === null ? 'infrastructureFailed' : 'userStopped', reward),
  ]);

test('a rollout is measured', () => {
  const events = [
    started('t'),
    user('Please move P1.'),
    ...look('P1'),
    ...look('P1'),
    ruleChecked('confirm', 'violated', true),
    ...called({ name: 'move', arguments: { id: 'P1' } }, 'moved', { writes: true }),
    ...look('P1'),
    ...called({ name: 'move', arguments: { id: 'P9' } }, 'Error: no P9', { isError: true }),
    ...called({ name: 'think', arguments: { thought: 'well' } }, 'ok'),
    agent('Done.'),
    user('Thanks', 'done'),
    ...ended('userStopped', 0, { database: true, communicate: false }),
  ];
  expect(measured(events)).toMatchObject({
    task: 't',
    reward: 0,
    failedBy: 'agent',
    checks: { met: 1, declared: 2 },
    card: { outcome: 'violated' },
    turns: 7,
    said: ['Done.'.length],
    unnecessary: 1,
    confirmations: { held: 0, due: 1 },
    violations: [{ rule: 'confirm', gate: true, step: events.findIndex(({ type }) => type === 'rulesChecked') }],
    isHandedOff: false,
    handOffSummary: null,
  });
  expect(metricsOf([measured(events)])).toMatchObject({
    completionRate: 0.5,
    // Nothing of communication was checked, so that is not unknown either.
    card: expect.arrayContaining([
      { layer: 'outcome', held: 0, violated: 1, unknown: 0 },
      { layer: 'communication', held: 0, violated: 0, unknown: 0 },
    ]),
    violationRate: 1,
    confirmationRate: 0,
    toolErrorRate: 1 / 6,
    genericShare: 1 / 6,
    unnecessaryRate: 1 / 6,
    callsPerRollout: 6,
    calls: [
      { tool: 'look', calls: 3, share: 0.5 },
      { tool: 'move', calls: 2, errors: 1 },
      { tool: 'think', calls: 1, isGeneric: true },
    ],
    failedBy: { agent: 1, simulator: 0, environment: 0, infrastructure: 0 },
  });
});

test('the longest repeat is of one call with the same values, and another call ends it', () => {
  const repeats = (...ids: readonly string[]) => measured([started('t'), ...ids.flatMap(look)]).longestRepeat;
  expect(repeats()).toBe(0);
  expect(repeats('a', 'b', 'b', 'b', 'a', 'b')).toBe(3);
  expect(repeats('a', 'b', 'a', 'b')).toBe(1);
});

test('a summary at a hand-over is measured by the facts that it passes on', () => {
  const handedOff = (summary: string) =>
    measured([
      started('t'),
      ...look('W1'),
      ...look('Ann Lee'),
      ...called({ name: 'transfer', arguments: { summary } }, 'transferred'),
      ...ended('handedOff', 1),
    ]);
  expect(handedOff('Ann Lee wants W1 back.')).toMatchObject({ isHandedOff: true, handOffSummary: 1 });
  expect(handedOff('W1 is late.').handOffSummary).toBe(0.5);
  expect(handedOff('Help.').handOffSummary).toBe(0);
});

test('pass^k, flips and the all-right share by task; an infrastructure failure does not count as failed', () => {
  const run = [
    ...[1, 1, 1].map((reward, trial) => rollout('always', trial, reward)),
    ...[1, 0, 1].map((reward, trial) => rollout('sometimes', trial, reward)),
    ...[0, 0, null].map((reward, trial) => rollout('never', trial, reward)),
  ];
  const metrics = metricsOf(run);
  expect(metrics).toMatchObject({
    rollouts: 9,
    scored: 8,
    tasks: 3,
    allCorrect: 1 / 3,
    allWrong: 0,
    flipRate: 1 / 3,
    failedBy: { infrastructure: 0, environment: 1, agent: 3 },
  });
  expect(metrics.passHat.map(({ k, value, tasks }) => [k, Number(value.toFixed(4)), tasks])).toEqual([
    [1, 0.5556, 3],
    [2, 0.4444, 3],
    [3, 0.5, 2],
  ]);
});

test('a table shows pass^k for few trials, powers of two and the most trials', () => {
  const { passHat } = metricsOf(Array.from({ length: 40 }, (_, trial) => rollout('a', trial, 1)));
  expect(shownPassHats(passHat).map(({ k }) => k)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 16, 32, 40]);
});

test('tokens and money come from the sidecar and the prices', () => {
  const events = [started('t'), user('hi'), agent('hello'), user('bye', 'done'), ...ended('userStopped', 1)];
  const measure = measureOf(events, tools, [
    { n: 1, ms: 5, usage: { input: 10, output: 1 } },
    { n: 2, ms: 40, usage: { input: 100, output: 20 } },
    { n: 3, ms: 7 },
  ]);
  expect(measure.latency).toEqual({ agent: [40], user: [5, 7], tools: [] });
  const prices = { agent: { input: 2, output: 10 }, user: { input: 1, output: 1 } };
  expect(metricsOf([measure], prices)).toMatchObject({ tokens: { total: 131 }, money: (400 + 11) / 1_000_000 });
  expect(metricsOf([measure], { agent: prices.agent }).money).toBeNull();
  expect(metricsOf([measure]).money).toBeNull();
});

test.each(['agent', 'user', 'tools', 'judge'] as const)('an answer that ended a rollout counts for the %s', (role) => {
  const events = [started('t'), user('hi'), ...ended('agentFailed', 0)];
  const usage = { input: 10, output: 1 };
  const answered = measureOf(events, tools, [{ n: 2, ms: 5, role, usage, finishReason: 'length' }]);
  expect(answered).toMatchObject({ tokens: { [role]: usage }, answers: { [role]: { all: 1, length: 1 } } });
  expect(measureOf(events, tools, [{ n: 2, ms: 5, role }]).latency).toEqual({ agent: [], user: [], tools: [] });
});

test('nothing measured gives no rates', () => {
  const none = { meanReward: null, reward: null, completionRate: null, flipRate: null, passHat: [] };
  expect(metricsOf([])).toMatchObject({ rollouts: 0, money: null, ...none });
  expect(metricsOf([rollout('a', 0, null)])).toMatchObject({ rollouts: 1, scored: 0, ...none });
});

const metrics = metricsOf([rollout('a', 0, 1), rollout('a', 1, 0), rollout('b', 0, 1), rollout('b', 1, 1)]);

test.each([
  ['reward>=0.75,pass^2>=0.5', []],
  ['0.8', ['reward is 0.75, the gate wants >= 0.8']],
  ['pass^2 > 0.5 , violations<=0', ['pass^2 is 0.5, the gate wants > 0.5']],
  ['money<1', ['money cannot be checked, because no rollout of this run has a value for it']],
])('the gate %s', (text, missed) => {
  const thresholds = parseGate(text, 2);
  expect(typeof thresholds === 'string' ? thresholds : missedThresholds(thresholds, metrics)).toEqual(missed);
});

test.each([
  ['reward>=0.5', ['the run is incomplete: some trials have no reward']],
  ['pass^2>=0.1', ['the run is incomplete: some trials have no reward']],
  ['scored>=0.5', []],
  ['scored>=0.6', ['scored is 0.5, the gate wants >= 0.6']],
  [
    'all-correct>=0.5,scored>=0.4',
    ['the run is incomplete: some trials have no reward', 'all-correct is 0.3333, the gate wants >= 0.5'],
  ],
])('the gate %s on a run in which trials have no reward', (text, missed) => {
  const run = [rollout('a', 0, 1), rollout('a', 1, 1), rollout('b', 0, 1), rollout('b', 1, null)];
  const planned = new Map(['a', 'b', 'c'].map((task) => [task, 2]));
  const incomplete = metricsOf(run, {}, planned);
  expect(incomplete.scoredTasks).toEqual({ all: 1, some: 1, none: 1 });
  const thresholds = parseGate(text, 2);
  expect(typeof thresholds === 'string' ? thresholds : missedThresholds(thresholds, incomplete)).toEqual(missed);
});

test.each([
  ['reward=>1', '"reward=>1" is not a threshold'],
  ['reward>=1.5', 'no run has reward>=1.5: reward is a number from 0 to 1'],
  ['reward>1', 'no run has reward>1'],
  ['pass^2>=2', 'no run has pass^2>=2'],
  ['turns<0', 'no run has turns<0: the least is 0'],
  ['', '"" is not a threshold'],
  ['luck>=1', 'there is no metric "luck"'],
  ['pass^4>=1', 'pass^4 needs at least 4 trials of each task; this run has 2'],
])('the gate %s is refused', (text, message) => expect(parseGate(text, 2)).toContain(message));

test('tasks without a reward are counted in the singular and the plural', () => {
  expect(missingRewards({ all: 0, some: 0, none: 1 })).toBe(
    '1 of 1 task has trials without a reward (1 has no reward at all)',
  );
  expect(missingRewards({ all: 2, some: 1, none: 2 })).toBe(
    '3 of 5 tasks have trials without a reward (2 have no reward at all)',
  );
});
