import * as vscode from 'vscode';
import type { ToWebview } from '../../webview/messages/protocol.ts';
import { debugType } from '../workspace/contributions.ts';

/**
 * Returns the recording that the debug session writes, which locks no run; null without one. A session that shows an
 * earlier recording does not write it.
 */
export async function debuggedRecording(): Promise<string | null> {
  const session = vscode.debug.activeDebugSession;
  if (session?.type !== debugType) return null;
  const shown = session.customRequest('rehearsal/recording') as Thenable<{ readonly path: string }>;
  const path = await shown.then(
    (recording) => recording.path,
    () => '', // a session that has just ended
  );
  return path === '' || session.configuration['recording'] === path ? null : path;
}

/** Returns a comparison in which the recording that a debug session writes is still running. */
export async function withDebugged(answer: ToWebview): Promise<ToWebview> {
  const path = answer.type === 'recordingsCompared' ? await debuggedRecording() : null;
  if (answer.type !== 'recordingsCompared' || path === null) return answer;
  const { comparison } = answer;
  const [first, second] = comparison.recordings;
  const marked = (one: typeof first): typeof first => ({
    ...one,
    isRunning: one.isRunning || (one.path === path && one.measure.endReason === 'cancelled'),
  });
  return { ...answer, comparison: { ...comparison, recordings: [marked(first), marked(second)] } };
}
