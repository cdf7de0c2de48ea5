import { basename } from 'node:path';
import * as vscode from 'vscode';
import { counted } from '../../engine/core/text/counted.ts';
import { type Diagnostic, errorsOf, placeAt } from '../../engine/shell/files/diagnostic.ts';
import type { ListedItem } from '../../language/contents.ts';
import { type Page, pageSize } from '../../language/symbols/pages.ts';
import type { LanguageClient } from '../language/languageClient.ts';
import { markEmpty } from '../workspace/emptyViews.ts';
import { domainFolders } from '../workspace/workspaceDomains.ts';

export type DomainNode = {
  readonly type: 'domain';
  readonly folder: string;
  /** The path in the workspace, where another domain's folder has the same name. */
  readonly place?: string;
};
/** The tools or the personas of a domain, as a group. */
type GroupNode = { readonly type: 'tools' | 'personas'; readonly folder: string };
export type ToolNode = {
  readonly type: 'tool';
  readonly folder: string;
  readonly tool: string;
  readonly effect: string;
};
/** Tasks of one file, where a domain has more of them than one list can show. */
type PageNode = Page & { readonly type: 'page'; readonly folder: string };
type ItemNode = Omit<ListedItem, 'id'> & { readonly folder: string };
type PersonaNode = ItemNode & { readonly type: 'persona'; readonly id: string };
export type TaskNode = ItemNode & { readonly type: 'task'; readonly task: string };

type Node = DomainNode | GroupNode | PageNode | ToolNode | PersonaNode | TaskNode;

/** Whether the target of a command is a row of a domain, or of something in it that is not a task. */
export function isDomainRow(target: unknown): target is Exclude<Node, TaskNode> {
  const { type = '', folder } = (target ?? {}) as Partial<Node>;
  return folder !== undefined && ['domain', 'tools', 'personas', 'page', 'tool', 'persona'].includes(type);
}

/** Domains of the workspace, their tools, their personas and their tasks, as the worker of the language features has them. */
export class DomainsTree implements vscode.TreeDataProvider<Node> {
  readonly #changed = new vscode.EventEmitter<void>();
  readonly onDidChangeTreeData = this.#changed.event;
  readonly #client: Pick<LanguageClient, 'askIn'>;
  /** The errors that the rows show, by the folders of the domains. */
  readonly #errors = new Map<string, readonly Diagnostic[]>();

  constructor(client: Pick<LanguageClient, 'askIn'>) {
    this.#client = client;
  }

  refresh(): void {
    this.#changed.fire();
  }

  /** Shows the rows again where the errors of a domain's tasks and personas have changed. */
  showErrors(folder: string, findings: readonly Diagnostic[]): void {
    const errors = errorsOf(findings).filter(({ file }) => /\.(?:persona|task)\.yaml$/.test(file));
    const before = this.#errors.get(folder) ?? [];
    this.#errors.set(folder, errors);
    if (JSON.stringify(errors) !== JSON.stringify(before)) this.refresh();
  }

