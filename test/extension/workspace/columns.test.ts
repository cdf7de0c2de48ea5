import { expect, test, vi } from 'vitest';
import { columnBeside, columnOfFile, walkthroughTitle } from '../../../src/extension/workspace/walkthrough.ts';

const editor = vi.hoisted(() => ({ groups: [] as readonly unknown[], active: 0 }));

vi.mock('vscode', () => ({
  ViewColumn: { Active: -1, Beside: -2 },
  env: { language: 'en' },
  window: {
    tabGroups: {
      get all() {
        return editor.groups;
      },
      get activeTabGroup() {
        return editor.groups[editor.active];
      },
    },
  },
}));

const [active, beside] = [-1, -2];

test.each([
  ['one column', ['task'], 0, active, beside],
  ['two columns of files', ['task', 'policy'], 0, active, beside],
  ['the walkthrough next to it', ['task', walkthroughTitle], 0, active, active],
  ['the focus in the walkthrough', ['task', walkthroughTitle], 1, 1, 1],
  ['the walkthrough alone', [walkthroughTitle], 0, active, active],
])('a file does not open in the narrow column of the walkthrough: %s', (_, labels, at, own, next) => {
  editor.groups = labels.map((label, index) => ({ viewColumn: index + 1, activeTab: { label, input: {} } }));
  editor.active = at;
  expect([columnOfFile(), columnBeside()]).toEqual([own, next]);
});
