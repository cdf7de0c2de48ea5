import { expect, test, vi } from 'vitest';
import type { Diagnostic } from '../../../src/engine/shell/files/diagnostic.ts';
import { DomainsTree, isDomainRow } from '../../../src/extension/views/domainsTree.ts';

vi.mock('vscode', () => ({
  EventEmitter: class {
    readonly fire = () => {};
  },
}));

const folder = '/desk';
const place = (line: number, endLine: number) => ({
  ...{ file: '/desk/tasks/a.task.yaml', line, column: 3, endLine, endColumn: 9 },
});
const items = [
  { id: 'one', description: 'First.', at: place(1, 4), isDraft: false },
  { id: 'two', description: 'Second.', at: place(5, 9), isDraft: false },
];
const answers: Readonly<Record<string, unknown>> = {
  contents: { tools: [], personas: [], taskPages: [{ from: 0, to: 2, name: 'a', file: '' }] },
  taskPage: items,
};

test('a task in which a check finds an error is marked, until the error is gone', async () => {
  const tree = new DomainsTree({ askIn: async (_: string, { type }: { type: string }) => answers[type] } as never);
  const errors = async () =>
    (await tree.getChildren({ type: 'domain', folder })).map((row) => 'error' in row && row.error);
  const found: Diagnostic = { ...place(7, 7), code: 'task/wrong-date', severity: 'error', message: 'now is wrong.' };
  tree.showErrors(folder, [found, { ...found, ...place(2, 2), severity: 'warning' }]);
  expect(await errors()).toEqual([false, 'now is wrong.']);
  tree.showErrors(folder, []);
  expect(await errors()).toEqual([false, false]);
});

test.each([
  [{ type: 'domain', folder }, true],
  [{ type: 'tools', folder }, true],
  [{ type: 'task', folder, task: 'one' }, false],
  [undefined, false],
])('F5 on a row that is not a task asks for one of its domain: %j', (target, expected) => {
  expect(isDomainRow(target)).toBe(expected);
});
