import { beforeEach, expect, test, vi } from 'vitest';
import { pickLogFiles } from '../../../src/extension/chats/pickLogs.ts';

const editor = vi.hoisted(() => ({
  settings: {} as Record<string, string>,
  answer: undefined as string | undefined,
  asked: [] as { readonly message: string; readonly modal: boolean; readonly detail: string }[],
}));

vi.mock('vscode', () => ({
  workspace: { getConfiguration: () => ({ get: (name: string) => editor.settings[name] }) },
  window: {
    showOpenDialog: async () => [{ fsPath: '/log.jsonl' }],
    showWarningMessage: async (message: string, options: { readonly modal: boolean; readonly detail: string }) => {
      editor.asked.push({ message, ...options });
      return editor.answer;
    },
  },
}));

beforeEach(() => {
  editor.asked.length = 0;
});

test.each([
  ['the person imports', 'Import', { files: ['/log.jsonl'], options: ['--yes'] }],
  ['the person cancels', undefined, undefined],
])('without a recogniser a modal dialog asks whether masking in part is enough: %s', async (_, answer, picked) => {
  [editor.settings, editor.answer] = [{}, answer];
  expect(await pickLogFiles('Conversations', 'Import')).toEqual(picked);
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
  expect(await pickLogFiles('Conversations', 'Import')).toEqual({ files: ['/log.jsonl'], options });
  expect(editor.asked).toEqual([]);
});
