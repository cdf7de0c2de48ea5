import * as vscode from 'vscode';
import { messageOf } from '../../engine/shell/files/fault.ts';
import { debugType } from '../workspace/contributions.ts';
import { showErrorMessage, showInformationMessage } from '../workspace/messages.ts';
import { chosenFrame, debuggedSession, type Frames, onDidChooseFrame } from './stoppedSession.ts';
import { openWhole, type WholeText } from './valueFiles.ts';

/**
 * Holds the agent's last message up to a step, or null if the agent has not spoken yet. A message that makes calls has an
 * empty text. `agent` plays the agent in the fork, and `line` is where the step is.
 */
type Reply = {
  readonly reply: (WholeText & { readonly isCall: boolean; readonly agent: string; readonly line: number }) | null;
};

const command = 'rehearsal.reply.edit';

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
    void showInformationMessage('Step to the first message of the agent.');
    return false;
  }
  const { name, text, isCall, agent, variablesReference } = reply;
  if (!isCall && text.includes('\n')) {
    await openWhole(extension, session, reply);
    return false;
  }
  const value = await vscode.window.showInputBox({
    title: 'Edit What the Agent Says',
    prompt:
      `${isCall ? "Your message replaces the agent's call." : ''} The rollout continues from your message in a fork, where ${agent === 'gold' ? 'the gold seat' : agent} plays the agent.`.trimStart(),
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
    void showErrorMessage(`The message was not changed: ${messageOf(error)}`);
    return false;
  }
}

/** Offers the edit above the line where a rollout is paused, and shows the whole rule of a stop at the end of a rule. */
export function registerReplyLens(): vscode.Disposable {
  const changed = new vscode.EventEmitter<void>();
  const files: vscode.DocumentSelector = { scheme: 'file', pattern: '**/*.{md,yaml,ts,py}' };
  return vscode.Disposable.from(
    changed,
    onDidChooseFrame(() => changed.fire()),
    vscode.debug.onDidChangeActiveStackItem(() => void revealRule()),
    vscode.languages.registerCodeLensProvider(files, {
      onDidChangeCodeLenses: changed.event,
      provideCodeLenses: async ({ uri, lineCount }) => {
        const { first } = (await pausedIn(uri)) ?? {};
        if (first === undefined || first > lineCount) return [];
        const range = new vscode.Range(first - 1, 0, first - 1, 0);
        return [new vscode.CodeLens(range, { command, title: '$(edit) Edit What the Agent Says…' })];
      },
    }),
  );
}

/** Scrolls to the lenses above a rule at whose end the chosen frame is: VS Code scrolls only to the line of the frame. */
async function revealRule(): Promise<void> {
  const editor = vscode.window.activeTextEditor;
  if (editor?.document.languageId !== 'markdown') return;
  const { first = 1, last = 1 } = (await pausedIn(editor.document.uri)) ?? {};
  if (first === last) return;
  editor.revealRange(new vscode.Range(Math.max(0, first - 2), 0, last - 1, 0));
}

/**
 * Returns the lines (from 1) of a file where the chosen frame is, once the agent has said something. A violation is shown
 * at the last line of its rule, and other steps at one line.
 */
async function pausedIn(uri: vscode.Uri): Promise<{ readonly first: number; readonly last: number } | undefined> {
  const item = vscode.debug.activeStackItem;
  if (!(item instanceof vscode.DebugStackFrame) || item.session.type !== debugType) return undefined;
  const { frameId, session } = item;
  try {
    const { stackFrames }: Frames = await session.customRequest('stackTrace', { threadId: 1 });
    const frame = stackFrames.find(({ id }) => id === frameId);
    if (!frame || !isOf(uri, frame.source?.path)) return undefined;
    const { reply }: Reply = await session.customRequest('rehearsal/reply', { frameId });
    return reply ? { first: reply.line, last: frame.line } : undefined;
  } catch {
    return undefined; // a session that has just ended
  }
}

/** Whether a path of the adapter is that of a file. In a remote window VS Code makes it the text of a URI. */
function isOf(uri: vscode.Uri, path: string | undefined): boolean {
  if (path === undefined || path === uri.fsPath) return path !== undefined;
  return path.includes('://') && vscode.Uri.parse(path).path === uri.path;
}
