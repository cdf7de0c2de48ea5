import { basename } from 'node:path';
import * as vscode from 'vscode';
import { domainFolderOf } from '../../engine/shell/domain/domainFolder.ts';
import type { Diagnostic } from '../../engine/shell/files/diagnostic.ts';
import { messageOf } from '../../engine/shell/files/fault.ts';
import type { LoadedDomain } from '../../engine/shell/load/loadedDomain.ts';
import { yamlEdits } from '../../language/edits/yamlEdit.ts';
import type { TextEdit, TextEdits } from '../../language/symbols/textEdit.ts';
import type { FromEditor, Ran, Shown, ToEditor, ToExtension, ViewId } from '../../webview/messages/protocol.ts';
import type { Context } from '../commandLine/context.ts';
import { findingsOf, onDidChangeFindings } from '../language/findings.ts';
import { type Channel, connectPage, pageOf } from '../panels/panel.ts';
import { openPlaceOf } from '../panels/recordingPlace.ts';
import { registerForm } from '../workspace/activeFile.ts';
import { onDidChangeDomainFiles } from '../workspace/domainWatch.ts';
import { showErrorMessage, showWarningMessage } from '../workspace/messages.ts';
import { readDomain, saveFilesOf } from '../workspace/workspaceDomains.ts';
import { indexAtLine, lineOfItem } from './documentItems.ts';
import { openAsText, takeOpenedLine } from './switching.ts';

/** The user's choices in an editor, which are lost when its tab is closed. */
export type Choices = { readonly index: number; readonly task: string | null };

/** The context of an editor. */
export type Scene = {
  readonly context: Context;
  /** The domain around it, unsaved texts included; undefined outside of a domain. */
  readonly domain: LoadedDomain | undefined;
  readonly choices: Choices;
  /** The findings of the checks in the domain. */
  readonly findings: readonly Diagnostic[];
  /** Shows everything again, once more of it is known. */
  readonly refresh: () => void;
};

/** The context of an editor of a file. */
export type FileScene = Scene & { readonly document: vscode.TextDocument };

/** The result of something that an editor ran. */
export type Outcome = NonNullable<Ran['outcome']>;

/** The context of something that runs for an editor. */
export type Running = {
  readonly context: Context;
  /** The folder of the domain, its files saved. */
  readonly folder: string;
  readonly progress: vscode.Progress<{ message?: string }>;
  readonly token: vscode.CancellationToken;
};

/** The content that an editor shows for its subject. */
export type Content = Omit<Shown, 'type' | 'name' | 'isTrusted' | 'hasText' | 'refusal' | 'isRunEarlier'>;

/** The parts that are specific to one visual editor, either of a file or of a part of a domain without its own file. */
export type VisualEditor<Seen extends Scene = FileScene> = {
  readonly view: ViewId;
  readonly title: string;
  /** Whether what a change means for the rest of the domain is shown too. */
  readonly followsDomain?: boolean;
  readonly contentOf: (scene: Seen) => Promise<Content>;
  /** Returns a function that makes the edits of a change specific to this editor; undefined for any other message. */
  readonly editsOf?: (message: FromEditor) => ((text: string) => TextEdits) | undefined;
  /** Shows another place that the page leads to; undefined for any other message. */
  readonly open?: (message: FromEditor, scene: Seen) => Promise<unknown> | undefined;
  /** Returns an answer that is sent at once; undefined for any other message. */
  readonly answer?: (message: FromEditor, scene: Seen) => ToEditor | undefined;
  /**
   * Returns a function that runs what the page requests; undefined if the message does not request a run. The function
   * throws the error to report.
   */
  readonly run?: (message: FromEditor, scene: Seen) => ((running: Running) => Promise<Outcome>) | undefined;
};

const quietMs = 300;

/** A text of so many characters takes seconds to be read as part of a domain. */
const manyCharacters = 300_000;

/** The subject of an editor: a document, or a part of a domain without its own file. */
type Subject = vscode.TextDocument | DomainPart;
type DomainPart = { readonly folder: string; readonly name: string };

const isDocument = (subject: Subject): subject is vscode.TextDocument => 'getText' in subject;

