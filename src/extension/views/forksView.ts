import { basename } from 'node:path';
import * as vscode from 'vscode';
import { allNodes, editText, type ForkNode, forkTreeOf, resultText } from '../debug/forkTree.ts';
import type { ShownRecording } from '../debug/rolloutActions.ts';
import { debugType } from '../workspace/contributions.ts';
import { showInformationMessage } from '../workspace/messages.ts';
import { withKeys } from './focusedRow.ts';

/** A session stops, forks and is rewarded in quick succession. */
const settleMs = 300;

/** Shows the recordings of the debugged rollout as a tree of forks in the Run and Debug view. */
export function registerForksView(): vscode.Disposable {
  const view = vscode.window.createTreeView('rehearsal.forks', {
    treeDataProvider: forks,
    canSelectMany: true,
    showCollapseAll: false,
  });
  return vscode.Disposable.from(
    withKeys('rehearsal.forks', view),
    forks,
    view.onDidChangeVisibility(({ visible }) => visible && forks.refresh()),
    vscode.debug.onDidChangeActiveStackItem(() => void forks.follow()),
    vscode.debug.onDidTerminateDebugSession(() => forks.refresh()),
    vscode.debug.onDidReceiveDebugSessionCustomEvent(({ event }) => {
      if (event === 'rehearsal/forked') void forks.follow();
    }),
  );
}

/** The tree that a recording belongs to, as the view and its commands share it. */
class ForksTree implements vscode.TreeDataProvider<ForkNode> {
  readonly #changed = new vscode.EventEmitter<void>();
  readonly onDidChangeTreeData = this.#changed.event;
  #timer: NodeJS.Timeout | undefined;
  /** The recording that is debugged, or was last. */
  #current = '';

  refresh(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#changed.fire(), settleMs);
  }

  dispose(): void {
    clearTimeout(this.#timer);
  }

  /** Keeps the recording that is debugged, also while the view is hidden: after the session no one can be asked. */
  async follow(): Promise<void> {
    const session = vscode.debug.activeDebugSession;
    if (session?.type !== debugType) return;
    try {
      const { path }: ShownRecording = await session.customRequest('rehearsal/recording');
      if (path !== '') this.#current = path;
    } catch {
      return; // a session that has just ended
    }
    this.refresh();
  }

  async getChildren(node?: ForkNode): Promise<ForkNode[]> {
    if (node) return [...node.children];
    return [...(await this.tree())];
  }

  /** The tree that the recording belongs to which is debugged, or was last. */
  async tree(): Promise<readonly ForkNode[]> {
    return this.#current === '' ? [] : forkTreeOf(this.#current);
  }

  getTreeItem(node: ForkNode): vscode.TreeItem {
    const isCurrent = node.path === this.#current && vscode.debug.activeDebugSession?.type === debugType;
    const item = new vscode.TreeItem(
      node.label,
      node.children.length > 0 ? vscode.TreeItemCollapsibleState.Expanded : vscode.TreeItemCollapsibleState.None,
    );
    const reward = resultText(node);
    const from = editText(node);
    // A row that gets its first fork is a new row, so that it opens by itself.
    item.id = `${node.path}${node.children.length > 0 ? ' with forks' : ''}`;
    // A narrow view cuts the end, so the reward is first.
    item.description = [reward, isCurrent ? 'shown' : '', from].filter(Boolean).join(' · ');
    const seats = `agent: ${node.seats.agent}, user: ${node.seats.user}`;
    item.tooltip = [basename(node.path), reward, from, seats].filter(Boolean).join('\n');
    const facts = [node.label, reward, isCurrent ? 'shown in the debugger' : '', from];
    item.accessibilityInformation = { label: facts.filter(Boolean).join(', ') };
    item.iconPath = iconOf(node, isCurrent);
    item.contextValue = 'fork';
    item.command = { command: 'vscode.open', title: 'Open', arguments: [vscode.Uri.file(node.path)] };
    return item;
  }
}

const forks = new ForksTree();

/** The one that is shown by its form, a reward by its form and colour. */
function iconOf({ reward }: ForkNode, isCurrent: boolean): vscode.ThemeIcon {
  if (isCurrent) return new vscode.ThemeIcon('debug-stackframe', new vscode.ThemeColor('charts.yellow'));
  if (reward === undefined || reward === null) return new vscode.ThemeIcon('circle-outline');
  return reward === 1
    ? new vscode.ThemeIcon('pass', new vscode.ThemeColor('testing.iconPassed'))
    : new vscode.ThemeIcon('error', new vscode.ThemeColor('testing.iconFailed'));
}

/** Compares two recordings: those that were selected, else the one of the row or of a first list, and one of a list. */
export async function compareForks(node: unknown, selected: unknown): Promise<unknown> {
  const chosen = (Array.isArray(selected) && selected.length === 2 ? selected : [node]) as ForkNode[];
  const [row, second] = chosen;
  const nodes = allNodes(await forks.tree());
  if (second === undefined && nodes.length < 2) {
    void showInformationMessage('There is nothing to compare with yet: edit a message to make a fork.');
    return undefined;
  }
  const one = row ?? (await pickFork(nodes, 'Which recording do you want to compare?'));
  const other = second ?? (one && (await pickOther(nodes, one)));
  if (!one || !other) return undefined;
  return vscode.commands.executeCommand(
    'rehearsal.recordings.compare',
    vscode.Uri.file(one.path),
    vscode.Uri.file(other.path),
  );
}

function pickOther(nodes: readonly ForkNode[], one: ForkNode): Promise<ForkNode | undefined> {
  const isParent = ({ path }: ForkNode) => basename(path) === one.parent?.name;
  const others = nodes
    .filter(({ path }) => path !== one.path)
    .toSorted((a, b) => Number(isParent(b)) - Number(isParent(a)));
  return pickFork(others, `Compare ${one.label} with which?`);
}

async function pickFork(nodes: readonly ForkNode[], placeHolder: string): Promise<ForkNode | undefined> {
  const items = nodes.map((node) => ({
    label: node.label,
    description: resultText(node),
    detail: editText(node),
    node,
  }));
  return (await vscode.window.showQuickPick(items, { placeHolder }))?.node;
}
