import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import * as vscode from 'vscode';
import type { Tool } from '../../engine/core/domain/tool.ts';
import { domainFolderOf, isOutsideDomains } from '../../engine/shell/domain/domainFolder.ts';
import type { Diagnostic } from '../../engine/shell/files/diagnostic.ts';
import type { AnswerTo, Question, QuestionOf, QuestionType } from '../../language/answer.ts';
import type { DomainOutline, DomainRow, Grouping, TaskRow } from '../../language/service/domainRow.ts';
import type { Fixed, FromService, ToService } from '../../language/service/messages.ts';
import { Requests } from '../../language/service/requests.ts';
import { pageSize } from '../../language/symbols/pages.ts';
import type { Context } from '../commandLine/context.ts';
import { describeTools } from './describedTools.ts';

/** The number of times that a worker that died is restarted. A file may be the cause, so the number is limited. */
const attempts = 3;

/**
 * The extension host's side of the worker: it tells it what changes in the editors and on the disk, and passes questions
 * on. The worker is started when it is first needed.
 */
export class LanguageClient {
  readonly #context: Context;
  readonly #found = new vscode.EventEmitter<{ readonly folder: string; readonly diagnostics: readonly Diagnostic[] }>();
  readonly #requests = new Requests((message) => this.#post(message));
  /** Unsaved files whose text the worker has received, with their domains. */
  readonly #sent = new Map<string, string>();
  #worker: Worker | null = null;
  #deaths = 0;

  constructor(context: Context) {
    this.#context = context;
  }

  /** The findings of a domain, whenever they have been looked for. */
  readonly onDidFind = this.#found.event;

  /** Reads a domain, or what has changed of it on the disk, and looks for its findings. */
  touch(folder: string): void {
    this.#post({ type: 'touch', folder });
  }

  /** Forgets a domain that was removed. */
  forget(folder: string): void {
    for (const [file, own] of this.#sent) if (own === folder) this.#sent.delete(file);
    this.#post({ type: 'forget', folder });
  }

  /** Answers a question about a file; undefined if it does not belong to a domain, or the question was cancelled. */
  async ask<Type extends QuestionType>(
    file: string,
    question: QuestionOf<Type>,
    token?: vscode.CancellationToken,
  ): Promise<AnswerTo<Type> | undefined> {
    const folder = isOutsideDomains(file) ? undefined : domainFolderOf(file);
    return folder === undefined ? undefined : this.askIn(folder, question, token);
  }

  /** Answers a question about a domain. */
  async askIn<Type extends QuestionType>(
    folder: string,
    question: QuestionOf<Type>,
    token?: vscode.CancellationToken,
  ): Promise<AnswerTo<Type> | undefined> {
    return this.#reply<AnswerTo<Type>>({ type: 'ask', folder, question: question as Question }, token);
  }

  /**
   * A domain as the Test Explorer shows it; undefined where the worker has died. Its tasks are asked for page by page: of
   * thousands, one message would hold up the extension host.
   */
  async row(folder: string, grouping: Grouping): Promise<DomainRow | undefined> {
    const outline = await this.#reply<DomainOutline>({ type: 'row', folder, grouping });
    if (!outline) return undefined;
    const groups: DomainRow['groups'][number][] = [];
    let start = 0;
    for (const { name, count } of outline.groups) {
      const tasks: TaskRow[] = [];
      for (let from = start; from < start + count; from += pageSize) {
        const page = await this.#taskRows(folder, from, Math.min(from + pageSize, start + count));
        if (!page) return undefined;
        tasks.push(...page);
      }
      start += count;
      groups.push({ name, tasks });
    }
    return { ...outline, groups };
  }

  #taskRows(folder: string, from: number, to: number): Promise<readonly TaskRow[] | undefined> {
    return this.#reply({ type: 'taskRows', folder, from, to });
  }

  /** Takes the tools that a check of the whole domain described, its servers included, for the code of a stamp. */
  described(folder: string, stamp: string, tools: readonly Tool[]): void {
    this.#post({ type: 'described', folder, stamp, tools, isWhole: true });
  }

  /** The texts after all fixes of a file, or of the whole domain. */
  fixAll(folder: string, file: string | null): Promise<Fixed | undefined> {
    return this.#reply<Fixed>({ type: 'fixAll', folder, file });
  }

