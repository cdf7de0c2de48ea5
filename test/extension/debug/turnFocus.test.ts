import { beforeEach, expect, test, vi } from 'vitest';
import { registerTurnFocus, takeOver } from '../../../src/extension/debug/rolloutActions.ts';

type Heard = (event: object) => void;
const editor = vi.hoisted(() => ({
  changed: (() => {}) as Heard,
  started: (() => {}) as Heard,
  sent: (() => {}) as Heard,
  commands: [] as string[],
}));

const session = vi.hoisted(() => ({ type: 'rehearsal', customRequest: async () => undefined }));

vi.mock('vscode', () => ({
  Disposable: { from: () => undefined },
  DebugStackFrame: class {},
  commands: { executeCommand: async (command: string) => void editor.commands.push(command) },
  debug: {
    activeDebugSession: session,
    onDidStartDebugSession: (heard: Heard) => {
      editor.started = heard;
    },
    onDidReceiveDebugSessionCustomEvent: (heard: Heard) => {
      editor.sent = heard;
    },
  },
  workspace: {
    onDidChangeTextDocument: (heard: Heard) => {
      editor.changed = heard;
    },
  },
}));

/** Reports a change of a document. */
const edits = (scheme = 'file', isDirty = true, contentChanges: readonly object[] = [{}]) =>
  editor.changed({ document: { isDirty, uri: { scheme } }, contentChanges });

function takesFocus(): boolean {
  editor.commands.length = 0;
  editor.sent({ session, event: 'rehearsal/turnAwaited' });
  return editor.commands.includes('workbench.panel.repl.view.focus');
}

beforeEach(() => {
  registerTurnFocus();
  editor.started(session);
});

test('a turn takes the focus unless a file was edited since the turn before', () => {
  expect(takesFocus()).toBe(true);
  expect(takesFocus()).toBe(true);
  edits();
  expect(takesFocus()).toBe(false);
  expect(takesFocus()).toBe(true);
});

test('an edit before the session, or before the user took a seat, does not keep the focus', () => {
  edits();
  editor.started(session);
  expect(takesFocus()).toBe(true);
  edits();
  void takeOver(undefined, 'user');
  expect(takesFocus()).toBe(true);
});

test.each([
  ['a change by another program', 'file', false, [{}]],
  ['a save without a change', 'file', true, []],
  ['a value of the rollout, which continues it', 'rehearsal-value', true, [{}]],
])('%s does not keep the focus', (_, scheme, isDirty, contentChanges) => {
  edits(scheme, isDirty, contentChanges);
  expect(takesFocus()).toBe(true);
});
