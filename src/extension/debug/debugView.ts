import * as vscode from 'vscode';
import { debugType } from '../workspace/contributions.ts';

/** Reasons to stop at which the view is shown: the first step of a session, and an exception filter. */
const shown: ReadonlySet<string> = new Set(['entry', 'exception']);

/**
 * Shows the Run and Debug view where a rollout stops at its first step or by an exception filter: VS Code does so for
 * breakpoints only. The setting `debug.openDebug` decides, as it does for breakpoints. The view waits until VS Code has
 * focused the frame: opened earlier, it fetches the call stack a second time, and VS Code then shows no exception.
 */
export function registerDebugViewOnStop(): vscode.Disposable {
  const stopped = new Set<string>();
  return vscode.Disposable.from(
    vscode.debug.registerDebugAdapterTrackerFactory(debugType, {
      createDebugAdapterTracker: ({ id }) => ({
        onDidSendMessage: (message: { readonly event?: string; readonly body?: { readonly reason?: string } }) => {
          if (message.event === 'stopped' && shown.has(message.body?.reason ?? '')) stopped.add(id);
        },
        onWillStopSession: () => void stopped.delete(id),
      }),
    }),
    vscode.debug.onDidChangeActiveStackItem((item) => {
      if (!(item instanceof vscode.DebugStackFrame) || !stopped.delete(item.session.id)) return;
      if (vscode.workspace.getConfiguration('debug').get('openDebug') !== 'openOnDebugBreak') return;
      void vscode.commands.executeCommand('workbench.view.debug');
    }),
  );
}
