import { beforeEach, expect, test, vi } from 'vitest';
import { registerChangeNotice } from '../../../src/extension/debug/changeNotice.ts';

type Session = { readonly type: string; readonly id: string };
type Heard = (event: unknown) => void;
const editor = vi.hoisted(() => ({
  isShown: false,
  active: undefined as unknown,
  started: (() => {}) as Heard,
  ended: (() => {}) as Heard,
  activated: (() => {}) as Heard,
  sent: (() => {}) as Heard,
}));

vi.mock('vscode', () => {
  const never = () => ({ dispose: () => undefined });
  const hearing = (name: 'started' | 'ended' | 'activated' | 'sent') => (heard: Heard) => {
    editor[name] = heard;
  };
  return {
    Disposable: { from: never },
    EventEmitter: class {},
    StatusBarAlignment: {},
    ThemeColor: class {},
    commands: { executeCommand: async () => undefined },
    debug: {
      get activeDebugSession() {
        return editor.active;
      },
      onDidReceiveDebugSessionCustomEvent: hearing('sent'),
      onDidStartDebugSession: hearing('started'),
      onDidTerminateDebugSession: hearing('ended'),
      onDidChangeActiveDebugSession: hearing('activated'),
    },
    window: {
      createStatusBarItem: () => ({
        show: () => {
          editor.isShown = true;
        },
        hide: () => {
          editor.isShown = false;
        },
      }),
    },
    workspace: { onDidSaveTextDocument: never },
  };
});
vi.mock('../../../src/extension/workspace/domainWatch.ts', () => ({ onDidChangeDomainFiles: () => undefined }));

const one: Session = { type: 'rehearsal', id: 'one' };
const other: Session = { type: 'rehearsal', id: 'other' };
const activate = (session: Session) => {
  editor.active = session;
  editor.activated(session);
};

beforeEach(() => {
  Object.assign(editor, { isShown: false, active: one });
  registerChangeNotice();
  const body = { files: [{ file: '/work/policy.md' }], since: 16 };
  editor.sent({ session: one, event: 'rehearsal/filesChanged', body });
  expect(editor.isShown).toBe(true);
});

test('a session that starts again has no notice of changed files, also where its end was not reported', () => {
  editor.started(one);
  expect(editor.isShown).toBe(false);
});

test('the notice is about the active session, and the end of another one leaves it', () => {
  editor.started(other);
  activate(other);
  expect(editor.isShown).toBe(false);
  editor.ended(other);
  activate(one);
  expect(editor.isShown).toBe(true);
  editor.ended(one);
  expect(editor.isShown).toBe(false);
});