  /** Returns an item with the first error that a check found in it. */
  #withError(folder: string, item: ListedItem): ListedItem {
    if (item.error !== undefined) return item;
    const { file, line, endLine } = item.at;
    const found = this.#errors
      .get(folder)
      ?.find((each) => each.file === file && each.line >= line && each.line <= endLine);
    if (!found) return item;
    const { message, hint } = found;
    return { ...item, description: message, at: placeAt(found), error: [message, hint].filter(Boolean).join(' ') };
  }

  async getChildren(node?: Node): Promise<Node[]> {
    if (!node) {
      const folders = await domainFolders();
      markEmpty('domains', folders.length === 0);
      return domainNodes(folders);
    }
    if (node.type === 'task' || node.type === 'tool' || node.type === 'persona') return [];
    const { folder } = node;
    if (node.type === 'page') return this.#tasks(folder, node.from, node.to);
    const contents = await this.#client.askIn(folder, { type: 'contents' });
    if (!contents) return [];
    const { tools, personas, taskPages } = contents;
    switch (node.type) {
      case 'tools':
        return tools.map(({ name, effect }): ToolNode => ({ type: 'tool', folder, tool: name, effect }));
      case 'personas':
        return personas.map((item): PersonaNode => ({ type: 'persona', folder, ...this.#withError(folder, item) }));
      case 'domain': {
        const count = taskPages.at(-1)?.to ?? 0;
        return [
          ...(tools.length > 0 ? [{ type: 'tools', folder } as const] : []),
          ...(personas.length > 0 ? [{ type: 'personas', folder } as const] : []),
          ...(count > pageSize
            ? taskPages.map((page): PageNode => ({ type: 'page', folder, ...page }))
            : await this.#tasks(folder, 0, count)),
        ];
      }
      default:
        return node satisfies never;
    }
  }

  async #tasks(folder: string, from: number, to: number): Promise<TaskNode[]> {
    const tasks = (await this.#client.askIn(folder, { type: 'taskPage', from, to })) ?? [];
    return tasks.map((each) => {
      const { id, ...item } = this.#withError(folder, each);
      return { type: 'task', folder, task: id, ...item };
    });
  }

  /** Without a name of its own a screen reader reads the tooltip of a row. */
  getTreeItem(node: Node): vscode.TreeItem {
    const item = itemOf(node);
    const state = 'error' in node ? 'error' : undefined;
    item.accessibilityInformation = { label: [item.label, state, item.description].filter(Boolean).join(', ') };
    return item;
  }
}

function itemOf(node: Node): vscode.TreeItem {
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
    case 'page':
      return pageItem(node);
    case 'tool':
      return toolItem(node);
    default:
      return node satisfies never;
  }
}

function domainNodes(folders: readonly string[]): DomainNode[] {
  const byName = Map.groupBy(folders, (folder) => basename(folder));
  return folders.map((folder) => {
    const isOnly = byName.get(basename(folder))?.length === 1;
    return { type: 'domain', folder, ...(isOnly ? {} : { place: vscode.workspace.asRelativePath(folder) }) };
  });
}

function domainItem({ folder, place }: DomainNode): vscode.TreeItem {
  const item = new vscode.TreeItem(basename(folder), vscode.TreeItemCollapsibleState.Expanded);
  item.iconPath = new vscode.ThemeIcon('comment-discussion');
  item.contextValue = 'domain';
  if (place !== undefined) item.description = place;
  item.tooltip = folder;
  return item;
}

function pageItem({ folder, name, file, from, to }: PageNode): vscode.TreeItem {
  const item = new vscode.TreeItem(name, vscode.TreeItemCollapsibleState.Collapsed);
  item.iconPath = new vscode.ThemeIcon('list-unordered');
  item.id = `page ${folder} ${from}`;
  item.description = counted(to - from, 'task');
  item.contextValue = 'page';
  item.tooltip = file;
  return item;
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

function placedItem({ type, description, isDraft, at, error }: TaskNode | PersonaNode, id: string, icon: string) {
  const item = new vscode.TreeItem(id);
  item.tooltip = error === undefined ? description : `${basename(at.file)}:${at.line}: ${error}`;
  item.description = isDraft ? `draft · ${description}` : description;
  item.contextValue = isDraft ? `${type}.draft` : error === undefined ? type : `${type}.unread`;
  item.iconPath =
    error === undefined
      ? new vscode.ThemeIcon(isDraft ? 'edit' : icon)
      : new vscode.ThemeIcon('error', new vscode.ThemeColor('list.errorForeground'));
  const column = error === undefined ? 0 : at.column - 1;
  const selection = new vscode.Range(at.line - 1, column, at.line - 1, column);
  const file = vscode.Uri.file(at.file);
  item.command = { command: 'vscode.open', title: `Open ${type}`, arguments: [file, { selection }] };
  return item;
}
