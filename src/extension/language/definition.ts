import * as vscode from 'vscode';
import type { LanguageClient } from './languageClient.ts';
import { locationOf, namingFiles, positionAt } from './places.ts';

/** From a name to where it is made, in whichever file of the domain that is. */
export function registerDefinition(client: LanguageClient): vscode.Disposable {
  return vscode.languages.registerDefinitionProvider(namingFiles, {
    provideDefinition: async (document, position, token) => {
      const at = positionAt(document, position);
      return (await client.ask(at.file, { type: 'definition', at }, token))?.map(locationOf);
    },
  });
}
