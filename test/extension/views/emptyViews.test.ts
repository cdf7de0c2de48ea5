import { beforeEach, expect, test, vi } from 'vitest';
import { DomainsTree } from '../../../src/extension/views/domainsTree.ts';

const editor = vi.hoisted(() => ({
  contexts: [] as unknown[],
  find: (_: readonly { readonly fsPath: string }[]): void => {},
}));

vi.mock('vscode', () => ({
  EventEmitter: class {},
  commands: { executeCommand: async (...args: unknown[]) => editor.contexts.push(args) },
  workspace: {
    findFiles: () =>
      new Promise((resolve) => {
        editor.find = resolve;
      }),
  },
}));

beforeEach(() => {
  editor.contexts = [];
});

test.each([
  ['no domain', [], true],
  ['a domain', ['/work/desk/domain.yaml'], false],
])('with %s, Domains is marked as empty or not once it was read, and not before', async (_, files, isEmpty) => {
  const reading = new DomainsTree({ askIn: async () => undefined }).getChildren();
  expect(editor.contexts).toEqual([]);
  editor.find(files.map((fsPath) => ({ fsPath })));
  expect(await reading).toHaveLength(files.length);
  expect(editor.contexts).toEqual([['setContext', 'rehearsal.empty.domains', isEmpty]]);
});
