import { expect, test } from 'vitest';
import { type Task, taskSchema } from '../../../src/engine/core/domain/task.ts';
import type { Diagnostic } from '../../../src/engine/shell/files/diagnostic.ts';
import type { ItemKind } from '../../../src/engine/shell/source/items.ts';
import { chosenIn } from '../../../src/extension/editors/documentItems.ts';

const file = '/desk/tasks/desk.task.yaml';
const kind: ItemKind<Task> = { kind: 'task', schema: 'task', item: taskSchema };
const task = (id: string) =>
  `- id: ${id}\n  persona: plain\n  now: tomorrow\n  user:\n    goal: You want {{lamp}}.\n    unknown: [email, email]\n`;

/** Returns the errors of an entry of a file with findings at the places where their texts begin. */
function errorsIn(text: string, index: number, ...found: readonly { readonly of: string; readonly from?: number }[]) {
  const findings = found.map(({ of, from = 0 }): Diagnostic => {
    const lines = text.slice(0, text.indexOf(of, from)).split('\n');
    const [line, column] = [lines.length, (lines.at(-1) ?? '').length + 1];
    const place = { file, line, column, endLine: line, endColumn: column + of.length };
    return { ...place, code: 'task/wrong', severity: 'error', message: `${of} is wrong.`, hint: 'Correct it.' };
  });
  const document = { uri: { fsPath: file }, getText: () => text } as never;
  return chosenIn(
    { document, choices: { index }, findings: [...findings, { ...findings[0], severity: 'warning' } as Diagnostic] },
    kind,
    'id',
  ).errors;
}

test('an error that a check finds is at its field, with its line', () => {
  const text = task('one') + task('two');
  const second = task('one').length;
  expect(errorsIn(text, 1, { of: 'tomorrow' }, { of: 'tomorrow', from: second })).toEqual([
    { path: ['now'], message: 'tomorrow is wrong. Correct it.', line: 9 },
  ]);
  const places = [{ of: 'plain' }, { of: '{{lamp' }, { of: 'email' }, { of: 'user:' }];
  expect(errorsIn(text, 0, ...places).map(({ path }) => path)).toEqual([
    ['persona'],
    ['user', 'goal'],
    ['user', 'unknown', 0],
    [],
  ]);
});

test('of a long list, the errors of the entry that is shown are found', () => {
  const text = Array.from({ length: 1500 }, (_, index) => task(`task-${index}`)).join('');
  const from = text.indexOf('task-1200');
  expect(errorsIn(text, 1200, { of: 'tomorrow', from })).toMatchObject([{ path: ['now'], line: 1200 * 6 + 3 }]);
  expect(errorsIn(text, 1199, { of: 'tomorrow', from })).toEqual([]);
});
