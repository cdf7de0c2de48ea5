import { finished } from 'node:stream';
import {
  type CancellationToken,
  CodeActionKind,
  type CodeActionParams,
  type Connection,
  createConnection,
  DidChangeWatchedFilesNotification,
  ErrorCodes,
  type InitializeParams,
  type InitializeResult,
  LSPErrorCodes,
  MessageType,
  ResponseError,
  ShowMessageNotification,
  StreamMessageReader,
  StreamMessageWriter,
  TextDocumentSyncKind,
  TextDocuments,
  type TextEdit,
} from 'vscode-languageserver/node';
import { TextDocument } from 'vscode-languageserver-textdocument';
import { domainFolderOf, isOutsideDomains } from '../../engine/shell/domain/domainFolder.ts';
import type { Diagnostic, Edit } from '../../engine/shell/files/diagnostic.ts';
import { messageOf } from '../../engine/shell/files/fault.ts';
import type { AnswerTo, Question, QuestionOf, QuestionType } from '../../language/answer.ts';
import { LanguageService } from '../../language/service/languageService.ts';
import type { Fixed, FromService } from '../../language/service/messages.ts';
import { Requests } from '../../language/service/requests.ts';
import {
  completionItems,
  documentSymbol,
  foldingRange,
  locationOf,
  lspDiagnostic,
  markdown,
  pathOf,
  positionIn,
  rangeOf,
  semanticTokens,
  tokenLegend,
  uriOf,
  workspaceEdit,
  workspaceSymbol,
} from './translation.ts';

/** Serves the Language Server Protocol on standard input and output. Resolves when standard input ends. */
export async function serveLsp(version: string): Promise<void> {
  const reader = new StreamMessageReader(process.stdin);
  new LanguageServer(createConnection(reader, new StreamMessageWriter(process.stdout)), version).listen();
  await new Promise<void>((resolve) => finished(process.stdin, { writable: false }, () => resolve()));
}

/** Translates between a client and the language service. It answers nothing itself, and runs nothing of a domain. */
class LanguageServer {
  readonly #connection: Connection;
  readonly #version: string;
  readonly #documents = new TextDocuments(TextDocument);
  readonly #service = new LanguageService((message) => this.#receive(message));
  readonly #requests = new Requests((message) => this.#service.receive(message));
  /** The findings of each domain, and the files whose findings the client shows. */
  readonly #findings = new Map<string, readonly Diagnostic[]>();
  readonly #shown = new Map<string, ReadonlySet<string>>();
  #capabilities: InitializeParams['capabilities'] = {};

  constructor(connection: Connection, version: string) {
    this.#connection = connection;
    this.#version = version;
  }

  listen(): void {
    this.#connection.onInitialize((params) => this.#initialize(params));
    this.#connection.onInitialized(() => this.#watchFiles());
    this.#connection.onDidChangeWatchedFiles(({ changes }) => this.#touch(changes.map(({ uri }) => uri)));
    this.#followDocuments();
    this.#answerAtPositions();
    this.#answerForFiles();
    this.#connection.onWorkspaceSymbol(async ({ query }, token) => {
      const folders = [...this.#findings.keys()];
      const found = await Promise.all(folders.map((each) => this.#askIn(each, { type: 'symbols', query }, token)));
      return found.flat().map(workspaceSymbol);
    });
    this.#connection.onCodeAction((params) => this.#codeActions(params));
    this.#connection.onCodeActionResolve(async (action) => {
      const { folder, file } = action.data as { readonly folder: string; readonly file: string };
      const fixed = await this.#request<Fixed>({ type: 'fixAll', folder, file });
      return { ...action, edit: { changes: Object.fromEntries(fixed.map(wholeText)) } };
    });
    this.#connection.languages.semanticTokens.on(async ({ textDocument }, token) =>
      semanticTokens((await this.#ask(textDocument, (file) => ({ type: 'tokens', file }), token)) ?? []),
    );
    this.#documents.listen(this.#connection);
    this.#connection.listen();
  }

  #initialize({ capabilities }: InitializeParams): InitializeResult {
    this.#capabilities = capabilities;
    return {
      serverInfo: { name: 'rehearsal', version: this.#version },
      capabilities: {
        textDocumentSync: { openClose: true, change: TextDocumentSyncKind.Incremental, save: true },
        completionProvider: { triggerCharacters: ['`', ':', ' ', '[', '{', '.', '"', '#', '-'] },
        hoverProvider: true,
        definitionProvider: true,
        referencesProvider: true,
        documentHighlightProvider: true,
        renameProvider: { prepareProvider: true },
        documentLinkProvider: {},
        documentSymbolProvider: true,
        foldingRangeProvider: true,
        documentFormattingProvider: true,
        workspaceSymbolProvider: true,
        codeActionProvider: { codeActionKinds: [CodeActionKind.QuickFix, fixAllKind], resolveProvider: true },
        semanticTokensProvider: { legend: tokenLegend, full: true },
      },
    };
  }

