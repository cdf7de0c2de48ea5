import { basename } from 'node:path';
import * as vscode from 'vscode';
import type { Location } from '../../engine/shell/diagnostic.ts';
import { domainFolders, readDomain } from '../workspaceDomains.ts';

export type DomainNode = { readonly type: 'domain'; readonly folder: string };
export type TaskNode = {
  readonly type: 'task';
  readonly folder: string;
  readonly task: string;
  readonly description: string;
  readonly at: Location | undefined;
};

/** Domains of the workspace and their tasks. */
export class DomainsTree implements vscode.TreeDataProvider<DomainNode | TaskNode> {
  readonly #changed = new vscode.EventEmitter<void>();
  readonly onDidChangeTreeData = this.#changed.event;

  refresh(): void {
    this.#changed.fire();
  }

  async getChildren(node?: DomainNode | TaskNode): Promise<(DomainNode | TaskNode)[]> {
    if (!node) return (await domainFolders()).map((folder) => ({ type: 'domain', folder }));
    if (node.type === 'task') return [];
    const { domain, locations } = await readDomain(node.folder);
    return domain.tasks.map(({ id, description = '' }) => ({
      type: 'task',
      folder: node.folder,
      task: id,
      description,
      at: locations.tasks.get(id),
    }));
  }

  getTreeItem(node: DomainNode | TaskNode): vscode.TreeItem {
    return node.type === 'domain' ? domainItem(node) : taskItem(node);
  }
}

function domainItem({ folder }: DomainNode): vscode.TreeItem {
  const item = new vscode.TreeItem(basename(folder), vscode.TreeItemCollapsibleState.Expanded);
  item.iconPath = new vscode.ThemeIcon('comment-discussion');
  item.contextValue = 'domain';
  item.tooltip = folder;
  return item;
}

function taskItem(node: TaskNode): vscode.TreeItem {
  const item = new vscode.TreeItem(node.task);
  item.tooltip = node.description;
  item.description = node.description;
  item.contextValue = 'task';
  item.iconPath = new vscode.ThemeIcon('checklist');
  if (node.at) {
    const at = new vscode.Range(node.at.line - 1, 0, node.at.line - 1, 0);
    item.command = {
      command: 'vscode.open',
      title: 'Open task',
      arguments: [vscode.Uri.file(node.at.file), { selection: at }],
    };
  }
  return item;
}
