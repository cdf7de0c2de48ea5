import * as vscode from 'vscode';

/** The command of the button with which the debug adapter refuses a launch; no menu has it. */
const openLineCommand = 'rehearsal.line.open';

export function registerOpenLine(): vscode.Disposable {
  return vscode.commands.registerCommand(openLineCommand, async (file: unknown, line: unknown) => {
    if (typeof file !== 'string' || typeof line !== 'number') return;
    const selection = new vscode.Range(line - 1, 0, line - 1, 0);
    await vscode.window.showTextDocument(vscode.Uri.file(file), { selection });
  });
}
