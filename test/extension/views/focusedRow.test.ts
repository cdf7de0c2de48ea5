import { expect, test, vi } from 'vitest';
import { targetRow, withKeys } from '../../../src/extension/views/focusedRow.ts';

const list = vi.hoisted(() => ({ focus: 'b', selection: [] as readonly string[], unread: 0 }));

vi.mock('vscode', () => ({
  commands: {
    executeCommand: async (command: string) => {
      if (command !== 'list.toggleSelection') throw new Error(command);
      const { focus, selection } = list;
      list.selection = selection.includes(focus) ? selection.filter((row) => row !== focus) : [...selection, focus];
    },
  },
}));

withKeys('rows', {
  get selection() {
    return list.unread-- > 0 ? [] : list.selection;
  },
} as never);

test.each([[[]], [['b']], [['a']], [['a', 'b']]])(
  'with %j selected, a key acts on the row with the focus',
  async (selected) => {
    list.selection = selected;
    expect(await targetRow({ focusedView: 'rows' })).toBe('b');
    expect(new Set(list.selection)).toEqual(new Set(selected));
  },
);

test.each([1, 2, 5])('a key acts on the row with the focus where the view reads its rows again, %i', async (unread) => {
  list.selection = ['a', 'b'];
  list.unread = unread;
  expect(await targetRow({ focusedView: 'rows' })).toBe('b');
});

test('what a menu gives is kept', async () => {
  expect(await targetRow('a')).toBe('a');
});
