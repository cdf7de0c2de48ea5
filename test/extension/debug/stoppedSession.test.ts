import { expect, test, vi } from 'vitest';
import { debuggedSession } from '../../../src/extension/debug/stoppedSession.ts';

const editor = vi.hoisted(() => ({
  session: undefined as unknown,
  said: [] as (readonly string[])[],
  ran: [] as string[],
}));

vi.mock('vscode', () => ({
  DebugStackFrame: class {},
  EventEmitter: class {},
  commands: { executeCommand: async (command: string) => void editor.ran.push(command) },
  debug: {
    get activeDebugSession() {
      return editor.session;
    },
  },
  window: {
    showInformationMessage: async (message: string, ...buttons: readonly string[]) => {
      editor.said.push([message, ...buttons]);
      return buttons[0];
    },
  },
  workspace: { isTrusted: true },
}));

test('a command that needs a debug session has a button to start one', async () => {
  expect(debuggedSession()).toBeUndefined();
  await vi.waitFor(() => expect(editor.ran).toEqual(['rehearsal.task.debug']));
  expect(editor.said).toEqual([['Debug a task or a recording first.', 'Debug Task…']]);
});
