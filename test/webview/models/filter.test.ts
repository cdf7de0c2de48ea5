import { describe, expect, it } from 'vitest';
import { choicesOf, type Filter, matching, noFilter } from '../../../src/webview/models/filter.ts';
import { findingsOf } from '../../../src/webview/models/findings.ts';
import { failed, notesOf, trajectoryOf } from './recorded.ts';

const trajectory = trajectoryOf(failed);
const notes = notesOf({ n: 14, refused: [{ content: 'I am the agent.', reason: 'it speaks as the agent' }] });
const findings = findingsOf(trajectory, notes);

/** Returns the first steps of the entries that match a filter. */
const left = (filter: Partial<Filter>) =>
  matching(trajectory.entries, findings, { ...noFilter, ...filter }).map((index) => trajectory.entries[index]?.n);

describe('matching', () => {
  const cases: readonly (readonly [string, Partial<Filter>, readonly number[]])[] = [
    ['nothing asked', {}, [0, 1, 5, 6, 10, 12, 14, 15, 16, 17]],
    ['a speaker', { speaker: 'user' }, [0, 14]],
    ['a tool: its calls, and what was said with one', { tool: 'get_order' }, [1, 5, 10]],
    ['a rule, wherever it was decided', { rule: 'own-data' }, [1, 6]],
    ['a reason', { reason: 'toolError' }, [6]],
    ['a rule that was violated, not one that held beside it', { rule: 'own-data', reason: 'ruleViolated' }, []],
    ['the rule that was', { rule: 'confirm', reason: 'ruleViolated' }, [6]],
    ['who failed', { who: 'agent' }, [0, 5, 6, 16, 17]],
    ['a broken simulator', { who: 'simulator' }, [14]],
    ['evidence', { reason: 'evidence' }, [0, 5]],
    ['a text of a message', { text: ' one MOMENT ' }, [5]],
    ['a text of a result', { text: 'pending' }, [1]],
    ['a text of a change', { text: 'w1', speaker: 'tool' }, [1, 6]],
    ['a text that is not found', { text: 'elephant' }, []],
    ['a text of the format, which is not shown', { text: 'toolcalls' }, []],
  ];
  it.each(cases)('%s', (_name, filter, expected) => {
    expect(left(filter)).toEqual(expected);
  });
});

it('what can be chosen is what there is, with the number of entries', () => {
  const choices = choicesOf(trajectory.entries, findings);
  const shown = Object.entries(choices).map(([key, all]) => [key, all.map(({ label, count }) => `${label} ${count}`)]);
  expect(Object.fromEntries(shown)).toEqual({
    speaker: ['Agent 2', 'User 2', 'Tool calls 3', 'Engine 3'],
    tool: ['get_order 3', 'cancel 2'],
    rule: ['own-data 2', 'confirm 1', 'tone 1'],
    who: ['Agent failed 5', 'Simulator failed 1'],
    reason: [
      'Evidence of a violation 2',
      'Refused by the guard 1',
      'Reward not 1 1',
      'Rule violated 1',
      'Tool error 1',
      'Verifier violated 1',
    ],
  });
  for (const [key, all] of Object.entries(choices)) {
    for (const { value, count } of all) expect(left({ [key]: value }), `${key} ${value}`).toHaveLength(count);
  }
});

it('a failure is found under its code and who failed', () => {
  const failure = { who: 'infrastructure' as const, code: 'model/unreachable', message: 'no answer' };
  const broken = trajectoryOf([{ n: 0, event: { type: 'rolloutEnded', reason: 'infrastructureFailed', failure } }]);
  expect(findingsOf(broken, new Map())).toEqual([[{ reason: 'model/unreachable', who: 'infrastructure' }]]);
});
