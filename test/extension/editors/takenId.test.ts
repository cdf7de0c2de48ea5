import { expect, test } from 'vitest';
import { taskSchema } from '../../../src/engine/core/domain/task.ts';
import { parseItems } from '../../../src/engine/shell/source/items.ts';
import { takenIdErrors } from '../../../src/extension/editors/takenId.ts';

const task = (id: string) => `- id: ${id}\n  split: train\n  persona: plain\n  user: { goal: You want a lamp. }\n`;
const itemsIn = (file: string, ...ids: readonly string[]) =>
  parseItems(
    { file: `/desk/tasks/${file}`, text: ids.map(task).join('') },
    { kind: 'task', schema: 'task', item: taskSchema },
  ).items;
const [first, second] = [itemsIn('a.task.yaml', 'boots', 'lamp', 'lamp'), itemsIn('b.task.yaml', 'chair', 'boots')];

test.each([
  ['the earlier file', first, 0, 'b.task.yaml:5'],
  ['the later file', second, 1, 'a.task.yaml:1'],
  ['the same file', first, 1, 'a.task.yaml:9'],
  ['a file with another id', second, 0, null],
] as const)('a form shows that an id is taken: %s', (_, items, index, at) => {
  const shown = items[index];
  if (!shown) throw new Error('The test has no such entry.');
  const message = `The task id ${shown.value.id} is taken by ${at}. Give one of the two another id.`;
  const errors = takenIdErrors('task', shown as never, shown.file, [...first, ...second]);
  expect(errors).toEqual(at === null ? [] : [{ path: ['id'], message }]);
});
