import * as vscode from 'vscode';
import { withoutPictures } from '../../engine/core/text/withoutLinks.ts';
import { domainFolderOf } from '../../engine/shell/domain/domainFolder.ts';
import type { Hover } from '../../language/hover.ts';
import type { LanguageClient } from './languageClient.ts';
import { resultWords } from './lastResult.ts';
import { namingFiles, positionAt, rangeOf } from './places.ts';

/** Returns the known facts about a name, a key or a row, and the last result of a task or a rule. */
export function registerHover(client: LanguageClient): vscode.Disposable {
  return vscode.languages.registerHoverProvider(namingFiles, {
    provideHover: async (document, position, token) => {
      const at = positionAt(document, position);
      const found = await client.ask(at.file, { type: 'hover', at }, token);
      if (!found) return undefined;
      const parts = [found.markdown, await lastOf(found, at.file)].filter((each) => each !== '');
      return new vscode.Hover(
        parts.map((each) => new vscode.MarkdownString(withoutPictures(each))),
        rangeOf(found.at),
      );
    },
  });
}

async function lastOf({ about }: Hover, file: string): Promise<string> {
  const folder = domainFolderOf(file);
  if (!folder || (about?.kind !== 'task' && about?.kind !== 'rule')) return '';
  return resultWords(folder, about.kind, about.name);
}
