import * as vscode from 'vscode';

/** Gives the line of the entry that a form shows, by the path of its file. */
const formLines = new Map<string, () => number>();

/**
 * The file that the active tab shows, as text or in its own view. Where it shows another page, such as the walkthrough, a
 * file that is visible beside it.
 */
export function activeFile(): string | undefined {
  const shown = vscode.window.tabGroups.activeTabGroup.activeTab?.input;
  if (shown instanceof vscode.TabInputText || shown instanceof vscode.TabInputCustom) return shown.uri.fsPath;
  const { activeTextEditor, visibleTextEditors } = vscode.window;
  const editor = activeTextEditor ?? visibleTextEditors.find(({ document }) => document.uri.scheme === 'file');
  return editor?.document.uri.fsPath;
}

/** Returns the files that are open in a tab, as text or in their own view. */
export function openFiles(): readonly string[] {
  return vscode.window.tabGroups.all
    .flatMap(({ tabs }) => tabs)
    .flatMap(({ input }) =>
      input instanceof vscode.TabInputText || input instanceof vscode.TabInputCustom ? input.uri.fsPath : [],
    );
}

/** The line (from 1) of the cursor in a file that is open, or of the entry that its form shows; 1 in any other. */
export function cursorLine(file: string): number {
  const shown = vscode.window.tabGroups.activeTabGroup.activeTab?.input;
  const inForm = shown instanceof vscode.TabInputCustom ? formLines.get(file) : undefined;
  if (inForm) return inForm();
  const editor = vscode.window.visibleTextEditors.find(({ document }) => document.uri.fsPath === file);
  return editor ? editor.selection.active.line + 1 : 1;
}

/** Makes `cursorLine` ask a form for the line of its entry. Returns what takes that back. */
export function registerForm(file: string, line: () => number): vscode.Disposable {
  formLines.set(file, line);
  return {
    dispose: () => {
      if (formLines.get(file) === line) formLines.delete(file);
    },
  };
}
