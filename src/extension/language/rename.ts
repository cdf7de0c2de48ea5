import { basename } from 'node:path';
import * as vscode from 'vscode';
import type { Location } from '../../engine/shell/files/diagnostic.ts';
import { type RenameEdit, renameCommand } from '../typescriptPlugin/renameRequest.ts';
import type { LineOffset } from '../typescriptPlugin/server.ts';
import { showInformationMessage } from '../workspace/messages.ts';
import type { LanguageClient } from './languageClient.ts';
import { namingFiles, positionAt, rangeOf } from './places.ts';

/**
 * Renames a tool, a rule, a persona, a task, a fact, a verifier or a field of the database in all files at once. In
 * code the editor's own TypeScript renames a field, from where its type is declared. What is not followed is reported
 * beside, and in the preview of the rename.
 */
export function registerRename(client: LanguageClient): vscode.Disposable {
  return vscode.languages.registerRenameProvider(namingFiles, {
    prepareRename: async (document, position, token) => {
      const at = positionAt(document, position);
      const found = await client.ask(at.file, { type: 'renamable', at }, token);
      if (!found) throw new Error('There is nothing to rename here.');
      if ('refusal' in found) throw new Error(found.refusal);
      return { range: rangeOf(found.at), placeholder: found.name };
    },
    provideRenameEdits: async (document, position, name, token) => {
      const at = positionAt(document, position);
      const found = await client.ask(at.file, { type: 'rename', at, name }, token);
      if (!found) return undefined;
      if ('refusal' in found) throw new Error(found.refusal);
      const inCode = found.member ? await renamedInCode(found.member, name) : [];
      const unfollowed = found.unfollowed !== null && inCode.length === 0 ? [found.unfollowed] : [];
      const notes = [...unfollowed, ...found.notes].join(' ');
      if (notes !== '') void showInformationMessage(notes);
      const label = notes || `Rename to ${name}`;
      const edit = new vscode.WorkspaceEdit();
      const change = (uri: vscode.Uri, range: vscode.Range, text: string) =>
        edit.replace(uri, range, text, { needsConfirmation: false, label, description: basename(uri.fsPath) });
      for (const each of found.edits) change(vscode.Uri.file(each.file), rangeOf(each), each.text);
      for (const [uri, { range, newText }] of inCode) change(uri, range, newText);
      return edit;
    },
  });
}

/** The time limit for the editor's own TypeScript, in milliseconds; it may still be reading the files. */
const patience = 60_000;

/** A field of the database in the code that reads and writes it, as the editor's own TypeScript renames it. */
async function renamedInCode(member: Location, name: string): Promise<[vscode.Uri, vscode.TextEdit][]> {
  const uri = vscode.Uri.file(member.file);
  const { start } = rangeOf(member);
  const ask = async () => {
    // TypeScript knows nothing of a file that is not open.
    await vscode.workspace.openTextDocument(uri);
    const place = { file: uri, line: start.line + 1, offset: start.character + 1 };
    const answer = await vscode.commands.executeCommand<{ readonly body?: readonly RenameEdit[] }>(
      'typescript.tsserverRequest',
      renameCommand,
      { ...place, name },
    );
    return answer?.body ?? [];
  };
  const asked = ask().catch(() => []);
  const waited = new Promise<readonly RenameEdit[]>((resolve) => setTimeout(() => resolve([]), patience));
  const edits = await Promise.race([asked, waited]);
  const positionOf = ({ line, offset }: LineOffset) => new vscode.Position(line - 1, offset - 1);
  return edits.map(({ file, start, end, text }) => [
    vscode.Uri.file(file),
    vscode.TextEdit.replace(new vscode.Range(positionOf(start), positionOf(end)), text),
  ]);
}
