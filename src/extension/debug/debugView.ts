import * as vscode from 'vscode';
import { debugType } from '../workspace/contributions.ts';

/** Reasons to stop at which the view is shown: the first step of a session, and an exception filter. */
const shown: ReadonlySet<string> = new Set(['entry', 'exception']);

/**
 * Shows the Run and Debug view where a rollout stops at its first step or by an exception filter: VS Code does so for
 * breakpoints only. The setting `debug.openDebug` decides, as it does for breakpoints. The focus goes to the line of the
 * first step. At an exception, VS Code moves it to the box below the line. The view waits until VS Code has focused the
 * frame: opened earlier, it fetches the call stack a second time, and VS Code then shows no exception.
 */
export function registerDebugViewOnStop(): vscode.Disposable {
  const stopped = new Map<string, string>();
  return vscode.Disposable.from(
    vscode.debug.registerDebugAdapterTrackerFactory(debugType, {
      createDebugAdapterTracker: ({ id }) => ({
        onDidSendMessage: (message: { readonly event?: string; readonly body?: { readonly reason?: string } }) => {
          const reason = message.body?.reason ?? '';
          if (message.event === 'stopped' && shown.has(reason)) stopped.set(id, reason);
        },
        onWillStopSession: () => void stopped.delete(id),
      }),
    }),
    vscode.debug.onDidChangeActiveStackItem(async (item) => {
      if (!(item instanceof vscode.DebugStackFrame)) return;
      const reason = stopped.get(item.session.id);
      if (reason === undefined) return;
      stopped.delete(item.session.id);
      if (vscode.workspace.getConfiguration('debug').get('openDebug') === 'openOnDebugBreak')
        await vscode.commands.executeCommand('workbench.view.debug');
      if (reason === 'entry') await vscode.commands.executeCommand('workbench.action.focusActiveEditorGroup');
    }),
  );
}
