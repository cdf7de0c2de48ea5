import { join } from 'node:path';
import { expect, test } from 'vitest';
import { outlineOf } from '../../src/language/outline.ts';
import { load } from '../engine/shell/load/domainFolder.ts';
import { office } from './marked.ts';

/** The names in the outline of a file, each list after the name of what it is in. */
function namesIn(path: string, text: string): readonly unknown[] {
  const loaded = load({ ...office, [path]: text });
  const named = ({ name, children }: ReturnType<typeof outlineOf>[number]): readonly unknown[] =>
    children.length === 0 ? [name] : [name, children.flatMap(named)];
  return outlineOf({ loaded, described: new Map() }, join(loaded.folder, path)).flatMap(named);
}

test.each([
  ['a task whose id is not written yet', 'tasks/third.task.yaml', 'id:\npersona: plain\n', ['task', ['id', 'persona']]],
  ['a persona without an id', 'personas/more.persona.yaml', 'style: brief\n', ['persona', ['style']]],
  [
    'one of several tasks',
    'tasks/third.task.yaml',
    '- id: a\n- persona: plain\n- id: ""\n',
    ['a', ['id'], 'task 2', ['persona'], 'task 3', ['id']],
  ],
  ['a check without a rule', 'rules.yaml', '- gate: true\n- rule:\n', ['check 1', ['gate'], 'check 2', ['rule']]],
  [
    'an entry of a list',
    'tasks/third.task.yaml',
    'id: a\nreceipts:\n  - times: 1\n  - tool: find_order\n',
    ['a', ['id', 'receipts', ['receipts 1', 'find_order']]],
  ],
])('%s has a name in the outline', (_, path, text, names) => {
  expect(namesIn(path, text)).toEqual(names);
});
