import { fileURLToPath, pathToFileURL } from 'node:url';
import {
  CompletionItemKind,
  DiagnosticSeverity,
  type DocumentSymbol,
  type FoldingRange,
  FoldingRangeKind,
  InsertTextFormat,
  type CompletionItem as Item,
  type Diagnostic as LspDiagnostic,
  type Location as LspLocation,
  type Position as LspPosition,
  MarkupKind,
  type Range,
  type SemanticTokens,
  SymbolKind,
  type TextEdit,
  type WorkspaceEdit,
} from 'vscode-languageserver/node';
import { withoutPictures } from '../../engine/core/text/withoutLinks.ts';
import type { Diagnostic, Edit, Location } from '../../engine/shell/files/diagnostic.ts';
import type { Completion } from '../../language/completion/offer.ts';
import type { Fold } from '../../language/folding.ts';
import type { OutlineItem } from '../../language/outline.ts';
import type { NamedSymbol, Position } from '../../language/symbols/symbols.ts';
import type { NameToken } from '../../language/tokens.ts';

/** Returns the path of a URI, or undefined if it is not of a file. */
export const pathOf = (uri: string): string | undefined => (uri.startsWith('file:') ? fileURLToPath(uri) : undefined);

export const uriOf = (file: string): string => pathToFileURL(file).href;

/** Returns a position as the engine counts, from 1. */
export const positionIn = (file: string, { line, character }: LspPosition): Position => ({
  file,
  line: line + 1,
  column: character + 1,
});

/** A place without an end is one character wide. */
type PartialLocation = Pick<Location, 'line' | 'column'> & Partial<Location>;

/** Returns the range of a place, which the protocol counts from 0. */
export const rangeOf = ({ line, column, endLine, endColumn }: PartialLocation): Range => ({
  start: { line: line - 1, character: column - 1 },
  end: { line: (endLine ?? line) - 1, character: (endColumn ?? column + 1) - 1 },
});

export const locationOf = (at: Location): LspLocation => ({ uri: uriOf(at.file), range: rangeOf(at) });

export const markdown = (value: string) => ({ kind: MarkupKind.Markdown, value: withoutPictures(value) });

const itemKinds: Readonly<Record<Completion['kind'], CompletionItemKind>> = {
  tool: CompletionItemKind.Function,
  rule: CompletionItemKind.Reference,
  persona: CompletionItemKind.Class,
  task: CompletionItemKind.Event,
  verifier: CompletionItemKind.Function,
  fact: CompletionItemKind.Variable,
  phrases: CompletionItemKind.Constant,
  argument: CompletionItemKind.Property,
  field: CompletionItemKind.Field,
  row: CompletionItemKind.Value,
  key: CompletionItemKind.Property,
  value: CompletionItemKind.Value,
  function: CompletionItemKind.Function,
  name: CompletionItemKind.Variable,
  snippet: CompletionItemKind.Snippet,
};

/**
 * Returns a completion for a client.
 * @param takesSnippets whether the client fills in the places of a snippet; otherwise snippets are left out
 */
export function completionItems(offers: readonly Completion[], takesSnippets: boolean): Item[] {
  return offers
    .filter(({ isSnippet }) => takesSnippets || !isSnippet)
    .map(({ label, kind, detail, documentation, insert, isSnippet, at, rank }) => ({
      label,
      kind: itemKinds[kind],
      filterText: insert,
      sortText: `${rank} ${label}`,
      textEdit: { range: rangeOf(at), newText: insert },
      insertTextFormat: isSnippet ? InsertTextFormat.Snippet : InsertTextFormat.PlainText,
      ...(detail === '' ? {} : { detail }),
      ...(documentation === '' ? {} : { documentation: markdown(documentation) }),
    }));
}

const symbolKinds: Readonly<Record<OutlineItem['type'], SymbolKind>> = {
  item: SymbolKind.Object,
  map: SymbolKind.Module,
  list: SymbolKind.Array,
  text: SymbolKind.Property,
  rule: SymbolKind.Key,
};

export const documentSymbol = ({ name, detail, type, at, nameAt, children }: OutlineItem): DocumentSymbol => ({
  name: name || ' ',
  detail,
  kind: symbolKinds[type],
  range: rangeOf(at),
  selectionRange: rangeOf(nameAt),
  children: children.map(documentSymbol),
});

export const workspaceSymbol = ({ name, at, container }: NamedSymbol) => ({
  name,
  kind: SymbolKind.Key,
  containerName: container,
  location: locationOf(at),
});

export const foldingRange = ({ line, endLine, isComment }: Fold): FoldingRange => ({
  startLine: line - 1,
  endLine: endLine - 1,
  ...(isComment ? { kind: FoldingRangeKind.Comment } : {}),
});

const severities = {
  error: DiagnosticSeverity.Error,
  warning: DiagnosticSeverity.Warning,
  info: DiagnosticSeverity.Information,
} as const;

export const lspDiagnostic = (found: Diagnostic): LspDiagnostic => ({
  range: rangeOf(found),
  message: [found.message, found.hint].filter(Boolean).join(' '),
  severity: severities[found.severity],
  code: found.code,
  source: 'Rehearsal',
});

/** Returns edits of files by their URIs. */
export function workspaceEdit(edits: readonly Edit[]): WorkspaceEdit {
  const changes = [...Map.groupBy(edits, ({ file }) => file)].map(([file, own]): [string, TextEdit[]] => [
    uriOf(file),
    own.map((edit) => ({ range: rangeOf(edit), newText: edit.text })),
  ]);
  return { changes: Object.fromEntries(changes) };
}

/** The token types of the protocol, by what a word names. */
const tokenTypes = {
  tool: 'function',
  rule: 'enumMember',
  persona: 'class',
  task: 'event',
  verifier: 'function',
  fact: 'variable',
  phrases: 'enum',
  argument: 'parameter',
  field: 'property',
  row: 'struct',
  function: 'function',
  keyword: 'keyword',
  text: 'string',
  number: 'number',
} as const satisfies Readonly<Record<NameToken['kind'], string>>;

export const tokenLegend = { tokenTypes: [...new Set(Object.values(tokenTypes))], tokenModifiers: ['declaration'] };

/** Returns tokens as the protocol encodes them: five numbers each, with the position relative to the one before. */
export function semanticTokens(tokens: readonly NameToken[]): SemanticTokens {
  let [line, column] = [1, 1];
  const data = tokens.flatMap((token) => {
    const lines = token.line - line;
    const columns = lines === 0 ? token.column - column : token.column - 1;
    [line, column] = [token.line, token.column];
    const type = tokenLegend.tokenTypes.indexOf(tokenTypes[token.kind]);
    return [lines, columns, token.length, type, token.declares ? 1 : 0];
  });
  return { data };
}
