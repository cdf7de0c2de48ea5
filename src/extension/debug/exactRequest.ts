import * as vscode from 'vscode';
import { messageOf } from '../../engine/shell/fault.ts';
import { debugType } from '../contributions.ts';

type Shown = { readonly name: string; readonly body: string };
type Frames = { readonly stackFrames: readonly { readonly id: number; readonly name: string }[] };

/**
 * Opens the exact request that a model was sent, of the frame that was chosen in the call stack, else of the one that
 * has the focus. Gives its text.
 */
export async function showRequest(target: unknown): Promise<string | undefined> {
  const session = vscode.debug.activeDebugSession;
  if (session?.type !== debugType) {
    void vscode.window.showInformationMessage('A request can be shown while a rollout or a recording is debugged.');
    return undefined;
  }
  try {
    const frameId = await frameOf(session, target);
    const { body }: Shown = await session.customRequest('rehearsal/request', frameId === undefined ? {} : { frameId });
    const document = await vscode.workspace.openTextDocument({ language: 'json', content: body });
    await vscode.window.showTextDocument(document, { preview: true });
    return body;
  } catch (error) {
    void vscode.window.showInformationMessage(messageOf(error));
    return undefined;
  }
}

/** A row of the call stack is told by its name; the protocol's number of a frame is not given to commands. */
async function frameOf(session: vscode.DebugSession, target: unknown): Promise<number | undefined> {
  const { frameName } = (target ?? {}) as { readonly frameName?: string };
  if (frameName !== undefined) {
    const { stackFrames }: Frames = await session.customRequest('stackTrace', { threadId: 1 });
    const found = stackFrames.find(({ name }) => name === frameName);
    if (found) return found.id;
  }
  const focused = vscode.debug.activeStackItem;
  return focused instanceof vscode.DebugStackFrame ? focused.frameId : undefined;
}
