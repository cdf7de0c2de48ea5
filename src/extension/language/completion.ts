import * as vscode from 'vscode';
import { withoutPictures } from '../../engine/core/text/withoutLinks.ts';
import type { Completion } from '../../language/completion/offer.ts';
import type { LanguageClient } from './languageClient.ts';
import { positionAt, rangeOf, writtenFiles } from './places.ts';

const kinds: Readonly<Record<Completion['kind'], vscode.CompletionItemKind>> = {
  tool: vscode.CompletionItemKind.Function,
  rule: vscode.CompletionItemKind.Reference,
  persona: vscode.CompletionItemKind.User,
  task: vscode.CompletionItemKind.Event,
  verifier: vscode.CompletionItemKind.Function,
  fact: vscode.CompletionItemKind.Variable,
  phrases: vscode.CompletionItemKind.Constant,
  argument: vscode.CompletionItemKind.Property,
  field: vscode.CompletionItemKind.Field,
  row: vscode.CompletionItemKind.Value,
  key: vscode.CompletionItemKind.Property,
  value: vscode.CompletionItemKind.Value,
  function: vscode.CompletionItemKind.Function,
  name: vscode.CompletionItemKind.Variable,
  snippet: vscode.CompletionItemKind.Snippet,
};

/** Names, keys, values and snippets in the files of a domain. */
export function registerCompletion(client: LanguageClient): vscode.Disposable {
  const provider: vscode.CompletionItemProvider = {
    provideCompletionItems: async (document, position, token) => {
      const at = positionAt(document, position);
      const found = await client.ask(at.file, { type: 'completion', at }, token);
      return found?.map((each) => itemOf(each, document, position));
    },
  };
  return vscode.languages.registerCompletionItemProvider(
    writtenFiles,
    provider,
    '`',
    ':',
    ' ',
    '[',
    '{',
    '.',
    '"',
    '#',
    '-',
  );
}

function itemOf(offer: Completion, document: vscode.TextDocument, position: vscode.Position): vscode.CompletionItem {
  const { label, kind, detail, documentation, insert, isSnippet, at, rank } = offer;
  const item = new vscode.CompletionItem(label, kinds[kind]);
  const range = rangeOf(at);
  // VS Code wants the range on the line of the cursor; what reaches further is completed at the cursor.
  item.range = range.isSingleLine && range.contains(position) ? range : new vscode.Range(position, position);
  item.insertText = isSnippet ? new vscode.SnippetString(insert) : insert;
  item.filterText = filterOf(label, insert, document.getText(new vscode.Range(item.range.start, position)));
  item.sortText = `${rank} ${label}`;
  if (detail !== '') item.detail = detail;
  if (documentation !== '') item.documentation = new vscode.MarkdownString(withoutPictures(documentation));
  return item;
}

/** Returns the text to filter by. The text written so far may have quotes or a dash that the label does not have. */
function filterOf(label: string, insert: string, written: string): string {
  return insert.startsWith(written) && written !== '' ? insert : label;
}
