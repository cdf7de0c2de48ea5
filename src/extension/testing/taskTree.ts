import { basename, join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import * as vscode from 'vscode';
import { messageOf } from '../../engine/shell/fault.ts';
import type { DomainRow, Grouping, TaskRow } from './domainRow.ts';
import { grouping } from './settings.ts';

/** What an item of the Test Explorer stands for. */
export type TestNode =
  | { readonly type: 'domain'; readonly folder: string }
  | { readonly type: 'group'; readonly folder: string }
  | { readonly type: 'task'; readonly folder: string; readonly row: TaskRow }
  | { readonly type: 'trial'; readonly folder: string; readonly task: string; readonly trial: number }
  | { readonly type: 'file'; readonly folder: string };

/** Items that are added at once; then the extension host does what else waits. */
const itemsAtOnce = 200;

/**
 * Domains, their splits or personas, and their tasks, as items of the Test Explorer. A domain is read when it is
 * opened; an item whose task is still there after a change stays the same item, so that its results stay.
 */
export class TaskTree {
  readonly #controller: vscode.TestController;
  readonly #folders: () => Promise<readonly string[]>;
  readonly #readRow: (folder: string, grouping: Grouping) => Promise<DomainRow | undefined>;
  readonly #nodes = new WeakMap<vscode.TestItem, TestNode>();
  readonly #tasks = new Map<string, Map<string, vscode.TestItem>>();
  readonly #reading = new Map<string, Promise<void>>();

  /**
   * @param folders gives the folders of the domains that are there
   * @param readRow reads one; undefined where it can't be read at the moment
   */
  constructor(
    controller: vscode.TestController,
    folders: () => Promise<readonly string[]>,
    readRow: (folder: string, grouping: Grouping) => Promise<DomainRow | undefined>,
  ) {
    this.#controller = controller;
    this.#folders = folders;
    this.#readRow = readRow;
  }

  node(item: vscode.TestItem): TestNode | undefined {
    return this.#nodes.get(item);
  }

  /** The item of a task, where its domain was read. */
  task(folder: string, task: string): vscode.TestItem | undefined {
    return this.#tasks.get(folder)?.get(task);
  }

  /** Domains that were read. */
  get folders(): readonly string[] {
    return [...this.#tasks.keys()];
  }

  /** What VS Code asks for: the domains, or what is in one. */
  async resolve(item?: vscode.TestItem): Promise<void> {
    if (!item) return this.findDomains();
    const node = this.#nodes.get(item);
    if (node?.type === 'domain' && !this.#tasks.has(node.folder)) await this.read(node.folder);
  }

  /** Looks for domains that came or went. */
  async findDomains(): Promise<void> {
    const folders = await this.#folders();
    const { items } = this.#controller;
    const kept = folders.map((folder) => items.get(folder) ?? this.#domainItem(folder));
    items.replace(kept);
    for (const folder of this.#tasks.keys()) if (!folders.includes(folder)) this.#tasks.delete(folder);
  }

  #domainItem(folder: string): vscode.TestItem {
    const item = this.#controller.createTestItem(
      folder,
      basename(folder),
      vscode.Uri.file(join(folder, 'domain.yaml')),
    );
    item.canResolveChildren = true;
    this.#nodes.set(item, { type: 'domain', folder });
    return item;
  }

  /** Reads a domain, or reads it again; whoever asks meanwhile waits for the same reading, and a later one follows it. */
  async read(folder: string): Promise<void> {
    const before = this.#reading.get(folder);
    const reading = (before ?? Promise.resolve()).then(() => this.#read(folder));
    this.#reading.set(folder, reading);
    try {
      await reading;
    } finally {
      if (this.#reading.get(folder) === reading) this.#reading.delete(folder);
    }
  }

  async #read(folder: string): Promise<void> {
    const item = this.#controller.items.get(folder);
    if (!item) return;
    item.busy = true;
    try {
      const row = await this.#readRow(folder, grouping());
      if (row) await this.#show(item, row);
    } catch (error) {
      item.error = `The domain can't be read: ${messageOf(error)}`;
    } finally {
      item.busy = false;
    }
  }

  async #show(item: vscode.TestItem, row: DomainRow): Promise<void> {
    const { folder } = row;
    item.label = row.name;
    item.error = row.error;
    const before = this.#tasks.get(folder) ?? new Map<string, vscode.TestItem>();
    const tasks = new Map<string, vscode.TestItem>();
    const groups: vscode.TestItem[] = [];
    for (const { name, tasks: rows } of row.groups) {
      const group = this.#groupItem(item, folder, name);
      const members: vscode.TestItem[] = [];
      for (const each of rows) {
        const known = before.get(each.id);
        const isHere = known !== undefined && known.parent === group && isSameFile(known, each);
        const member = isHere ? known : this.#taskItem(folder, each);
        this.#showTask(member, folder, each);
        members.push(member);
        tasks.set(each.id, member);
        if (members.length % itemsAtOnce === 0) await setImmediate();
      }
      if (isOther(group.children, members)) group.children.replace(members);
      groups.push(group);
    }
    const broken = row.broken.map(({ file, line, error }) => this.#fileItem(item, folder, file, line, error));
    const shown = [...groups, ...broken];
    if (isOther(item.children, shown)) item.children.replace(shown);
    this.#tasks.set(folder, tasks);
  }

  #groupItem(parent: vscode.TestItem, folder: string, name: string): vscode.TestItem {
    const kind = grouping();
    const id = `${kind}:${name}`;
    const known = parent.children.get(id);
    if (known) return known;
    const group = this.#controller.createTestItem(id, name);
    group.tags = [new vscode.TestTag(id)];
    this.#nodes.set(group, { type: 'group', folder });
    return group;
  }

  #taskItem(folder: string, { id, at }: TaskRow): vscode.TestItem {
    const uri = vscode.Uri.file(at?.file ?? join(folder, 'domain.yaml'));
    return this.#controller.createTestItem(id, id, uri);
  }

  #showTask(item: vscode.TestItem, folder: string, row: TaskRow): void {
    const before = this.#nodes.get(item);
    this.#nodes.set(item, { type: 'task', folder, row });
    if (before?.type === 'task' && JSON.stringify(before.row) === JSON.stringify(row)) return;
    item.sortText = row.id;
    item.tags = [new vscode.TestTag(`split:${row.split}`), new vscode.TestTag(`persona:${row.persona}`)];
    item.error = row.error;
    item.range = row.at ? rangeOf(row.at) : undefined;
  }

  #fileItem(parent: vscode.TestItem, folder: string, file: string, line: number, error: string): vscode.TestItem {
    const id = `file:${file}`;
    const item = parent.children.get(id) ?? this.#controller.createTestItem(id, basename(file), vscode.Uri.file(file));
    item.range = new vscode.Range(line - 1, 0, line - 1, 0);
    item.error = error;
    this.#nodes.set(item, { type: 'file', folder });
    return item;
  }

  /** The item of a trial under its task, made where there is none. */
  trial(task: vscode.TestItem, trial: number): vscode.TestItem {
    const id = `trial:${trial}`;
    const known = task.children.get(id);
    if (known) return known;
    const item = this.#controller.createTestItem(id, `trial ${trial}`, task.uri);
    item.sortText = String(trial).padStart(7, '0');
    item.range = task.range;
    item.tags = task.tags;
    const node = this.#nodes.get(task);
    if (node?.type === 'task') this.#nodes.set(item, { type: 'trial', folder: node.folder, task: node.row.id, trial });
    task.children.add(item);
    return item;
  }
}

/** Lines and columns of the engine count from 1. The icon stands beside the task's first line. */
function rangeOf({ line, column, endLine, endColumn }: NonNullable<TaskRow['at']>): vscode.Range {
  return new vscode.Range(line - 1, column - 1, endLine - 1, endColumn - 1);
}

function isSameFile(item: vscode.TestItem, { at }: TaskRow): boolean {
  return at === undefined || item.uri?.fsPath === at.file;
}

function isOther(children: vscode.TestItemCollection, wanted: readonly vscode.TestItem[]): boolean {
  return children.size !== wanted.length || wanted.some((item) => children.get(item.id) !== item);
}
