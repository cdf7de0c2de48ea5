import * as vscode from 'vscode';
import { type Context, keyName } from './commandLine/context.ts';

/** Asks for the key of the endpoint in the settings and stores it. False where the person cancels. */
export async function setKey({ extension }: Pick<Context, 'extension'>): Promise<boolean> {
  const baseUrl = vscode.workspace.getConfiguration('rehearsal.model').get<string>('baseUrl') ?? '';
  const value = await vscode.window.showInputBox({
    title: baseUrl === '' ? 'Key of the model endpoint' : `Key of ${baseUrl}`,
    prompt:
      baseUrl === ''
        ? 'No base URL is set. The key is for the endpoint that you name in "rehearsal.model.baseUrl".'
        : 'This is the endpoint of "rehearsal.model.baseUrl".',
    password: true,
    ignoreFocusOut: true,
    placeHolder: 'Kept in secret storage. Leave empty to remove it.',
  });
  if (value === undefined) return false;
  await (value === '' ? extension.secrets.delete(keyName) : extension.secrets.store(keyName, value));
  return true;
}
