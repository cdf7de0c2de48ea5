import * as vscode from 'vscode';
import { debugType } from '../contributions.ts';
import { mayRun } from '../trust.ts';

type Frames = { readonly stackFrames: readonly { readonly id: number; readonly name: string }[] };

/** The rollout or recording that is debugged; says what to do where there is none. */
export function debuggedSession(
  hint = 'Debug a task (F5) or a recording first: this works where it is paused.',
): vscode.DebugSession | undefined {
  const session = vscode.debug.activeDebugSession;
  if (session?.type === debugType) return session;
  if (mayRun('Debug sessions')) void vscode.window.showInformationMessage(hint);
  return undefined;
}

/**
 * The frame that was chosen in the call stack, else the one that has the focus. A row of the call stack is told by its
 * name; the protocol's number of a frame is not given to commands.
 */
export async function chosenFrame(session: vscode.DebugSession, target: unknown): Promise<number | undefined> {
  const { frameName } = (target ?? {}) as { readonly frameName?: string };
  if (frameName !== undefined) {
    const { stackFrames }: Frames = await session.customRequest('stackTrace', { threadId: 1 });
    const found = stackFrames.find(({ name }) => name === frameName);
    if (found) return found.id;
  }
  const focused = vscode.debug.activeStackItem;
  return focused instanceof vscode.DebugStackFrame ? focused.frameId : undefined;
}

/** Does something with the session. True where it was done; what a session refuses, VS Code says by itself. */
export async function doing(make: () => Thenable<unknown>): Promise<boolean> {
  try {
    await make();
    return true;
  } catch {
    return false;
  }
}
