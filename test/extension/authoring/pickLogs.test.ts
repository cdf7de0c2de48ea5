import { beforeEach, expect, test, vi } from 'vitest';
import { type LogKind, pickLogFiles, pickLogKind } from '../../../src/extension/authoring/pickLogs.ts';

const editor = vi.hoisted(() => ({
  settings: {} as Record<string, string>,
  answer: undefined as string | undefined,
  kind: '',
  dialogs: [] as object[],
  asked: [] as { readonly message: string; readonly modal: boolean; readonly detail: string }[],
}));

vi.mock('vscode', () => ({
  workspace: { getConfiguration: () => ({ get: (name: string) => editor.settings[name] }) },
  window: {
    showQuickPick: async (kinds: readonly { readonly label: string }[]) =>
      kinds.find(({ label }) => label === editor.kind),
    showOpenDialog: async (options: object) => {
      editor.dialogs.push(options);
      return [{ fsPath: '/log.jsonl' }];
    },
    showWarningMessage: async (message: string, options: { readonly modal: boolean; readonly detail: string }) => {
      editor.asked.push({ message, ...options });
      return editor.answer;
    },
  },
}));

beforeEach(() => {
  [editor.asked.length, editor.dialogs.length] = [0, 0];
});

const files = { canSelectFiles: true };
const pick = () => pickLogFiles('Conversations', 'Import', files as LogKind['dialog']);

test.each([
  ['Chat log', 'chats', files],
  ['Folder of chat logs', 'chats', { canSelectFiles: false, canSelectFolders: true }],
  ['Spans', 'spans', files],
  ['Folder of spans', 'spans', { canSelectFiles: false, canSelectFolders: true }],
])('the dialog for %s', async (label, from, dialog) => {
  editor.kind = label;
  const kind = await pickLogKind();
  expect(kind).toMatchObject({ from });
  await pickLogFiles('Conversations', 'Import', kind?.dialog as LogKind['dialog']);
  expect(editor.dialogs).toEqual([expect.objectContaining({ canSelectMany: true, ...dialog })]);
});

test.each([
  ['the person imports', 'Import', { files: ['/log.jsonl'], options: ['--yes'] }],
  ['the person cancels', undefined, undefined],
])('without a recogniser a modal dialog asks whether masking in part is enough: %s', async (_, answer, picked) => {
  [editor.settings, editor.answer] = [{}, answer];
  expect(await pick()).toEqual(picked);
  expect(editor.asked).toEqual([
    expect.objectContaining({ modal: true, detail: expect.stringMatching(/names in free text are masked in part/) }),
  ]);
});

test.each([
  [{ recogniser: 'presidio:de', python: '' }, ['--recogniser', 'presidio:de']],
  [
    { recogniser: 'presidio', python: '/venv/bin/python' },
    ['--recogniser', 'presidio', '--python', '/venv/bin/python'],
  ],
])('the recogniser of the settings %j is passed on, and nothing is asked', async (settings, options) => {
  editor.settings = settings;
  expect(await pick()).toEqual({ files: ['/log.jsonl'], options });
  expect(editor.asked).toEqual([]);
});
