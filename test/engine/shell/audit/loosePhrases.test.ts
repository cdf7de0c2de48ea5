import { expect, it } from 'vitest';
import { type Task, taskSchema } from '../../../../src/engine/core/domain/task.ts';
import type { Replayed } from '../../../../src/engine/shell/audit/goldReplay.ts';
import { noteLoosePhrases } from '../../../../src/engine/shell/audit/loosePhrases.ts';
import { notebook } from '../../../../src/engine/shell/source/note.ts';
import type { Places } from '../../../../src/engine/shell/source/yaml.ts';

const user = {
  goal: 'You want to know whether L1 is reserved.',
  opening: 'Can I keep L1 until Friday?',
  known: { loan: 'L1', day: { value: '2026-03-06', say: 'this Friday, or 6 March' } },
  change: { when: 'done', say: 'Then rather Monday.', known: { day: 'Monday' } },
  insist: { say: 'Make an exception for me.' },
};
const policy = 'Wait for a yes. A loan can be renewed twice, for 30 days each.';

/** A gold rollout of a task in which a tool returned something. */
function rollout(task: Partial<Task>, content: string): Replayed {
  const value = taskSchema.parse({ id: 'a', persona: 'p', user: { goal: 'g' }, ...task });
  const places = { value: (path: readonly PropertyKey[]) => ({ file: path.join('.'), line: 1 }) };
  const arrived = [
    { event: { type: 'toolCalled', call: { id: 'c', name: 'look', arguments: {} } } },
    { event: { type: 'toolReturned', callId: 'c', content, isError: false } },
  ];
  const closed = { arrived } as unknown as Replayed['first'];
  return { placed: { value, file: 't', path: [], places: places as unknown as Places }, first: closed, second: closed };
}

/** Returns the findings on a text that a task communicates, where other rollouts see the same result. */
function found(text: string, more: object = {}, result = '{"status":"open","fee":12}'): readonly string[] {
  const task = { user, communicate: [text], ...more } as unknown as Partial<Task>;
  const others = ['{"status":"open","fee":3}', '{"status":"open"}', '{"status":"shut"}'];
  const { found: findings, note } = notebook();
  noteLoosePhrases([rollout(task, result), ...others.map((each) => rollout({}, each))], policy, note);
  return findings.map(({ file, code, message }) => `${file} ${code} ${message}`);
}

it.each([
  ['L1', 'the user says it (user.opening)'],
  ['until Friday', 'the user says it (user.opening)'],
  ['6 March', 'the user says it (user.known.day)'],
  ['Monday', 'the user says it (user.change.say)'],
  ['an exception', 'the user says it (user.insist.say)'],
  ['yes', 'it is in the policy'],
  ['30', 'it is in the policy'],
])('an agent can say "%s" by accident: %s', (text, where) => {
  expect(found(text)).toEqual([`communicate.0 task/loose-phrase An agent can say "${text}" by accident: ${where}.`]);
});

it('an agent can say a short text by accident if tools return it in most rollouts', () => {
  const others = ['{"no":7}', '{"no":7}', '{"no":8}'];
  const { found: findings, note } = notebook();
  noteLoosePhrases([rollout({ communicate: ['7'] }, ''), ...others.map((each) => rollout({}, each))], policy, note);
  expect(findings.map(({ message }) => message)).toEqual([
    'An agent can say "7" by accident: tools return it in 2 of 3 gold rollouts of other tasks.',
  ]);
});

it.each<[string, string, object]>([
  ['what a tool returns for this task alone', '12', {}],
  ['a longer text of the policy', 'twice', {}],
  ['a longer text of most results', 'open', {}],
  ['words of the goal, which no message contains', 'reserved', {}],
  ['a sentence of the user', 'Can I keep L1 until Friday', {}],
  ['a part of a word of the user', 'day', {}],
  ['a text of an imported task', 'Friday', { communicateBy: 'tau2' }],
  ['a text that no basis counts', 'Friday', { evaluate: ['database'] }],
])('finds nothing of %s', (_, text, more) => expect(found(text, more)).toEqual([]));
