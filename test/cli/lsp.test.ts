/** Tests the language server with a client in another process, as Neovim, Zed and JetBrains use it. */
import { spawn } from 'node:child_process';
import { appendFileSync, cpSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  CodeActionRequest,
  CompletionRequest,
  createProtocolConnection,
  DefinitionRequest,
  DidChangeTextDocumentNotification,
  DidCloseTextDocumentNotification,
  DidOpenTextDocumentNotification,
  DidSaveTextDocumentNotification,
  DocumentFormattingRequest,
  DocumentHighlightRequest,
  DocumentLinkRequest,
  DocumentSymbolRequest,
  ExitNotification,
  FoldingRangeRequest,
  HoverRequest,
  InitializedNotification,
  InitializeRequest,
  PrepareRenameRequest,
  type ProtocolConnection,
  PublishDiagnosticsNotification,
  type PublishDiagnosticsParams,
  ReferencesRequest,
  RenameRequest,
  SemanticTokensRequest,
  ShutdownRequest,
  StreamMessageReader,
  StreamMessageWriter,
  type TextEdit,
  WorkspaceSymbolRequest,
} from 'vscode-languageserver/node';
import { commandLine } from '../support/commandLine.ts';
import { temporaryFolder } from '../support/temporary.ts';

const folder = join(temporaryFolder('lsp'), 'parcel-desk');
cpSync('domains/parcel-desk', folder, { recursive: true });
appendFileSync(join(folder, 'domain.yaml'), 'policy: policy.md\n');
const server = spawn(process.execPath, [commandLine, 'lsp'], { stdio: ['pipe', 'pipe', 'inherit'] });
const ended = new Promise<number | null>((resolve) => server.once('exit', resolve));
const client: ProtocolConnection = createProtocolConnection(
  new StreamMessageReader(server.stdout),
  new StreamMessageWriter(server.stdin),
);
const uriOf = (file: string) => pathToFileURL(join(folder, file)).href;
const textOf = (file: string) => readFileSync(join(folder, file), 'utf8');

/** The last published findings by file, and a callback for new ones. */
const published = new Map<string, PublishDiagnosticsParams['diagnostics']>();
let publish = () => {};
client.onNotification(PublishDiagnosticsNotification.type, ({ uri, diagnostics }) => {
  published.set(uri, diagnostics);
  publish();
});
async function findings(file: string, codes: readonly string[]): Promise<PublishDiagnosticsParams['diagnostics']> {
  const own = () => published.get(uriOf(file));
  while (JSON.stringify(own()?.map(({ code }) => code)) !== JSON.stringify(codes))
    await new Promise<void>((resolve) => {
      publish = resolve;
    });
  return own() ?? [];
}

beforeAll(async () => {
  client.listen();
  const { serverInfo } = await client.sendRequest(InitializeRequest.type, {
    processId: process.pid,
    rootUri: pathToFileURL(folder).href,
    capabilities: { textDocument: { completion: { completionItem: { snippetSupport: true } } } },
  });
  expect(serverInfo?.name).toBe('rehearsal');
  await client.sendNotification(InitializedNotification.type, {});
  for (const file of ['policy.md', 'rules.yaml', 'tasks/test.task.yaml'])
    await client.sendNotification(DidOpenTextDocumentNotification.type, {
      textDocument: { uri: uriOf(file), languageId: 'yaml', version: 1, text: textOf(file) },
    });
});

afterAll(async () => {
  await client.sendRequest(ShutdownRequest.type);
  await client.sendNotification(ExitNotification.type);
  expect(await ended).toBe(0);
  rmSync(folder, { recursive: true, force: true });
});

/** Returns the document and the position of the end of a text in a file. */
function after(file: string, text: string) {
  const before = textOf(file).split(text)[0] ?? '';
  const lines = `${before}${text}`.split('\n');
  return {
    textDocument: { uri: uriOf(file) },
    position: { line: lines.length - 1, character: lines.at(-1)?.length ?? 0 },
  };
}
const inFile = (file: string) => ({ textDocument: { uri: uriOf(file) } });
const rule = after('rules.yaml', 'rule: look-up');

test('the names that can be written are offered, with the range that they replace', async () => {
  const items = await client.sendRequest(CompletionRequest.type, after('tasks/test.task.yaml', '{ tool: find'));
  expect(items).toContainEqual(
    expect.objectContaining({ label: 'reschedule', textEdit: expect.objectContaining({ newText: 'reschedule' }) }),
  );
});

test('hover shows the sentence of a rule', async () => {
  expect(await client.sendRequest(HoverRequest.type, rule)).toMatchObject({
    contents: { kind: 'markdown', value: expect.stringContaining('before you offer anything') },
    range: { start: { line: 1 } },
  });
});

