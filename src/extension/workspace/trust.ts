import * as vscode from 'vscode';
import { showWarningMessage } from './messages.ts';

/**
 * Whether something may run here. A domain's tools are programs, so in a workspace that no one trusts nothing of it
 * runs; that is reported once for each attempt, with the way to change it.
 * @param what begins the sentence, for example "Rollouts"
 */
export function mayRun(what: string): boolean {
  if (vscode.workspace.isTrusted) return true;
  const message = `${what} start only in a trusted workspace: the tools of a domain are programs. Nothing was started.`;
  const manage = 'Manage Workspace Trust';
  void showWarningMessage(message, manage).then((chosen) => {
    if (chosen === manage) void vscode.commands.executeCommand('workbench.trust.manage');
  });
  return false;
}
