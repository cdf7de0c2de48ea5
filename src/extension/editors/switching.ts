import * as vscode from 'vscode';
import type { Location } from '../../engine/shell/files/diagnostic.ts';
import { activeFile, cursorLine } from '../workspace/activeFile.ts';
import { visualEditorTypes } from '../workspace/contributions.ts';
import { columnOfFile } from '../workspace/walkthrough.ts';

/** The line of the cursor in each file whose visual editor is being opened. */
const openedAt = new Map<string, number>();

/** Returns the line (from 1) of the cursor when the visual editor of a file was requested; 1 if it was opened otherwise. */
export function takeOpenedLine(file: string): number {
  const line = openedAt.get(file) ?? 1;
  openedAt.delete(file);
  return line;
}

/** Shows a file in its visual editor, in the place of its text. Gives whether there is one for it. */
export async function openVisual(target: unknown): Promise<boolean> {
  const uri = fileOf(target);
  const type = uri && visualTypeOf(uri.path);
  if (!uri || !type) return false;
  openedAt.set(uri.fsPath, lineOf(target) ?? cursorLine(uri.fsPath));
  await reopened(uri, type);
  return true;
}

/** Shows the text of a file, in the place of its visual editor. */
export async function openAsText(target: unknown): Promise<boolean> {
  const uri = fileOf(target);
  if (!uri) return false;
  await reopened(uri, 'default');
  return true;
}

function visualTypeOf(path: string): string | undefined {
  return Object.entries(visualEditorTypes).find(([end]) => path.endsWith(end))?.[1];
}

/** The target of a command: a file's address, a row of the Domains view, or a test. */
type Target = { readonly at?: Location; readonly uri?: vscode.Uri; readonly range?: vscode.Range };

function fileOf(target: unknown): vscode.Uri | undefined {
  if (target instanceof vscode.Uri) return target;
  const { at, uri } = (target ?? {}) as Target;
  if (at || uri) return at ? vscode.Uri.file(at.file) : uri;
  const file = activeFile();
  return file === undefined ? undefined : vscode.Uri.file(file);
}

/** Returns the line (from 1) of the entry that a row or a test is; undefined for a file. */
function lineOf(target: unknown): number | undefined {
  const { at, range } = (target ?? {}) as Target;
  return at?.line ?? (range && range.start.line + 1);
}

/** One document, one tab: the editor that was there makes room, whether or not it is saved. */
async function reopened(uri: vscode.Uri, type: string): Promise<void> {
  const { activeTab } = vscode.window.tabGroups.activeTabGroup;
  const input = activeTab?.input;
  const isShown =
    (input instanceof vscode.TabInputText || input instanceof vscode.TabInputCustom) &&
    input.uri.toString() === uri.toString();
  if (isShown) await vscode.commands.executeCommand('reopenActiveEditorWith', type);
  else await vscode.commands.executeCommand('vscode.openWith', uri, type, columnOfFile());
}
