import { basename } from 'node:path';
import * as vscode from 'vscode';
import type { TextEdit, TextEdits } from '../../engine/language/textEdit.ts';
import { yamlEdits } from '../../engine/language/yamlEdit.ts';
import { messageOf } from '../../engine/shell/fault.ts';
import type { LoadedDomain } from '../../engine/shell/load/loadedDomain.ts';
import type { FromEditor, Ran, Shown, ToEditor, ToExtension, ViewId } from '../../webview/protocol.ts';
import type { Context } from '../context.ts';
import { type Channel, connectPage, pageOf } from '../views/panel.ts';
import { openPlaceOf } from '../views/recordingPlace.ts';
import { domainFolderOf, readDomain } from '../workspaceDomains.ts';
import { openAsText } from './switching.ts';

/** What a person has chosen in an editor; it is gone with its tab. */
export type Choices = { readonly index: number; readonly task: string | null };

/** What an editor looks at. */
export type Scene = {
  readonly context: Context;
  readonly document: vscode.TextDocument;
  /** The domain around the file, unsaved texts included; undefined where there is none. */
  readonly domain: LoadedDomain | undefined;
  readonly choices: Choices;
  /** Shows everything again, once more of it is known. */
  readonly refresh: () => void;
};

/** What came of something that was run. */
export type Outcome = NonNullable<Ran['outcome']>;

/** How something runs for an editor. */
export type Running = {
  readonly context: Context;
  /** The folder of the domain, its files saved. */
  readonly folder: string;
  readonly progress: vscode.Progress<{ message?: string }>;
  readonly token: vscode.CancellationToken;
};

/** What an editor shows of its subject. */
export type Content = Omit<Shown, 'type' | 'name' | 'isTrusted' | 'hasText' | 'refusal'>;

/** What is special about one visual editor. */
export type VisualEditor = {
  readonly view: ViewId;
  readonly title: string;
  /** Whether what a change means for the rest of the domain is shown too. */
  readonly followsDomain?: boolean;
  readonly contentOf: (scene: Scene) => Promise<Content>;
  /** The edits that a change of its own kind makes; undefined for any other message. */
  readonly editsOf?: (message: FromEditor, text: string) => TextEdits | undefined;
  /** Shows another place that the page leads to; undefined for any other message. */
  readonly open?: (message: FromEditor, scene: Scene) => Promise<unknown> | undefined;
  /** What is said at once; undefined for any other message. */
  readonly answer?: (message: FromEditor, scene: Scene) => ToEditor | undefined;
  /** Runs what the page asks for; undefined where the message is about nothing that runs. Throws what is said instead. */
  readonly run?: (message: FromEditor, scene: Scene) => ((running: Running) => Promise<Outcome>) | undefined;
};

const quietMs = 300;

/** A text of so many characters takes seconds to be read as part of a domain. */
const manyCharacters = 300_000;

/** What is shown: a document, or a part of a domain that has no file of its own. */
export type Subject = vscode.TextDocument | { readonly folder: string; readonly name: string };

const isDocument = (subject: Subject): subject is vscode.TextDocument => 'getText' in subject;

/** Shows a subject in a visual editor, and makes the changes that are asked for there, until its tab is closed. */
export function openSession(
  context: Context,
  editor: VisualEditor,
  subject: Subject,
  panel: vscode.WebviewPanel,
): void {
  const session = new EditorSession(context, editor, subject, panel);
  panel.onDidDispose(() => session.dispose());
}

class EditorSession {
  readonly #context: Context;
  readonly #editor: VisualEditor;
  readonly #subject: Subject;
  readonly #channel: Channel;
  readonly #subscriptions: vscode.Disposable[];
  /** The domain as it was read last. */
  #domain: LoadedDomain | undefined;
  #choices: Choices = { index: 0, task: null };
  /** The page has asked for something: it listens. */
  #isReady = false;
  /** Counts what was shown, so that what was read earlier is never shown later. */
  #round = 0;
  #soon: NodeJS.Timeout | undefined;
  /** Changes are made one after the other, each on the text that the one before left. */
  #changes: Promise<void> = Promise.resolve();
  #refusal: Shown['refusal'] = null;
  #ran: Ran | null = null;
  #running: vscode.CancellationTokenSource | undefined;