/** Shows a file in a visual editor, and makes the changes requested there, until its tab is closed. */
export function openFileSession(
  context: Context,
  editor: VisualEditor,
  document: vscode.TextDocument,
  panel: vscode.WebviewPanel,
): void {
  const session = new EditorSession(context, editor, document, (scene) => ({ ...scene, document }), panel);
  panel.onDidDispose(() => session.dispose());
}

/** Shows a part of a domain, until its tab is closed. There is nothing to change. */
export function openPartSession(
  context: Context,
  editor: VisualEditor<Scene>,
  part: DomainPart,
  panel: vscode.WebviewPanel,
): void {
  const session = new EditorSession(context, editor, part, (scene) => scene, panel);
  panel.onDidDispose(() => session.dispose());
}

class EditorSession<Seen extends Scene> {
  readonly #context: Context;
  readonly #editor: VisualEditor<Seen>;
  readonly #subject: Subject;
  readonly #seen: (scene: Scene) => Seen;
  readonly #channel: Channel;
  readonly #subscriptions: vscode.Disposable[];
  /** The domain as it was read last. */
  #domain: LoadedDomain | undefined;
  #choices: Choices = { index: 0, task: null };
  /** Whether the page has sent a message, which means that it listens. */
  #isReady = false;
  /** Counts what was shown, so that an earlier reading never replaces a later one. */
  #round = 0;
  #soon: NodeJS.Timeout | undefined;
  /** Changes are made one after another, each on the text that the previous one left. */
  #changes: Promise<void> = Promise.resolve();
  #refusal: Shown['refusal'] = null;
  /** The warning about the last change: continued typing in one value warns once. */
  #warning = '';
  #ran: Ran | null = null;
  /** The text of the document for which the last run was started. */
  #ranText: string | undefined;
  #running: vscode.CancellationTokenSource | undefined;

