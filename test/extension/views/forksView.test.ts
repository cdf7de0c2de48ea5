import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test, vi } from 'vitest';
import type { ForkNode } from '../../../src/extension/debug/forkTree.ts';
import { registerForksView } from '../../../src/extension/views/forksView.ts';
import { temporaryFolder } from '../../support/temporary.ts';

type Provider = {
  readonly getChildren: () => Promise<ForkNode[]>;
  readonly getTreeItem: (node: ForkNode) => { readonly description: string };
};
type Session = { readonly type: string; readonly customRequest: (name: string) => Promise<unknown> };

const editor = vi.hoisted(() => ({
  provider: undefined as Provider | undefined,
  session: undefined as Session | undefined,
  moved: () => {},
}));

vi.mock('vscode', () => {
  const nothing = () => ({ dispose: () => undefined });
  class Item {
    readonly label: string;
    constructor(label: string) {
      this.label = label;
    }
  }
  return {
    Disposable: { from: nothing },
    EventEmitter: class {
      readonly event = nothing;
      readonly fire = nothing;
    },
    ThemeColor: class {},
    ThemeIcon: class {},
    TreeItem: Item,
    TreeItemCollapsibleState: {},
    Uri: { file: (fsPath: string) => ({ fsPath }) },
    debug: {
      get activeDebugSession() {
        return editor.session;
      },
      onDidChangeActiveStackItem: (heard: () => void) => {
        editor.moved = heard;
      },
      onDidReceiveDebugSessionCustomEvent: nothing,
      onDidTerminateDebugSession: nothing,
    },
    window: {
      createTreeView: (_: string, { treeDataProvider }: { treeDataProvider: Provider }) => {
        editor.provider = treeDataProvider;
        return { visible: false, onDidChangeVisibility: nothing };
      },
    },
  };
});

/** A recording with its fork, and a session that shows the fork. */
function forked(): Session {
  const folder = temporaryFolder('rehearsal-forks-view');
  const seats = { agent: 'gold', user: 'agenda' };
  const write = (name: string, parent?: object) => {
    const event = { type: 'rolloutStarted', seats, ...(parent ? { parent } : {}) };
    writeFileSync(join(folder, `${name}.traj.jsonl`), `${JSON.stringify({ n: 0, event })}\n`);
  };
  write('a.0');
  write('a.0.fork-1', { recording: 'a.0.traj.jsonl', event: 3, edit: 'an edit' });
  return { type: 'rehearsal', customRequest: async () => ({ path: join(folder, 'a.0.fork-1.traj.jsonl') }) };
}

beforeEach(() => {
  registerForksView();
});

const provider = () => editor.provider as Provider;
const descriptions = (nodes: readonly ForkNode[]): readonly string[] =>
  nodes.flatMap((node) => [provider().getTreeItem(node).description, ...descriptions(node.children)]);

test('the forks of the last recording are listed after its session, also where the view was hidden', async () => {
  expect(await provider().getChildren()).toEqual([]);
  editor.session = forked();
  editor.moved();
  await vi.waitFor(async () => expect(await provider().getChildren()).toHaveLength(1));
  const during = descriptions(await provider().getChildren());
  expect(during).toEqual(['unfinished', 'unfinished · shown · after step 3: an edit']);
  editor.session = undefined;
  const after = descriptions(await provider().getChildren());
  expect(after).toEqual(['unfinished', 'unfinished · after step 3: an edit']);
});
