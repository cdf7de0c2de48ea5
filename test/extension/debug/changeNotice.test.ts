import { expect, test, vi } from 'vitest';
import { registerChangeNotice } from '../../../src/extension/debug/changeNotice.ts';

type Heard = (event: object) => void;
const editor = vi.hoisted(() => ({ isShown: false, started: (() => {}) as Heard, sent: (() => {}) as Heard }));

vi.mock('vscode', () => {
  const nothing = () => ({ dispose: () => undefined });
  return {
    Disposable: { from: nothing },
    EventEmitter: class {},
    StatusBarAlignment: {},
    ThemeColor: class {},
    commands: { executeCommand: async () => undefined },
    debug: {
      onDidReceiveDebugSessionCustomEvent: (heard: Heard) => {
        editor.sent = heard;
      },
      onDidStartDebugSession: (heard: Heard) => {
        editor.started = heard;
      },
      onDidTerminateDebugSession: nothing,
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
    workspace: { onDidSaveTextDocument: nothing },
  };
});
vi.mock('../../../src/extension/workspace/domainWatch.ts', () => ({ onDidChangeDomainFiles: () => undefined }));

test('a session that starts again has no notice of changed files, also where its end was not reported', () => {
  registerChangeNotice();
  const session = { type: 'rehearsal' };
  const body = { files: [{ file: '/work/policy.md' }], since: 16 };
  editor.sent({ session, event: 'rehearsal/filesChanged', body });
  expect(editor.isShown).toBe(true);
  editor.started(session);
  expect(editor.isShown).toBe(false);
});
