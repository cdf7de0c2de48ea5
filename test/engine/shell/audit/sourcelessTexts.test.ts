import { expect, it } from 'vitest';
import { type Task, taskSchema } from '../../../../src/engine/core/domain/task.ts';
import type { Replayed } from '../../../../src/engine/shell/audit/goldReplay.ts';
import { noteSourcelessTexts } from '../../../../src/engine/shell/audit/sourcelessTexts.ts';
import { notebook } from '../../../../src/engine/shell/source/note.ts';
import type { Places } from '../../../../src/engine/shell/source/yaml.ts';

const policy = 'Refunds take 5 to 7 days. A visit begins at 14:30.';

/** Returns the findings on a text that a task communicates, where a tool returned a result. */
function found(text: string, result: string, more: object = {}): readonly string[] {
  const user = { goal: 'You want 2 lamps.', opening: 'Two lamps, please.', known: { card: '4471' } };
  const value = taskSchema.parse({ id: 'a', persona: 'p', user, communicate: [text], ...more }) as unknown as Task;
  const places = { value: (path: readonly PropertyKey[]) => ({ file: path.join('.'), line: 1 }) };
  const arrived = [
    { event: { type: 'toolCalled', call: { id: 'c', name: 'look', arguments: {} } } },
    { event: { type: 'toolReturned', callId: 'c', content: result, isError: false } },
  ];
  const first = { arrived, reward: 1 } as unknown as Replayed['first'];
  const placed = { value, file: 't', path: [], places: places as unknown as Places };
  const { found: findings, note } = notebook();
  const texts = { policy, tools: [], now: '2026-03-02T09:00:00Z' };
  noteSourcelessTexts([{ placed, first, second: first }], texts, (each) => each === 'shipped', note);
  return findings.map(({ file, code, message }) => `${file} ${code} ${message}`);
}

it.each([
  ['24.50', '{"amount":25.4}', '24.50'],
  ['due on 31 March', '{"due":"2026-03-30"}', '31 ("due on 31 March")'],
  ['shipped', '{"status":"pending"}', 'shipped'],
  ['within twelve days', '{}', '12 ("within twelve days")'],
])('no one tells the agent %s: %s', (text, result, missing) => {
  expect(found(text, result)).toEqual([
    `communicate.0 task/sourceless-text The agent must tell the user ${missing}, but it has no source for it: no tool returned it in the gold rollout, and neither the policy nor the user's texts contain it.`,
  ]);
});

it.each<[string, string, string, object]>([
  ['an amount in another form', '1,024.50', '{"amount":1024.5}', {}],
  ['a date in other words', '31 March 2026', '{"due":"2026-03-31"}', {}],
  ['a time in another form', 'at 2:30 pm', '{}', {}],
  ['a number of the policy', '5 to 7 days', '{}', {}],
  ['a number of the task', 'card 4471', '{}', {}],
  ['a number of the policy in words', 'seven days', '{}', {}],
  ['words that the agent chooses', 'not possible', '{}', {}],
  ['a text of an imported task', '24.50', '{}', { communicateBy: 'tau2' }],
  ['a text that no basis counts', '24.50', '{}', { evaluate: ['database'] }],
])('finds nothing of %s', (_, text, result, more) => expect(found(text, result, more)).toEqual([]));