  /** A person has changed a text. */
  changed({ document, contentChanges }: vscode.TextDocumentChangeEvent): void {
    const file = document.uri.fsPath;
    const folder = this.#folderOf(document);
    if (folder === undefined) return;
    if (!document.isDirty) {
      // A file outside of the workspace, which nothing else watches, was changed on the disk.
      this.#saved(file, folder);
      if (contentChanges.length > 0) this.touch(folder);
    } else if (!this.#sent.has(file)) {
      this.#sent.set(file, folder);
      this.#post({ type: 'text', folder, file, text: document.getText() });
    } else if (contentChanges.length > 0) {
      const changes = contentChanges.map(({ rangeOffset, rangeLength, text }) => ({
        offset: rangeOffset,
        length: rangeLength,
        text,
      }));
      this.#post({ type: 'change', folder, file, changes });
    }
  }

  /** Tells the worker about an opened file. It does not know files outside the workspace yet. */
  opened(document: vscode.TextDocument): void {
    const folder = this.#folderOf(document);
    if (folder !== undefined && !vscode.workspace.getWorkspaceFolder(document.uri)) this.touch(folder);
  }

  /** The file on the disk counts again. */
  saved(document: vscode.TextDocument): void {
    const folder = this.#folderOf(document);
    if (folder !== undefined) this.#saved(document.uri.fsPath, folder);
  }

  dispose(): void {
    void this.#worker?.terminate();
    this.#worker = null;
    this.#found.dispose();
  }

  #saved(file: string, folder: string): void {
    if (this.#sent.delete(file)) this.#post({ type: 'text', folder, file, text: null });
  }

  #folderOf({ uri }: vscode.TextDocument): string | undefined {
    if (uri.scheme !== 'file' || isOutsideDomains(uri.fsPath)) return undefined;
    return this.#sent.get(uri.fsPath) ?? domainFolderOf(uri.fsPath);
  }

  /** Sends a request; undefined if it was cancelled or failed, or the worker died. */
  async #reply<T>(request: Parameters<Requests['send']>[0], token?: vscode.CancellationToken): Promise<T | undefined> {
    const reply = await this.#requests.send<T | null>(request, token);
    return reply.type === 'answer' ? (reply.value ?? undefined) : undefined;
  }

  #post(message: ToService): void {
    this.#worker ??= this.#start();
    this.#worker?.postMessage(message);
  }

  #start(): Worker | null {
    if (this.#deaths >= attempts) {
      this.#requests.abandon();
      return null;
    }
    const worker = new Worker(join(this.#context.extension.extensionPath, 'dist', 'language.mjs'), { execArgv: [] });
    worker.unref();
    worker.on('message', (message: FromService) => this.#hear(message));
    worker.on('error', ({ message }) => this.#context.log.error(`The language features stopped: ${message}`));
    worker.on('exit', () => {
      if (this.#worker !== worker) return;
      this.#worker = null;
      this.#deaths += 1;
      this.#requests.abandon();
      this.#resend();
    });
    return worker;
  }

  /** Sends a new worker what the one that died had received. */
  #resend(): void {
    const unsaved = new Map(vscode.workspace.textDocuments.map((document) => [document.uri.fsPath, document]));
    for (const [file, folder] of this.#sent) {
      const document = unsaved.get(file);
      if (document?.isDirty) this.#post({ type: 'text', folder, file, text: document.getText() });
    }
  }

  #sendWhole(folder: string, file: string): void {
    const document = vscode.workspace.textDocuments.find(({ uri, isDirty }) => isDirty && uri.fsPath === file);
    if (!document) return;
    this.#sent.set(file, folder);
    this.#post({ type: 'text', folder, file, text: document.getText() });
  }

  #hear(message: FromService): void {
    switch (message.type) {
      case 'found':
        this.#found.fire(message);
        return;
      case 'answer':
        this.#requests.receive(message);
        return;
      case 'failed':
        this.#context.log.error(message.message);
        this.#requests.receive(message);
        return;
      case 'unknown':
        this.#sendWhole(message.folder, message.file);
        return;
      case 'undescribed':
        void this.#describe(message.folder, message.stamp);
        return;
      default:
        message satisfies never;
    }
  }

  async #describe(folder: string, stamp: string): Promise<void> {
    const tools = await describeTools(this.#context, folder, stamp);
    if (tools) this.#post({ type: 'described', folder, stamp, tools, isWhole: false });
  }
}