test('definition, references and highlights of a rule', async () => {
  const policy = { uri: uriOf('policy.md'), range: { start: { line: 4 } } };
  expect(await client.sendRequest(DefinitionRequest.type, rule)).toMatchObject([policy]);
  const context = { includeDeclaration: true };
  const found = await client.sendRequest(ReferencesRequest.type, { ...rule, context });
  expect(found?.map(({ uri }) => uri).sort()).toEqual([uriOf('policy.md'), uriOf('rules.yaml')]);
  expect(await client.sendRequest(DocumentHighlightRequest.type, rule)).toMatchObject([
    { range: { start: { line: 1, character: 8 } } },
  ]);
});

test('rename changes every file, and refuses what is not a name', async () => {
  expect(await client.sendRequest(PrepareRenameRequest.type, rule)).toMatchObject({ placeholder: 'look-up-first' });
  const edit = await client.sendRequest(RenameRequest.type, { ...rule, newName: 'look-up' });
  const texts = Object.entries(edit?.changes ?? {}).map(([uri, edits]) => [uri, edits.map(({ newText }) => newText)]);
  expect(Object.fromEntries(texts)).toEqual({
    [uriOf('policy.md')]: ['look-up'],
    [uriOf('rules.yaml')]: ['look-up'],
  });
  const refused = client.sendRequest(PrepareRenameRequest.type, after('policy.md', '# Parcel'));
  await expect(refused).rejects.toThrow('There is nothing to rename here.');
});

test('outline, links, folds, colours and symbols', async () => {
  const outline = await client.sendRequest(DocumentSymbolRequest.type, inFile('tasks/test.task.yaml'));
  expect(outline?.[0]).toMatchObject({ name: 'reschedule-P46', range: { start: { line: 0 } } });
  expect(await client.sendRequest(DocumentLinkRequest.type, inFile('domain.yaml'))).toMatchObject([
    { target: uriOf('policy.md') },
  ]);
  expect(await client.sendRequest(FoldingRangeRequest.type, inFile('rules.yaml'))).toContainEqual({
    startLine: 1,
    endLine: 4,
  });
  const tokens = await client.sendRequest(SemanticTokensRequest.type, inFile('rules.yaml'));
  expect(tokens?.data.slice(0, 3)).toEqual([1, 8, 'look-up-first'.length]);
  const symbols = await client.sendRequest(WorkspaceSymbolRequest.type, { query: 'find_parcel' });
  expect(symbols).toMatchObject([{ name: 'find_parcel', location: { uri: uriOf('tools.ts') } }]);
});

test('findings follow what is typed, their fix is offered, and they go with the change', async () => {
  const file = 'rules.yaml';
  const { textDocument } = inFile(file);
  const misspelt = textOf(file).replace('find_parcel', 'find_parcels');
  const change = (version: number, text: string) =>
    client.sendNotification(DidChangeTextDocumentNotification.type, {
      textDocument: { ...textDocument, version },
      contentChanges: [{ text }],
    });
  await change(2, misspelt);
  const [found] = await findings(file, ['rule/unknown-tool']);
  if (!found) throw new Error('no finding');
  const asked = { textDocument, range: found.range, context: { diagnostics: [found] } };
  const [fix, all] = (await client.sendRequest(CodeActionRequest.type, asked)) ?? [];
  expect(fix).toMatchObject({
    kind: 'quickfix',
    edit: { changes: { [textDocument.uri]: [{ newText: 'find_parcel' }] } },
  });
  const resolved = (await client.sendRequest('codeAction/resolve', all)) as {
    readonly edit: { readonly changes: Readonly<Record<string, readonly TextEdit[]>> };
  };
  expect(resolved.edit.changes[textDocument.uri]?.[0]?.newText).toBe(textOf(file));
  await change(3, textOf(file));
  await findings(file, []);
});

test('a file in disorder is formatted, and one in order is not', async () => {
  const options = { tabSize: 2, insertSpaces: true };
  const format = (file: string) => client.sendRequest(DocumentFormattingRequest.type, { ...inFile(file), options });
  expect(await format('rules.yaml')).toEqual([]);
  const textDocument = { uri: uriOf('rules.yaml'), version: 4 };
  const contentChanges = [
    { text: textOf('rules.yaml').replace('{ rule', '{  rule').replace('rule: one-call', 'rule:   one-call') },
  ];
  await client.sendNotification(DidChangeTextDocumentNotification.type, { textDocument, contentChanges });
  expect((await format('rules.yaml'))?.[0]?.newText).toBe(textOf('rules.yaml'));
  await client.sendNotification(DidCloseTextDocumentNotification.type, { textDocument });
});

test('a domain that is removed has no findings, and a file without a domain gets no answer', async () => {
  await client.sendNotification(DidChangeTextDocumentNotification.type, {
    textDocument: { uri: uriOf('policy.md'), version: 2 },
    contentChanges: [{ text: textOf('policy.md').replace('{#delivered}', '') }],
  });
  rmSync(join(folder, 'domain.yaml'));
  await client.sendNotification(DidSaveTextDocumentNotification.type, inFile('policy.md'));
  await client.sendRequest(WorkspaceSymbolRequest.type, { query: '' });
  expect([...published.values()].flat()).toEqual([]);
  expect(await client.sendRequest(HoverRequest.type, rule)).toBeNull();
});
