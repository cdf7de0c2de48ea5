import * as vscode from 'vscode';
import { withoutLinks } from '../../engine/core/text/withoutLinks.ts';

/**
 * Shows a message. Its text may come from a domain, a model, a server or a recording, and a link in a notification of
 * VS Code runs any command.
 */
export const showErrorMessage = ((message: string, ...rest: never[]) =>
  vscode.window.showErrorMessage(withoutLinks(message), ...rest)) as typeof vscode.window.showErrorMessage;

/** See `showErrorMessage`. */
export const showWarningMessage = ((message: string, ...rest: never[]) =>
  vscode.window.showWarningMessage(withoutLinks(message), ...rest)) as typeof vscode.window.showWarningMessage;

/** See `showErrorMessage`. */
export const showInformationMessage = ((message: string, ...rest: never[]) =>
  vscode.window.showInformationMessage(withoutLinks(message), ...rest)) as typeof vscode.window.showInformationMessage;

/** Shows a message with a button, which runs a command. */
export async function offerCommand(message: string, button: string, command: string, ...args: unknown[]) {
  if ((await showInformationMessage(message, button)) === button)
    await vscode.commands.executeCommand(command, ...args);
}
