import { expect, it } from 'vitest';
import { affectedTasks } from '../../../src/extension/testing/affectedTasks.ts';

const tasks = [
  { folder: '/w/desk', task: 'a', file: '/w/desk/tasks/one.task.yaml' },
  { folder: '/w/desk', task: 'b', file: '/w/desk/tasks/two.task.yaml' },
  { folder: '/w/desk-2', task: 'c', file: '/w/desk-2/tasks/three.task.yaml' },
];

it.each([
  ['a task file: its tasks', ['/w/desk/tasks/one.task.yaml'], ['a']],
  ['two task files', ['/w/desk/tasks/one.task.yaml', '/w/desk-2/tasks/three.task.yaml'], ['a', 'c']],
  ['the policy: all of the domain, and none of one whose name only begins alike', ['/w/desk/policy.md'], ['a', 'b']],
  ['a new file with tasks that are not chosen', ['/w/desk/tasks/new.task.yaml'], []],
  ['what a run writes', ['/w/desk/.rehearsal/runs/1/ledger.jsonl'], []],
  ['packages and the editor', ['/w/desk/node_modules/x/index.js', '/w/desk/.vscode/settings.json'], []],
  ['something outside', ['/w/README.md'], []],
  ['nothing', [], []],
])('%s', (_what, changed, affected) => {
  expect(affectedTasks(changed, tasks).map(({ task }) => task)).toEqual(affected);
});