  #watchFiles(): void {
    if (!this.#capabilities.workspace?.didChangeWatchedFiles?.dynamicRegistration) return;
    const watchers = [{ globPattern: '**/*' }];
    const refused = (error: unknown) => this.#connection.console.warn(`files are not watched: ${messageOf(error)}`);
    this.#connection.client.register(DidChangeWatchedFilesNotification.type, { watchers }).catch(refused);
  }

  #followDocuments(): void {
    this.#documents.onDidChangeContent(({ document }) => this.#setText(document.uri, document.getText()));
    this.#documents.onDidClose(({ document }) => this.#setText(document.uri, null));
    this.#documents.onDidSave(({ document }) => this.#touch([document.uri]));
  }

  #setText(uri: string, text: string | null): void {
    const at = domainFileOf(uri);
    if (at) this.#service.receive({ type: 'text', ...at, text });
  }

  /** Reads the domains of files again. */
  #touch(uris: readonly string[]): void {
    for (const folder of new Set(uris.map((uri) => domainFileOf(uri)?.folder)))
      if (folder !== undefined) this.#service.receive({ type: 'touch', folder });
    for (const folder of this.#findings.keys())
      if (domainFolderOf(`${folder}/domain.yaml`) !== folder) this.#forget(folder);
  }

  #forget(folder: string): void {
    this.#service.receive({ type: 'forget', folder });
    this.#show(folder, []);
    this.#findings.delete(folder);
    this.#shown.delete(folder);
  }

  #answerAtPositions(): void {
    this.#connection.onCompletion(async ({ textDocument, position }, token) => {
      const found = await this.#askAt('completion', textDocument, position, token);
      const takesSnippets = this.#capabilities.textDocument?.completion?.completionItem?.snippetSupport === true;
      return completionItems(found ?? [], takesSnippets);
    });
    this.#connection.onHover(async ({ textDocument, position }, token) => {
      const found = await this.#askAt('hover', textDocument, position, token);
      return found ? { contents: markdown(found.markdown), range: rangeOf(found.at) } : null;
    });
    this.#connection.onDefinition(async ({ textDocument, position }, token) =>
      (await this.#askAt('definition', textDocument, position, token))?.map(locationOf),
    );
    this.#connection.onDocumentHighlight(async ({ textDocument, position }, token) =>
      (await this.#askAt('highlights', textDocument, position, token))?.map((at) => ({ range: rangeOf(at) })),
    );
    this.#connection.onReferences(async ({ textDocument, position, context }, token) => {
      const withDeclaration = context.includeDeclaration;
      const ask = (file: string) => ({ type: 'references', at: positionIn(file, position), withDeclaration }) as const;
      return (await this.#ask(textDocument, ask, token))?.map(locationOf);
    });
    this.#connection.onPrepareRename(async ({ textDocument, position }, token) => {
      const found = await this.#askAt('renamable', textDocument, position, token);
      if (!found) return null;
      if ('refusal' in found) throw new ResponseError(LSPErrorCodes.RequestFailed, found.refusal);
      return { range: rangeOf(found.at), placeholder: found.name };
    });
    this.#connection.onRenameRequest(async ({ textDocument, position, newName: name }, token) => {
      const ask = (file: string) => ({ type: 'rename', at: positionIn(file, position), name }) as const;
      const found = await this.#ask(textDocument, ask, token);
      if (!found) return null;
      if ('refusal' in found) throw new ResponseError(LSPErrorCodes.RequestFailed, found.refusal);
      const notes = [found.unfollowed, ...found.notes].filter((each) => each !== null).join(' ');
      if (notes !== '')
        void this.#connection.sendNotification(ShowMessageNotification.type, {
          type: MessageType.Info,
          message: notes,
        });
      return workspaceEdit(found.edits);
    });
  }

  #answerForFiles(): void {
    this.#connection.onDocumentSymbol(async ({ textDocument }, token) =>
      (await this.#ask(textDocument, (file) => ({ type: 'outline', file }), token))?.map(documentSymbol),
    );
    this.#connection.onFoldingRanges(async ({ textDocument }, token) =>
      (await this.#ask(textDocument, (file) => ({ type: 'folds', file }), token))?.map(foldingRange),
    );
    this.#connection.onDocumentLinks(async ({ textDocument }, token) =>
      (await this.#ask(textDocument, (file) => ({ type: 'links', file }), token))?.map(({ at, target }) => ({
        range: rangeOf(at),
        target: uriOf(target),
      })),
    );
    this.#connection.onDocumentFormatting(async ({ textDocument }, token) => {
      const text = await this.#ask(textDocument, (file) => ({ type: 'format', file }), token);
      return typeof text === 'string' ? [{ range: everything, newText: text }] : [];
    });
  }

  /** Offers the fix of each finding in a range, and all fixes of the file. */
  #codeActions({ textDocument: { uri }, range, context }: CodeActionParams) {
    const at = domainFileOf(uri);
    const own = (this.#findings.get(at?.folder ?? '') ?? []).filter(({ file, fix }) => file === at?.file && fix);
    const single = own
      .filter((found) => {
        const { start, end } = rangeOf(found);
        return start.line <= range.end.line && range.start.line <= end.line;
      })
      .map((found) => ({
        title: found.fix?.title ?? '',
        kind: CodeActionKind.QuickFix,
        diagnostics: [lspDiagnostic(found)],
        isPreferred: true,
        edit: workspaceEdit(found.fix?.edits as readonly Edit[]),
      }));
    const isAsked = (kind: string) => !context.only || context.only.some((only) => `${kind}.`.startsWith(`${only}.`));
    const all = { title: 'Apply all automatic fixes in this file', kind: fixAllKind, data: at };
    return [
      ...(isAsked(CodeActionKind.QuickFix) ? single : []),
      ...(own.length > 0 && isAsked(fixAllKind) ? [all] : []),
    ];
  }

  #askAt<Type extends 'completion' | 'hover' | 'definition' | 'highlights' | 'renamable'>(
    type: Type,
    document: { readonly uri: string },
    position: { readonly line: number; readonly character: number },
    token: CancellationToken,
  ): Promise<AnswerTo<Type> | undefined> {
    const ask = (file: string) => ({ type, at: positionIn(file, position) }) as unknown as QuestionOf<Type>;
    return this.#ask(document, ask, token);
  }

  /** Asks about a document; undefined if it belongs to no domain. */
  async #ask<Type extends QuestionType>(
    { uri }: { readonly uri: string },
    question: (file: string) => QuestionOf<Type>,
    token: CancellationToken,
  ): Promise<AnswerTo<Type> | undefined> {
    const at = domainFileOf(uri);
    return at && this.#askIn(at.folder, question(at.file), token);
  }

  #askIn<Type extends QuestionType>(
    folder: string,
    question: QuestionOf<Type>,
    token: CancellationToken,
  ): Promise<AnswerTo<Type>> {
    return this.#request({ type: 'ask', folder, question: question as Question }, token);
  }

  async #request<T>(request: Parameters<Requests['send']>[0], token?: CancellationToken): Promise<T> {
    const reply = await this.#requests.send<T>(request, token);
    if (reply.type === 'answer') return reply.value;
    throw reply.type === 'failed'
      ? new ResponseError(ErrorCodes.InternalError, reply.message)
      : new ResponseError(LSPErrorCodes.RequestCancelled, 'The request was cancelled.');
  }

  #receive(message: FromService): void {
    switch (message.type) {
      case 'found':
        this.#findings.set(message.folder, message.diagnostics);
        this.#show(message.folder, message.diagnostics);
        return;
      case 'answer':
        this.#requests.receive(message);
        return;
      case 'failed':
        this.#connection.console.error(message.message);
        this.#requests.receive(message);
        return;
      // Whole texts are sent, so none is unknown. Describing tools would run the domain's code.
      case 'unknown':
      case 'undescribed':
        return;
      default:
        message satisfies never;
    }
  }

  /** Shows the findings of a domain, and removes those of files that have none now. */
  #show(folder: string, found: readonly Diagnostic[]): void {
    const byFile = Map.groupBy(found, ({ file }) => file);
    for (const file of new Set([...(this.#shown.get(folder) ?? []), ...byFile.keys()])) {
      const diagnostics = (byFile.get(file) ?? []).map(lspDiagnostic);
      void this.#connection.sendDiagnostics({ uri: uriOf(file), diagnostics });
    }
    this.#shown.set(folder, new Set(byFile.keys()));
  }
}

const fixAllKind = `${CodeActionKind.SourceFixAll}.rehearsal`;

/** A range that every text is within. */
const everything = { start: { line: 0, character: 0 }, end: { line: 2 ** 31 - 1, character: 0 } };

const wholeText = ([file, newText]: Fixed[number]): [string, TextEdit[]] => [
  uriOf(file),
  [{ range: everything, newText }],
];

/** Returns the file of a URI and its domain; undefined if it belongs to none. */
function domainFileOf(uri: string): { readonly folder: string; readonly file: string } | undefined {
  const file = pathOf(uri);
  if (file === undefined || isOutsideDomains(file)) return undefined;
  const folder = domainFolderOf(file);
  return folder === undefined ? undefined : { folder, file };
}