  constructor(context: Context, editor: VisualEditor, subject: Subject, panel: vscode.WebviewPanel) {
    this.#context = context;
    this.#editor = editor;
    this.#subject = subject;
    this.#channel = connectPage(panel.webview, context.log, (message) => this.#received(message));
    const folder = this.#folder;
    this.#subscriptions = [
      vscode.workspace.onDidChangeTextDocument(({ document: changed }) => {
        if (changed === subject) this.#showChanged();
        else if (folder !== undefined && domainFolderOf(changed.uri.fsPath) === folder) this.#showSoon();
      }),
      vscode.workspace.onDidSaveTextDocument(({ uri }) => {
        if (folder !== undefined && domainFolderOf(uri.fsPath) === folder) this.#showSoon();
      }),
      vscode.workspace.onDidGrantWorkspaceTrust(() => void this.#show()),
      panel.onDidChangeViewState(() => {
        if (panel.visible) this.#showSoon();
      }),
    ];
    panel.webview.html = pageOf(panel.webview, context.extension.extensionUri, editor.view, editor.title);
  }

  dispose(): void {
    clearTimeout(this.#soon);
    this.#running?.cancel();
    this.#channel.dispose();
    for (const each of this.#subscriptions) each.dispose();
  }

  get #folder(): string | undefined {
    if (!isDocument(this.#subject)) return this.#subject.folder;
    return this.#subject.uri.scheme === 'file' ? domainFolderOf(this.#subject.uri.fsPath) : undefined;
  }

  /** Throws where there is no document: a page asks only for what it was offered. */
  get #document(): vscode.TextDocument {
    if (isDocument(this.#subject)) return this.#subject;
    throw new Error('there is no file to change');
  }

  #received(message: ToExtension): void {
    switch (message.type) {
      case 'ready':
        this.#isReady = true;
        void this.#show();
        if (this.#ran) this.#tell(this.#ran);
        break;
      case 'openAsText':
        void openAsText(this.#document.uri);
        break;
      case 'openPlace':
        if (this.#folder !== undefined) void openPlaceOf(this.#folder, message.kind, message.name);
        break;
      case 'editor':
        this.#asked(message.message);
        break;
      default:
        break;
    }
  }

  #asked(message: FromEditor): void {
    switch (message.type) {
      case 'set':
      case 'insert':
      case 'remove':
        this.#changeBy((text) => yamlEdits(text, message));
        break;
      case 'select':
        this.#choices = { ...this.#choices, index: message.index };
        void this.#show();
        break;
      case 'chooseTask':
        this.#choices = { ...this.#choices, task: message.task };
        void this.#show();
        break;
      case 'openLine':
        void this.#openLine(message.line);
        break;
      case 'stopRunning':
        this.#running?.cancel();
        break;
      default:
        void this.#answer(message).catch((error) => this.#failed(error));
    }
  }

  async #answer(message: FromEditor): Promise<void> {
    const { editsOf, open, answer } = this.#editor;
    if (editsOf?.(message, this.#document.getText())) {
      this.#changeBy((text) => editsOf(message, text));
      return;
    }
    const said = answer?.(message, await this.#scene(this.#domain));
    if (said) this.#channel.post({ type: 'editor', message: said });
    else {
      const opened = open?.(message, await this.#scene(this.#domain));
      await (opened ?? this.#run(message));
    }
  }

  #changeBy(editsOf: (text: string) => TextEdits | undefined): void {
    this.#changes = this.#changes.then(() => this.#change(editsOf)).catch((error) => this.#failed(error));
  }

  #failed(error: unknown): void {
    this.#context.log.error(`${this.#editor.title}: ${messageOf(error)}`);
    void vscode.window.showErrorMessage(`The change can't be made: ${messageOf(error)}`);
  }

  async #change(editsOf: (text: string) => TextEdits | undefined): Promise<void> {
    const result = editsOf(this.#document.getText()) ?? { edits: [] };
    if ('problem' in result) {
      this.#refusal = { number: (this.#refusal?.number ?? 0) + 1, reason: result.problem };
      await this.#show(this.#domain);
      return;
    }
    await this.#apply(result.edits);
  }

  /** Edits of the one document, so that its undo is shared with the text. */
  async #apply(edits: readonly TextEdit[]): Promise<void> {
    if (edits.length === 0) return;
    const workspaceEdit = new vscode.WorkspaceEdit();
    for (const { offset, length, text } of edits) {
      const range = new vscode.Range(this.#document.positionAt(offset), this.#document.positionAt(offset + length));
      workspaceEdit.replace(this.#document.uri, range, text);
    }
    if (!(await vscode.workspace.applyEdit(workspaceEdit))) throw new Error('the document refused it');
  }

  async #openLine(line: number): Promise<void> {
    await openAsText(this.#document.uri);
    const at = new vscode.Position(Math.max(0, line - 1), 0);
    await vscode.window.showTextDocument(this.#document, { selection: new vscode.Range(at, at) });
  }

  /** What was changed is shown at once, with what was known of the rest; the rest follows. */
  #showChanged(): void {
    void this.#show(this.#domain);
    if (this.#editor.followsDomain) this.#showSoon();
  }

  #showSoon(): void {
    clearTimeout(this.#soon);
    this.#soon = setTimeout(() => void this.#show(), quietMs);
  }

  /** While a large file is not saved, the domain is the one that was known before. */
  async #readDomain(): Promise<LoadedDomain | undefined> {
    const folder = this.#folder;
    if (folder === undefined) return undefined;
    const isLarge = vscode.workspace.textDocuments.some(
      (document) =>
        document.isDirty &&
        document.uri.scheme === 'file' &&
        document.getText().length > manyCharacters &&
        domainFolderOf(document.uri.fsPath) === folder,
    );
    if (!this.#domain || !isLarge) this.#domain = await readDomain(folder);
    return this.#domain;
  }

  async #scene(known?: LoadedDomain): Promise<Scene> {
    const domain = known ?? (await this.#readDomain());
    const [context, choices] = [this.#context, this.#choices];
    // A panel without a document shows nothing of one.
    const document = this.#subject as vscode.TextDocument;
    return { context, document, domain, choices, refresh: () => void this.#show() };
  }

  async #show(known?: LoadedDomain): Promise<void> {
    if (!this.#isReady) return;
    const round = ++this.#round;
    const content = await this.#editor.contentOf(await this.#scene(known));
    if (round !== this.#round) return;
    const name = isDocument(this.#subject) ? basename(this.#subject.uri.path) : this.#subject.name;
    const isTrusted = vscode.workspace.isTrusted;
    const refusal = this.#refusal;
    const hasText = isDocument(this.#subject);
    this.#channel.post({ type: 'editor', message: { type: 'shown', name, isTrusted, hasText, refusal, ...content } });
  }

  #tell(ran: Ran): void {
    this.#ran = ran;
    this.#channel.post({ type: 'editor', message: ran });
  }

  /** Runs one thing at a time. In a workspace that nobody trusts nothing runs, whatever a page asks for. */
  async #run(message: FromEditor): Promise<void> {
    const folder = this.#folder;
    const work = this.#editor.run?.(message, await this.#scene(this.#domain));
    if (!work || folder === undefined || this.#running || !vscode.workspace.isTrusted) return;
    const source = new vscode.CancellationTokenSource();
    this.#running = source;
    const say = (note: string) => this.#tell({ type: 'ran', isRunning: true, note, problem: null, outcome: null });
    say('');
    const progress = { report: ({ message: note = '' }: { message?: string }) => say(note) };
    try {
      const { saveFilesOf } = await import('../language/domainCheck.ts');
      await saveFilesOf(folder);
      const outcome = await work({ context: this.#context, folder, progress, token: source.token });
      this.#tell({ type: 'ran', isRunning: false, note: '', problem: null, outcome });
    } catch (error) {
      const problem = source.token.isCancellationRequested ? 'It was cancelled.' : messageOf(error);
      this.#tell({ type: 'ran', isRunning: false, note: '', problem, outcome: null });
    } finally {
      source.dispose();
      this.#running = undefined;
    }
  }
}

/** What an editor shows of the chosen one of several entries. */
export function chosenOf<T extends { readonly problem: unknown }>(
  items: readonly T[],
  { index }: Choices,
): { readonly index: number; readonly item: T | undefined } {
  const shown = Math.max(0, Math.min(index, items.length - 1));
  return { index: shown, item: items[shown] };
}
