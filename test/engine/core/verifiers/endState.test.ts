import { describe, expect, test } from 'vitest';
import { taskSchema } from '../../../../src/engine/core/domain/task.ts';
import type { RolloutState } from '../../../../src/engine/core/events/state.ts';
import type { Json } from '../../../../src/engine/core/values/json.ts';
import { endStateVerdicts } from '../../../../src/engine/core/verifiers/endState.ts';
import { plainJson } from '../../../../src/engine/core/verifiers/objectRows.ts';
import { openDatabase } from '../../../../src/engine/core/world/database.ts';

const call = { id: 'c', name: 'open', arguments: {} };
const messages = [
  { role: 'user', step: 1, content: 'Open it.' },
  { role: 'agent', step: 2, content: null, toolCalls: [call] },
  { role: 'tool', step: 3, callId: 'c', name: 'open', content: 'ok', isError: false },
];

function verdictOf(made: Json, gold: Json) {
  const endState = { gold: [{ Box: { held: gold } }], compared: { Box: ['held'] }, since: 'success' };
  const task = taskSchema.parse({ id: 'box', persona: 'user', user: { goal: 'Open it.' }, endState });
  const world = { agent: openDatabase({ Box: { held: made } }), user: openDatabase({}) };
  const [verdict] = endStateVerdicts(task, { started: {}, world, messages, next: 4 } as unknown as RolloutState);
  return verdict?.unknown ? 'unknown' : verdict?.held;
}

describe('what an attribute holds', () => {
  const cases: readonly (readonly [what: string, made: Json, gold: Json, verdict: boolean | 'unknown'])[] = [
    ['equal', { '(1)': 'a' }, { 1: 'a' }, true],
    ['a key more than expected', { '(1)': 'a', '(2)': 'b' }, { 1: 'a' }, true],
    ['a key less', {}, { 1: 'a' }, false],
    ['a key more, one level below', { a: { b: 1, c: 2 } }, { a: { b: 1 } }, false],
    ['1 for true', 1, true, true],
    ['a list in another order', [1, 2], [2, 1], false],
    ['a list where a dictionary is expected', ['b'], { a: 1 }, false],
    ['a list that holds the key: Python raises', ['a'], { a: 1 }, 'unknown'],
    ['a number where a dictionary is expected: Python raises', 3, { a: 1 }, 'unknown'],
    ['anything where an empty dictionary is expected', 3, {}, true],
  ];

  test.each(cases)('%s', (_, made, gold, verdict) => expect(verdictOf(made, gold)).toBe(verdict));
});

test("rows of an object as Python's json writes them", () => {
  expect(
    plainJson({ "'1'": 'text', '(2)': { $tuple: [1, { '(True)': null }] }, "'it\\'s'": 'said', n: { $int: '7' } }),
  ).toEqual({
    1: 'text',
    2: [1, { true: null }],
    "it's": 'said',
    n: 7,
  });
});
