import * as vscode from 'vscode';
import type { NameToken } from '../../language/tokens.ts';
import type { LanguageClient } from './languageClient.ts';
import { writtenFiles } from './places.ts';

/** The types of package.json, by what a word names. */
const types: Readonly<Record<NameToken['kind'], string>> = {
  tool: 'rehearsalTool',
  rule: 'rehearsalRule',
  persona: 'rehearsalPersona',
  task: 'rehearsalTask',
  verifier: 'rehearsalTool',
  fact: 'rehearsalFact',
  phrases: 'rehearsalPhrases',
  argument: 'rehearsalArgument',
  field: 'rehearsalField',
  row: 'rehearsalRow',
  function: 'function',
  keyword: 'keyword',
  text: 'string',
  number: 'number',
};

const legend = new vscode.SemanticTokensLegend([...new Set(Object.values(types))], ['declaration']);

/** Colours of the names in a text; who writes a policy sees which of its words are tools. */
export function registerSemanticTokens(client: LanguageClient): vscode.Disposable {
  const provider: vscode.DocumentSemanticTokensProvider = {
    provideDocumentSemanticTokens: async ({ uri: { fsPath: file } }, token) => {
      const found = await client.ask(file, { type: 'tokens', file }, token);
      if (!found) return undefined;
      const builder = new vscode.SemanticTokensBuilder(legend);
      for (const { line, column, length, kind, declares } of found) {
        const range = new vscode.Range(line - 1, column - 1, line - 1, column - 1 + length);
        builder.push(range, types[kind], declares ? ['declaration'] : []);
      }
      return builder.build();
    },
  };
  return vscode.languages.registerDocumentSemanticTokensProvider(writtenFiles, provider, legend);
}
