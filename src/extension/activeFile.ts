import * as vscode from 'vscode';

/** The file that the active tab shows, as text or in a view of its own. */
export function activeFile(): string | undefined {
  const shown = vscode.window.tabGroups.activeTabGroup.activeTab?.input;
  if (shown instanceof vscode.TabInputText || shown instanceof vscode.TabInputCustom) return shown.uri.fsPath;
  return vscode.window.activeTextEditor?.document.uri.fsPath;
}

/** The line (from 1) of the cursor in a file that is open; 1 in any other. */
export function cursorLine(file: string): number {
  const editor = vscode.window.visibleTextEditors.find(({ document }) => document.uri.fsPath === file);
  return editor ? editor.selection.active.line + 1 : 1;
}