  constructor(
    context: Context,
    editor: VisualEditor<Seen>,
    subject: Subject,
    seen: (scene: Scene) => Seen,
    panel: vscode.WebviewPanel,
  ) {
    this.#context = context;
    this.#editor = editor;
    this.#subject = subject;
    this.#seen = seen;
    this.#channel = connectPage(panel.webview, context.log, (message) => this.#received(message));
    const folder = this.#folder;
    if (isDocument(subject))
      this.#choices = { index: indexAtLine(subject, takeOpenedLine(subject.uri.fsPath)), task: null };
    this.#subscriptions = [
      vscode.workspace.onDidChangeTextDocument(({ document: changed }) => {
        if (changed === subject) this.#showChanged();
        else if (folder !== undefined && domainFolderOf(changed.uri.fsPath) === folder) this.#showSoon();
      }),
      vscode.workspace.onDidSaveTextDocument(({ uri }) => {
        if (folder !== undefined && domainFolderOf(uri.fsPath) === folder) this.#showSoon();
      }),
      onDidChangeDomainFiles((changed) => {
        if (changed === folder) this.#showSoon();
      }),
      onDidChangeFindings((changed) => {
        if (changed === folder) void this.#show(this.#domain);
      }),
      vscode.workspace.onDidGrantWorkspaceTrust(() => void this.#show()),
      panel.onDidChangeViewState(() => {
        if (panel.visible) this.#showSoon();
      }),
      ...(isDocument(subject)
        ? [registerForm(subject.uri.fsPath, () => lineOfItem(subject, this.#choices.index))]
        : []),
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

  /** The text that the result of a run is about; undefined where there is no document. */
  get #text(): string | undefined {
    return isDocument(this.#subject) ? this.#subject.getText() : undefined;
  }

  #received(message: ToExtension): void {
    switch (message.type) {
      case 'ready':
        this.#isReady = true;
        void this.#show();
        if (this.#ran) this.#tell(this.#ran);
        break;
      case 'openAsText':
        void this.#open(() => openAsText(this.#document.uri));
        break;
      case 'openPlace':
        void this.#open(async () => {
          if (this.#folder !== undefined) await openPlaceOf(this.#folder, message.kind, message.name);
        });
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
        void this.#open(() => this.#openLine(message.line));
        break;
      case 'stopRunning':
        this.#running?.cancel();
        break;
      default:
        void this.#answer(message).catch((error) => this.#failed("It can't be shown", error));
    }
  }

  async #answer(message: FromEditor): Promise<void> {
    const { editsOf, open, answer } = this.#editor;
    const edits = editsOf?.(message);
    if (edits) {
      this.#changeBy(edits);
      return;
    }
    const scene = await this.#scene(this.#domain);
    const said = answer?.(message, scene);
    const opened = said ? undefined : open?.(message, scene);
    if (said) this.#channel.post({ type: 'editor', message: said });
    else if (opened) await this.#open(() => opened);
    else await this.#run(message, scene);
  }

  #changeBy(editsOf: (text: string) => TextEdits): void {
    this.#changes = this.#changes
      .then(() => this.#change(editsOf))
      .catch((error) => this.#failed("The change can't be made", error));
  }

  async #open(open: () => Promise<unknown>): Promise<void> {
    try {
      await open();
    } catch (error) {
      this.#failed("It can't be opened", error);
    }
  }

  #failed(what: string, error: unknown): void {
    this.#context.log.error(`${this.#editor.title}: ${what}: ${messageOf(error)}`);
    void showErrorMessage(`${what}: ${messageOf(error)}`);
  }

  async #change(editsOf: (text: string) => TextEdits): Promise<void> {
    const result = editsOf(this.#document.getText());
    if ('problem' in result) {
      this.#refusal = { number: (this.#refusal?.number ?? 0) + 1, reason: result.problem };
      await this.#show(this.#domain);
      return;
    }
    await this.#apply(result.edits);
    const { warning = '' } = result;
    if (warning !== '' && warning !== this.#warning) void showWarningMessage(warning);
    this.#warning = warning;
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

  /** Shows a change at once with the last known domain, and reads the domain again later. */
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

  async #scene(known?: LoadedDomain): Promise<Seen> {
    const domain = known ?? (await this.#readDomain());
    const [context, choices, folder] = [this.#context, this.#choices, this.#folder];
    const findings = folder === undefined ? [] : findingsOf(folder);
    return this.#seen({ context, domain, choices, findings, refresh: () => void this.#show() });
  }

  /** Returns the content of the editor; if that fails, the page shows the error. */
  async #content(known?: LoadedDomain): Promise<Content> {
    try {
      return await this.#editor.contentOf(await this.#scene(known));
    } catch (error) {
      const message = `It can't be shown: ${messageOf(error)}`;
      this.#context.log.error(`${this.#editor.title}: ${message}`);
      return { broken: { message, line: 0 }, items: [], index: 0, errors: [], content: null };
    }
  }

  async #show(known?: LoadedDomain): Promise<void> {
    if (!this.#isReady) return;
    const round = ++this.#round;
    const content = await this.#content(known);
    if (round !== this.#round) return;
    const name = isDocument(this.#subject) ? basename(this.#subject.uri.path) : this.#subject.name;
    const isTrusted = vscode.workspace.isTrusted;
    const refusal = this.#refusal;
    const hasText = isDocument(this.#subject);
    const isRunEarlier = this.#ranText !== this.#text;
    const shown: Shown = { type: 'shown', name, isTrusted, hasText, refusal, isRunEarlier, ...content };
    this.#channel.post({ type: 'editor', message: shown });
  }

  #tell(ran: Ran): void {
    this.#ran = ran;
    this.#channel.post({ type: 'editor', message: ran });
  }

  /** Runs one thing at a time. Nothing runs in an untrusted workspace, whatever a page requests. */
  async #run(message: FromEditor, scene: Seen): Promise<void> {
    const folder = this.#folder;
    const work = this.#editor.run?.(message, scene);
    if (!work || folder === undefined || this.#running || !vscode.workspace.isTrusted) return;
    const source = new vscode.CancellationTokenSource();
    this.#running = source;
    const say = (note: string) => this.#tell({ type: 'ran', isRunning: true, note, problem: null, outcome: null });
    say('');
    const progress = { report: ({ message: note = '' }: { message?: string }) => say(note) };
    try {
      await saveFilesOf(folder);
      this.#ranText = this.#text;
      void this.#show(this.#domain);
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
