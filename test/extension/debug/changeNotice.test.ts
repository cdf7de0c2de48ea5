import { beforeEach, expect, test, vi } from 'vitest';
import { registerChangeNotice } from '../../../src/extension/debug/changeNotice.ts';

type Edited = { readonly file: string; readonly since: number };
type Session = {
  readonly type: string;
  readonly id: string;
  readonly customRequest: () => Promise<{ readonly files: readonly Edited[] }>;
};
type Heard = (event: unknown) => void;
const editor = vi.hoisted(() => ({
  isShown: false,
  item: { text: '', tooltip: '' },
  saved: (() => {}) as Heard,
  active: undefined as unknown,
  started: (() => {}) as Heard,
  ended: (() => {}) as Heard,
  activated: (() => {}) as Heard,
  sent: (() => {}) as Heard,
}));

vi.mock('vscode', () => {
  const never = () => ({ dispose: () => undefined });
  const hearing = (name: 'started' | 'ended' | 'activated' | 'sent' | 'saved') => (heard: Heard) => {
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
      createStatusBarItem: () =>
        Object.assign(editor.item, {
          show: () => {
            editor.isShown = true;
          },
          hide: () => {
            editor.isShown = false;
          },
        }),
    },
    workspace: { onDidSaveTextDocument: hearing('saved') },
  };
});
vi.mock('../../../src/extension/workspace/domainWatch.ts', () => ({ onDidChangeFile: () => undefined }));

/** The edited files that each session has, by its id. */
const edited = new Map<string, readonly Edited[]>();
const sessionOf = (id: string): Session => ({
  type: 'rehearsal',
  id,
  customRequest: async () => ({ files: edited.get(id) ?? [] }),
});
const one = sessionOf('one');
const other = sessionOf('other');
const activate = (session: Session) => {
  editor.active = session;
  editor.activated(session);
};

beforeEach(() => {
  Object.assign(editor, { isShown: false, active: one });
  registerChangeNotice();
  edited.set('one', [{ file: '/work/policy.md', since: 16 }]);
  editor.sent({ session: one, event: 'rehearsal/filesChanged', body: { files: edited.get('one') } });
  expect(editor).toMatchObject({ isShown: true, item: { text: '$(repo-forked) policy.md changed since step 16' } });
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

test('the notice names the files that differ now, and the step after which the first of them changed', async () => {
  const names = ['policy.md', 'rules.yaml', 'tools.ts', 'domain.yaml', 'plain.persona.yaml'];
  const save = async (...files: readonly Edited[]) => {
    edited.set('one', files);
    await editor.saved(undefined);
  };
  const all = names.map((name, index) => ({ file: `/work/${name}`, since: 16 + index }));
  await save(...all);
  expect(editor.item.text).toBe('$(repo-forked) policy.md, rules.yaml, tools.ts and 2 more changed since step 16');
  expect(editor.item.tooltip).toMatch(/^policy\.md, rules\.yaml, tools\.ts, domain\.yaml, plain\.persona\.yaml\. /);
  await save(...all.slice(1, 3));
  expect(editor.item.text).toBe('$(repo-forked) rules.yaml, tools.ts changed since step 17');
  await save();
  expect(editor.isShown).toBe(false);
});

test('a fork with the changed files ends the notice, and another fork does not', async () => {
  const fork = async () => {
    editor.sent({ session: one, event: 'rehearsal/forked', body: {} });
    await new Promise(setImmediate);
  };
  await fork();
  expect(editor.isShown).toBe(true);
  edited.delete('one');
  await fork();
  expect(editor.isShown).toBe(false);
});
