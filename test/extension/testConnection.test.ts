import { expect, test, vi } from 'vitest';
import { testConnection } from '../../src/extension/testConnection.ts';

const editor = vi.hoisted(() => ({
  remoteName: undefined as string | undefined,
  executed: [] as unknown[],
  said: [] as unknown[],
}));

vi.mock('vscode', () => ({
  EventEmitter: class {},
  commands: { executeCommand: async (...args: unknown[]) => editor.executed.push(args) },
  env: {
    get remoteName() {
      return editor.remoteName;
    },
  },
  window: { showInformationMessage: async (...said: unknown[]) => void editor.said.push(said) },
  workspace: { getConfiguration: () => ({ get: () => '' }) },
}));

test.each([
  ['the desktop', undefined, 'workbench.action.openSettings'],
  ['the browser', '127.0.0.1:8080', 'workbench.action.openRemoteSettings'],
])('without a base URL, in %s the settings open where they can be edited', async (_, remoteName, command) => {
  editor.executed = [];
  editor.said = [];
  editor.remoteName = remoteName;
  expect(await testConnection({} as never)).toBeUndefined();
  expect(editor.executed).toEqual([[command, { query: 'rehearsal.model' }]]);
  expect(editor.said).toEqual([['Enter the base URL in the settings, then set its key.', 'Set Model Key…']]);
});
