import * as vscode from 'vscode';
import { failureMessage, runWithProgress } from './commandLine/commandLine.ts';
import type { Context } from './commandLine/context.ts';
import { offerCommand, showErrorMessage, showInformationMessage, showWarningMessage } from './workspace/messages.ts';

type Live = { readonly model: string; readonly paths: readonly { status: string; what: string; seconds: number }[] };

/**
 * Lets the model of the settings play one conversation of a small sample domain, and says how that went.
 * @returns the status of the conversation; undefined where there is no endpoint or it was cancelled
 */
export async function testConnection(context: Context): Promise<string | undefined> {
  const settings = vscode.workspace.getConfiguration('rehearsal.model');
  const baseUrl = settings.get<string>('baseUrl') ?? '';
  if (baseUrl === '') {
    // In a remote window, which the browser is, settings of a machine are not among those of the user.
    const open = vscode.env.remoteName === undefined ? 'openSettings' : 'openRemoteSettings';
    await vscode.commands.executeCommand(`workbench.action.${open}`, { query: 'rehearsal.model' });
    void offerCommand('Enter the base URL in the settings, then set its key.', 'Set Model Key…', 'rehearsal.model.key');
    return undefined;
  }
  const model = settings.get<string>('name') ?? '';
  const args = ['doctor', '--live', baseUrl, '--only', 'agent', ...(model ? ['--model', model] : [])];
  const end = await runWithProgress(context, `Rehearsal: testing ${baseUrl}`, args);
  if (end.isCancelled) return undefined;
  const live = end.answer['live'] as Live | undefined;
  const [path] = live?.paths ?? [];
  if (!live || !path) {
    void showErrorMessage(failureMessage(end, `The test of ${baseUrl}`));
    return 'failed';
  }
  const words = `${live.model}: ${path.what} (${path.seconds} s)`;
  if (path.status === 'ok') void showInformationMessage(`The connection works. ${words}`);
  else if (path.status === 'degraded')
    void showWarningMessage(`The endpoint answers, but the model does not follow its instructions. ${words}`);
  else void showErrorMessage(`The connection does not work. ${words}`);
  return path.status;
}
