import * as vscode from 'vscode';
import type { ToWebview } from '../../webview/messages/protocol.ts';
import { debugType } from '../workspace/contributions.ts';

/**
 * Returns a comparison in which the recording that a debug session writes is still running: a session locks no run. A
 * session that shows an earlier recording does not write it.
 */
export async function withDebugged(answer: ToWebview): Promise<ToWebview> {
  const session = vscode.debug.activeDebugSession;
  if (answer.type !== 'recordingsCompared' || session?.type !== debugType) return answer;
  const shown = session.customRequest('rehearsal/recording') as Thenable<{ readonly path: string }>;
  const path = await shown.then(
    (recording) => recording.path,
    () => '', // a session that has just ended
  );
  if (session.configuration['recording'] === path) return answer;
  const { comparison } = answer;
  const [first, second] = comparison.recordings;
  const marked = (one: typeof first): typeof first => ({
    ...one,
    isRunning: one.isRunning || (one.path === path && one.measure.endReason === 'cancelled'),
  });
  return { ...answer, comparison: { ...comparison, recordings: [marked(first), marked(second)] } };
}
