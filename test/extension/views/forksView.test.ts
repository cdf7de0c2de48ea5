import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test, vi } from 'vitest';
import type { ForkNode } from '../../../src/extension/debug/forkTree.ts';
import { compareForks, registerForksView } from '../../../src/extension/views/forksView.ts';
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
  asked: [] as (readonly string[])[],
  ran: [] as (readonly unknown[])[],
  said: [] as string[],
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
    commands: { executeCommand: async (...given: readonly unknown[]) => void editor.ran.push(given) },
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
      showInformationMessage: async (message: string) => void editor.said.push(message),
      showQuickPick: async (items: readonly { readonly label: string }[], { placeHolder = '' }) => {
        editor.asked.push([placeHolder, ...items.map(({ label }) => label)]);
        return items[0];
      },
      createTreeView: (_: string, { treeDataProvider }: { treeDataProvider: Provider }) => {
        editor.provider = treeDataProvider;
        return { visible: false, onDidChangeVisibility: nothing };
      },
    },
  };
});

/** A recording with its fork, and a session that shows the fork. */
function forked(forks = 1): Session {
  const folder = temporaryFolder('rehearsal-forks-view');
  const seats = { agent: 'gold', user: 'agenda' };
  const write = (name: string, parent?: object) => {
    const event = { type: 'rolloutStarted', seats, ...(parent ? { parent } : {}) };
    writeFileSync(join(folder, `${name}.traj.jsonl`), `${JSON.stringify({ n: 0, event })}\n`);
  };
  write('a.0');
  if (forks > 0) write('a.0.fork-1', { recording: 'a.0.traj.jsonl', event: 3, edit: 'an edit' });
  const shown = forks > 0 ? 'a.0.fork-1' : 'a.0';
  return { type: 'rehearsal', customRequest: async () => ({ path: join(folder, `${shown}.traj.jsonl`) }) };
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

test('without a row, Compare with… asks for both recordings, and says so where there is only one', async () => {
  const labels = async () => (await provider().getChildren()).flatMap((node) => [node, ...node.children]);
  editor.session = forked();
  editor.moved();
  await vi.waitFor(async () => expect(await labels()).toHaveLength(2));
  await compareForks(undefined, undefined);
  expect(editor.asked).toEqual([
    ['Which recording do you want to compare?', 'a.0', 'fork 1'],
    ['Compare a.0 with which?', 'fork 1'],
  ]);
  const [[command, ...files] = []] = editor.ran as { readonly fsPath: string }[][];
  expect(command).toBe('rehearsal.recordings.compare');
  expect(files.map(({ fsPath }) => fsPath.split('/').at(-1))).toEqual(['a.0.traj.jsonl', 'a.0.fork-1.traj.jsonl']);
  editor.session = forked(0);
  editor.moved();
  await vi.waitFor(async () => expect(await labels()).toHaveLength(1));
  editor.asked = [];
  await compareForks(undefined, undefined);
  expect([editor.asked, editor.said]).toEqual([
    [],
    ['There is nothing to compare with yet: edit a message to make a fork.'],
  ]);
});
