import * as vscode from 'vscode';

/**
 * Shows or hides the welcome text of a view in package.json. VS Code shows the text of an empty view also while the view
 * is read for the first time, so the text waits for this key.
 */
export function markEmpty(view: 'domains' | 'runs' | 'training', isEmpty: boolean): void {
  void vscode.commands.executeCommand('setContext', `rehearsal.empty.${view}`, isEmpty);
}
