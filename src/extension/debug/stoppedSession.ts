import * as vscode from 'vscode';
import { debugType } from '../workspace/contributions.ts';
import { offerCommand } from '../workspace/messages.ts';
import { mayRun } from '../workspace/trust.ts';

/** The adapter's response to a request for the call stack. */
export type Frames = {
  readonly stackFrames: readonly {
    readonly id: number;
    readonly name: string;
    readonly line: number;
    readonly source?: { readonly path?: string };
  }[];
};

/** The rollout or recording that is debugged; says what to do without a session. */
export function debuggedSession(): vscode.DebugSession | undefined {
  const session = vscode.debug.activeDebugSession;
  if (session?.type === debugType) return session;
  if (mayRun('Debug sessions'))
    void offerCommand('Debug a task or a recording first.', 'Debug Task…', 'rehearsal.task.debug');
  return undefined;
}

/**
 * Returns the frame of a session that was chosen in the call stack, else the one that has the focus. A row of the call
 * stack is known by its name: commands are not given the protocol's number of a frame.
 */
export async function chosenFrame(session: vscode.DebugSession, target: unknown): Promise<number | undefined> {
  const { frameName } = (target ?? {}) as { readonly frameName?: string };
  if (frameName !== undefined) {
    const { stackFrames }: Frames = await session.customRequest('stackTrace', { threadId: 1 });
    const found = stackFrames.find(({ name }) => name === frameName);
    if (found) return found.id;
  }
  const focused = vscode.debug.activeStackItem;
  // The focus may still be in a session that has ended, whose frames have the same numbers.
  const isOwn = focused instanceof vscode.DebugStackFrame && focused.session.id === session.id;
  return isOwn ? focused.frameId : undefined;
}

/** Runs an action on the session. Returns true if it succeeded; VS Code itself shows the session's errors. */
export async function doing(make: () => Thenable<unknown>): Promise<boolean> {
  try {
    await make();
    return true;
  } catch {
    return false;
  }
}

/**
 * Milliseconds after which the question for lenses is raised again. VS Code drops it when the text loses the focus, for
 * example to the widget of an exception, and a busy machine draws that widget late.
 */
const repeatMs = [500, 2000, 5000];

/**
 * Calls back when a frame of a rollout is chosen or left, and again after the focus has moved: what is
 * shown above lines follows it. The frames of other debuggers change nothing.
 */
export function onDidChooseFrame(show: () => void): vscode.Disposable {
  let repeats: NodeJS.Timeout[] = [];
  let isOwn = false;
  const stopRepeating = () => {
    for (const repeat of repeats) clearTimeout(repeat);
  };
  const listener = vscode.debug.onDidChangeActiveStackItem((item) => {
    const wasOwn = isOwn;
    isOwn = item?.session.type === debugType;
    if (!isOwn && !wasOwn) return;
    stopRepeating();
    show();
    repeats = repeatMs.map((ms) => setTimeout(show, ms));
  });
  return vscode.Disposable.from(listener, { dispose: stopRepeating });
}
