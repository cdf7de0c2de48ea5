import * as vscode from 'vscode';
import { messageOf } from '../../engine/shell/fault.ts';
import { chosenFrame, debuggedSession } from './stoppedSession.ts';
import { openWhole, type WholeText } from './valueFiles.ts';

/** The agent's last message at a step, or null where the agent has said nothing. What is said in a call is no text. */
type Reply = { readonly reply: (WholeText & { readonly isCall: boolean }) | null };

/**
 * Asks for other words of the agent in place of its last message, and forks with them. A message of several lines opens
 * in an editor tab instead, where saving it forks. Returns whether a fork was made.
 */
export async function editReply(extension: vscode.ExtensionContext, target: unknown): Promise<boolean> {
  const session = debuggedSession();
  if (!session) return false;
  const { reply }: Reply = await session.customRequest('rehearsal/reply', {
    frameId: await chosenFrame(session, target),
  });
  if (!reply) {
    void vscode.window.showInformationMessage('The agent has not said anything yet. Step to its first message.');
    return false;
  }
  const { name, text, isCall, variablesReference } = reply;
  if (!isCall && text.includes('\n')) {
    await openWhole(extension, session, reply);
    return false;
  }
  const value = await vscode.window.showInputBox({
    title: 'Edit What the Agent Says',
    prompt: 'Press Enter to fork: the rollout continues from your message.',
    placeHolder: 'What the agent says',
    value: isCall ? '' : text,
    ignoreFocusOut: true,
    validateInput: (typed) =>
      typed.trim() === '' ? 'Type a message, or press Escape to keep the recorded one.' : null,
  });
  if (value === undefined || (!isCall && value === text)) return false;
  try {
    await session.customRequest('setVariable', { variablesReference, name, value });
    return true;
  } catch (error) {
    void vscode.window.showErrorMessage(`The message was not changed: ${messageOf(error)}`);
    return false;
  }
}
