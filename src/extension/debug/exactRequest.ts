import * as vscode from 'vscode';
import { messageOf } from '../../engine/shell/files/fault.ts';
import { showInformationMessage } from '../workspace/messages.ts';
import { chosenFrame, debuggedSession } from './stoppedSession.ts';

type Shown = { readonly name: string; readonly body: string };

/**
 * Opens the exact request that a model was sent, of the frame that was chosen in the call stack, else of the one that
 * has the focus. Gives its text.
 */
export async function showRequest(target: unknown): Promise<string | undefined> {
  const session = debuggedSession();
  if (!session) return undefined;
  try {
    const frameId = await chosenFrame(session, target);
    const { body }: Shown = await session.customRequest('rehearsal/request', frameId === undefined ? {} : { frameId });
    const document = await vscode.workspace.openTextDocument({ language: 'json', content: body });
    await vscode.window.showTextDocument(document, { preview: true });
    return body;
  } catch (error) {
    void showInformationMessage(messageOf(error));
    return undefined;
  }
}
