import { beforeEach, expect, test, vi } from 'vitest';
import { openFileSession, type VisualEditor } from '../../../src/extension/editors/editorSession.ts';

const said = vi.hoisted(() => [] as string[]);

vi.mock('vscode', () => {
  const listener = () => ({ dispose: () => {} });
  return {
    EventEmitter: class {
      readonly event = listener;
    },
    Uri: { joinPath: () => ({}) },
    DiagnosticSeverity: {},
    Range: class {},
    WorkspaceEdit: class {
      replace() {}
    },
    window: {
      showErrorMessage: (message: string) => said.push(message),
      showWarningMessage: (message: string) => said.push(message),
    },
    workspace: {
      isTrusted: true,
      applyEdit: async () => true,
      onDidChangeTextDocument: listener,
      onDidSaveTextDocument: listener,
      onDidGrantWorkspaceTrust: listener,
    },
  };
});

beforeEach(() => {
  said.length = 0;
  text = 'id: shy\n';
});

const gone = () => {
  throw new Error('the run is gone');
};

let text = '';

/** Opens an editor of a file outside of any domain, sends messages of its page, and returns what the page receives. */
async function told(editor: Partial<VisualEditor>, ...messages: readonly unknown[]): Promise<readonly unknown[]> {
  const posted: { readonly type: string; readonly message: unknown }[] = [];
  let receive: (message: unknown) => Promise<void> = async () => {};
  const webview = {
    asWebviewUri: String,
    postMessage: (message: (typeof posted)[number]) => posted.push(message),
    onDidReceiveMessage: (listener: typeof receive) => {
      receive = listener;
      return { dispose: () => {} };
    },
  };
  const panel = { webview, onDidChangeViewState: () => {}, onDidDispose: () => {} };
  const document = {
    uri: { scheme: 'untitled', path: '/desk/shy.persona.yaml' },
    getText: () => text,
    positionAt: () => 0,
  };
  const content = { broken: null, items: [], index: 0, errors: [], content: null };
  openFileSession(
    { log: { error: () => {}, warn: () => {} }, extension: {} } as never,
    { view: 'personaEditor', title: 'Persona', contentOf: async () => content, ...editor },
    document as never,
    panel as never,
  );
  for (const message of messages) await receive(message);
  await vi.waitFor(() => expect(posted.length + said.length).toBeGreaterThan(0), { timeout: 240_000 });
  return posted.map(({ message }) => message);
}

test('a page that nothing can be shown in says why', async () => {
  const broken = { message: "It can't be shown: the run is gone", line: 0 };
  expect(await told({ contentOf: gone }, { type: 'ready' })).toMatchObject([{ type: 'shown', broken, content: null }]);
  expect(said).toEqual([]);
});

test.each<[string, Partial<VisualEditor>]>([
  ["The change can't be made", { editsOf: () => gone }],
  ["It can't be opened", { open: async () => gone() }],
  ["It can't be shown", { answer: gone }],
])('a request of a page that fails is reported by its name: %s', async (what, editor) => {
  await told(editor, { type: 'editor', message: { type: 'openRuleRecording', rule: 'R1' } });
  expect(said).toEqual([`${what}: the run is gone`]);
});

test('a change of a shared value names its other users, once for each value', async () => {
  text = 'a: &x { b: 1, c: 1 }\nd: *x\n';
  const set = (key: string, value: number) => ({ type: 'editor', message: { type: 'set', path: ['d', key], value } });
  await told({}, set('b', 2), set('b', 3));
  const warning = 'This value is shared through a YAML anchor. The change also applies to a.b (line 1).';
  await vi.waitFor(() => expect(said).toEqual([warning]), { timeout: 240_000 });
});
