import { basename } from 'node:path';
import * as vscode from 'vscode';
import type { Location } from '../../engine/shell/diagnostic.ts';
import { domainFolders, readDomain } from '../workspaceDomains.ts';

export type DomainNode = { readonly type: 'domain'; readonly folder: string };
/** The tools or the personas of a domain, as a group. */
type GroupNode = { readonly type: 'tools' | 'personas'; readonly folder: string };
export type ToolNode = {
  readonly type: 'tool';
  readonly folder: string;
  readonly tool: string;
  readonly effect: string;
};
/** A task or a persona; nothing counts a draft until it is accepted. */
type ItemNode = {
  readonly folder: string;
  readonly description: string;
  readonly at: Location | undefined;
  readonly isDraft: boolean;
};
type PersonaNode = ItemNode & { readonly type: 'persona'; readonly id: string };
export type TaskNode = ItemNode & { readonly type: 'task'; readonly task: string };

type Node = DomainNode | GroupNode | ToolNode | PersonaNode | TaskNode;

/** Domains of the workspace, their tools, their personas and their tasks. */
export class DomainsTree implements vscode.TreeDataProvider<Node> {
  readonly #changed = new vscode.EventEmitter<void>();
  readonly onDidChangeTreeData = this.#changed.event;

  refresh(): void {
    this.#changed.fire();
  }

  async getChildren(node?: Node): Promise<Node[]> {
    if (!node) return (await domainFolders()).map((folder) => ({ type: 'domain', folder }));
    if (node.type === 'task' || node.type === 'tool' || node.type === 'persona') return [];
    const { folder } = node;
    const { locations, parts } = await readDomain(folder);
    switch (node.type) {
      case 'tools':
        return toolsIn(folder, parts.scan.declared);
      case 'personas':
        return draftsLast(
          parts.personas.map(({ value: { id, description, draft = false } }): PersonaNode => {
            const at = locations.personas.get(id);
            return { type: 'persona', folder, id, description, at, isDraft: draft };
          }),
        );
      case 'domain':
        return [
          ...(parts.scan.declared.size > 0 ? [{ type: 'tools', folder } as const] : []),
          ...(parts.personas.length > 0 ? [{ type: 'personas', folder } as const] : []),
          ...draftsLast(
            parts.tasks.map(({ value: { id, description = '', draft = false } }): TaskNode => {
              const at = locations.tasks.get(id);
              return { type: 'task', folder, task: id, description, at, isDraft: draft };
            }),
          ),
        ];
      default:
        return node satisfies never;
    }
  }

  getTreeItem(node: Node): vscode.TreeItem {
    switch (node.type) {
      case 'domain':
        return domainItem(node);
      case 'task':
        return placedItem(node, node.task, 'checklist');
      case 'persona':
        return placedItem(node, node.id, 'account');
      case 'tools':
        return groupItem(node, 'Tools', 'tools');
      case 'personas':
        return groupItem(node, 'Personas', 'organization');
      case 'tool':
        return toolItem(node);
      default:
        return node satisfies never;
    }
  }
}

function domainItem({ folder }: DomainNode): vscode.TreeItem {
  const item = new vscode.TreeItem(basename(folder), vscode.TreeItemCollapsibleState.Expanded);
  item.iconPath = new vscode.ThemeIcon('comment-discussion');
  item.contextValue = 'domain';
  item.tooltip = folder;
  return item;
}

function toolsIn(folder: string, declared: ReadonlyMap<string, { readonly effect: string | null }>): Node[] {
  return [...declared].map(([tool, { effect }]) => ({ type: 'tool', folder, tool, effect: effect ?? '' }));
}

function draftsLast<Item extends ItemNode>(items: readonly Item[]): Item[] {
  return items.toSorted((one, other) => Number(one.isDraft) - Number(other.isDraft));
}

function groupItem({ type, folder }: GroupNode, label: string, icon: string): vscode.TreeItem {
  const item = new vscode.TreeItem(label, vscode.TreeItemCollapsibleState.Collapsed);
  item.iconPath = new vscode.ThemeIcon(icon);
  item.id = `${type} ${folder}`;
  item.contextValue = type;
  return item;
}

function toolItem(node: ToolNode): vscode.TreeItem {
  const item = new vscode.TreeItem(node.tool);
  item.description = node.effect;
  item.contextValue = 'tool';
  item.iconPath = new vscode.ThemeIcon('symbol-method');
  item.command = { command: 'rehearsal.tool.try', title: 'Try Tool', arguments: [node] };
  return item;
}

function placedItem({ type, description, isDraft, at }: TaskNode | PersonaNode, id: string, icon: string) {
  const item = new vscode.TreeItem(id);
  item.tooltip = description;
  item.description = isDraft ? `draft · ${description}` : description;
  item.contextValue = isDraft ? `${type}.draft` : type;
  item.iconPath = new vscode.ThemeIcon(isDraft ? 'edit' : icon);
  if (at) {
    const selection = new vscode.Range(at.line - 1, 0, at.line - 1, 0);
    const file = vscode.Uri.file(at.file);
    item.command = { command: 'vscode.open', title: `Open ${type}`, arguments: [file, { selection }] };
  }
  return item;
}
