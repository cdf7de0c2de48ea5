import { basename, join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import * as vscode from 'vscode';
import { messageOf } from '../../engine/shell/files/fault.ts';
import type { DomainRow, Grouping, TaskRow } from '../../language/service/domainRow.ts';
import { type Page, pageSize, pagesOf } from '../../language/symbols/pages.ts';
import { rangeOf } from '../language/places.ts';
import { LatestResults } from './latestResults.ts';
import { grouping } from './settings.ts';

/** The meaning of an item of the Test Explorer. */
export type TestNode =
  | { readonly type: 'domain'; readonly folder: string }
  | { readonly type: 'group'; readonly folder: string; readonly rows: readonly TaskRow[] }
  | { readonly type: 'page'; readonly folder: string; readonly rows: readonly TaskRow[] }
  | { readonly type: 'task'; readonly folder: string; readonly row: TaskRow }
  | { readonly type: 'trial'; readonly folder: string; readonly task: string; readonly trial: number }
  | { readonly type: 'file'; readonly folder: string };

/** Pages of a file whose tasks have an icon beside their text as soon as it is opened. */
const pagesOfOpenFile = 2;

/** A task, and the item that its own is under. */
type Listed = { readonly row: TaskRow; readonly parent: vscode.TestItem };

/**
 * Domains, their splits or personas, and their tasks, as items of the Test Explorer. A domain is read when it is
 * opened; an item whose task is still there after a change stays the same item, so that its results stay. A group with
 * many tasks has pages, whose items are made when a page is opened or a task of it has a result.
 */
export class TaskTree {
  /** The results that the tasks show. */
  readonly results: LatestResults;
  readonly #controller: vscode.TestController;
  readonly #folders: () => Promise<readonly string[]>;
  readonly #readRow: (folder: string, grouping: Grouping) => Promise<DomainRow | undefined>;
  readonly #nodes = new WeakMap<vscode.TestItem, TestNode>();
  readonly #tasks = new Map<string, ReadonlyMap<string, Listed>>();
  /** Names of the domains that were read, by their folders. */
  readonly #names = new Map<string, string>();
  readonly #reading = new Map<string, Promise<void>>();

  /**
   * @param folders returns the folders of the existing domains
   * @param readRow reads one; undefined if it can't be read at the moment
   */
  constructor(
    controller: vscode.TestController,
    folders: () => Promise<readonly string[]>,
    readRow: (folder: string, grouping: Grouping) => Promise<DomainRow | undefined>,
  ) {
    this.#controller = controller;
    this.results = new LatestResults(controller, this);
    this.#folders = folders;
    this.#readRow = readRow;
  }

  node(item: vscode.TestItem): TestNode | undefined {
    return this.#nodes.get(item);
  }

  /** The item of a task, where its domain was read. */
  task(folder: string, task: string): vscode.TestItem | undefined {
    const listed = this.#tasks.get(folder)?.get(task);
    if (!listed) return undefined;
    this.#open(listed.parent);
    return listed.parent.children.get(task);
  }

  /**
   * The items of the tasks that an item means, as the tree has them now. The item itself may have left the tree since,
   * for instance because tasks are grouped by something else.
   */
  async tasksOf(item: vscode.TestItem): Promise<readonly vscode.TestItem[]> {
    const node = this.#nodes.get(item);
    if (!node) return [];
    const { folder } = node;
    if (!this.#tasks.has(folder)) await this.read(folder);
    const listed = this.#tasks.get(folder);
    const found: vscode.TestItem[] = [];
    for (const id of idsOf(node, listed)) {
      const parent = listed?.get(id)?.parent;
      if (parent && this.#open(parent)) await setImmediate();
      const task = parent?.children.get(id);
      if (task) found.push(task);
    }
    return found;
  }

  /** Domains that were read. */
  get folders(): readonly string[] {
    return [...this.#tasks.keys()];
  }

  /** Resolves what VS Code requests: the domains, or the children of one. */
  async resolve(item?: vscode.TestItem): Promise<void> {
    if (!item) return this.findDomains();
    const node = this.#nodes.get(item);
    if (node?.type === 'domain' && !this.#tasks.has(node.folder)) await this.read(node.folder);
    if (this.#open(item)) await setImmediate();
  }

  /** Makes the items of the tasks of a file, of a long one those of its first pages. */
  async showFile(folder: string, file: string): Promise<void> {
    const parents = new Set<vscode.TestItem>();
    for (const { row, parent } of this.#tasks.get(folder)?.values() ?? [])
      if (row.at?.file === file) parents.add(parent);
    for (const parent of [...parents].slice(0, pagesOfOpenFile)) await this.resolve(parent);
  }

  /** Makes the items of a page that was not opened yet, and says whether there was something to do. */
  #open(item: vscode.TestItem): boolean {
    const node = this.#nodes.get(item);
    if (node?.type !== 'page' || item.children.size > 0) return false;
    this.#fill(item, node.folder, node.rows);
    return true;
  }

  /** Looks for domains that came or went. */
  async findDomains(): Promise<void> {
    const folders = await this.#folders();
    const { items } = this.#controller;
    const kept = folders.map((folder) => items.get(folder) ?? this.#domainItem(folder));
    items.replace(kept);
    for (const folder of this.#tasks.keys()) if (!folders.includes(folder)) this.#tasks.delete(folder);
    this.#labelDomains();
  }

  /** Domains with the same name also show their folders. */
  #labelDomains(): void {
    const domains = [...this.#controller.items].map(([folder, item]) => {
      return { item, folder, name: this.#names.get(folder) ?? basename(folder) };
    });
    const byName = Map.groupBy(domains, ({ name }) => name);
    for (const { item, folder, name } of domains)
      item.label = byName.get(name)?.length === 1 ? name : `${name} (${vscode.workspace.asRelativePath(folder)})`;
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

  /** Reads a domain, or reads it again. Calls in the meantime wait for the same reading, and another one follows it. */
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
    this.#names.set(folder, row.name);
    this.#labelDomains();
    item.error = row.error;
    const tasks = new Map<string, Listed>();
    const groups: vscode.TestItem[] = [];
    for (const { name, tasks: rows } of row.groups) {
      const group = this.#groupItem(item, folder, name, rows);
      const pages = rows.length > pageSize ? pagesOf(rows, ({ at }) => at?.file ?? '') : [];
      const parents: vscode.TestItem[] = [];
      for (const page of pages) {
        const own = rows.slice(page.from, page.to);
        const parent = this.#pageItem(group, folder, page, own);
        for (const each of own) tasks.set(each.id, { row: each, parent });
        if (parent.children.size > 0) this.#fill(parent, folder, own);
        parents.push(parent);
        await setImmediate();
      }
      if (pages.length === 0) {
        for (const each of rows) tasks.set(each.id, { row: each, parent: group });
        this.#fill(group, folder, rows);
      } else if (isOther(group.children, parents)) group.children.replace(parents);
      groups.push(group);
    }
    const broken = row.broken.map(({ file, line, error }) => this.#fileItem(item, folder, file, line, error));
    const shown = [...groups, ...broken];
    if (isOther(item.children, shown)) item.children.replace(shown);
    this.#tasks.set(folder, tasks);
    this.results.showAgain(folder);
  }

  #fill(parent: vscode.TestItem, folder: string, rows: readonly TaskRow[]): void {
    const members = rows.map((row) => {
      const known = parent.children.get(row.id);
      const member = known !== undefined && isSameFile(known, row) ? known : this.#taskItem(folder, row);
      this.#showTask(member, folder, row);
      return member;
    });
    if (isOther(parent.children, members)) parent.children.replace(members);
  }

  #pageItem(parent: vscode.TestItem, folder: string, { name, file }: Page, rows: readonly TaskRow[]): vscode.TestItem {
    const id = `page:${file}:${name}`;
    const item = parent.children.get(id) ?? this.#controller.createTestItem(id, name, vscode.Uri.file(file));
    item.canResolveChildren = true;
    this.#nodes.set(item, { type: 'page', folder, rows });
    return item;
  }

  #groupItem(parent: vscode.TestItem, folder: string, name: string, rows: readonly TaskRow[]): vscode.TestItem {
    const id = `${grouping()}:${name}`;
    const group = parent.children.get(id) ?? this.#controller.createTestItem(id, groupLabel(grouping(), name));
    group.tags = [new vscode.TestTag(id)];
    this.#nodes.set(group, { type: 'group', folder, rows });
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
    item.sortText = sortTextOf(row);
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

  /** The item of a trial under its task, made if it does not exist. */
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

/** The ids of the tasks that a node means. */
function idsOf(node: TestNode, listed: ReadonlyMap<string, Listed> = new Map()): Iterable<string> {
  switch (node.type) {
    case 'domain':
      return listed.keys();
    case 'group':
    case 'page':
      return node.rows.map(({ id }) => id);
    case 'task':
      return [node.row.id];
    case 'trial':
      return [node.task];
    case 'file':
      return [];
    default:
      return node satisfies never;
  }
}

/** Says what the tasks of a group have in common. */
function groupLabel(by: Grouping, name: string): string {
  if (by === 'persona') return `Persona: ${name}`;
  return `Split: ${name}${splitUses.get(name) ?? ''}`;
}

const splitUses: ReadonlyMap<string, string> = new Map([
  ['train', ' (tasks to train on)'],
  ['test', ' (tasks held out)'],
]);

/** The order of the files, which VS Code keeps among the tasks of one file whatever this is. */
function sortTextOf({ id, at }: TaskRow): string {
  return at ? `${at.file}:${String(at.line).padStart(7, '0')}` : id;
}

function isSameFile(item: vscode.TestItem, { at }: TaskRow): boolean {
  return at === undefined || item.uri?.fsPath === at.file;
}

function isOther(children: vscode.TestItemCollection, wanted: readonly vscode.TestItem[]): boolean {
  return children.size !== wanted.length || wanted.some((item) => children.get(item.id) !== item);
}
