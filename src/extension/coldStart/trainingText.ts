import { basename } from 'node:path';
import * as vscode from 'vscode';
import { parseToWebview } from '../../webview/messages/protocol.ts';
import { runOrTell } from '../commandLine/commandLine.ts';
import type { Context } from '../commandLine/context.ts';
import { tell } from '../commandLine/tell.ts';
import { connectPage, pageOf, webviewOptions } from '../panels/panel.ts';
import { pythonOption } from '../training/learning.ts';
import { pickRecording } from '../views/recordingPicker.ts';
import { recordingOf } from '../views/runCommands.ts';
import { activeFile } from '../workspace/activeFile.ts';
import { trainingTextType } from '../workspace/contributions.ts';
import { mayRun } from '../workspace/trust.ts';
import type { CheckedNode } from './spotCheck.ts';

/**
 * Shows the exact text that a model is trained on for a recording, and which of it trains. The trainer renders it.
 * @returns the number of tokens that train, or undefined where it could not be shown
 */
export async function previewTrainingText(context: Context, target: unknown): Promise<number | undefined> {
  if (!mayRun('The trainer')) return undefined;
  const recording = await recordingFor(target);
  if (!recording) return undefined;
  const model = vscode.workspace.getConfiguration('rehearsal').get<string>('trainer.model');
  const options = [...(model ? ['--model', model] : []), ...pythonOption()];
  const end = await runOrTell(context, 'Rehearsal: asking the trainer for the training text', [
    'synth',
    'preview',
    recording,
    ...options,
  ]);
  if (!end) return undefined;
  const parsed = parseToWebview({ type: 'trainingText', name: basename(recording), ...end.answer });
  if (!parsed.ok || parsed.message.type !== 'trainingText') {
    void tell(context, 'error', 'The trainer returned no text. See the log for details.');
    return undefined;
  }
  const { message } = parsed;
  const { extensionUri } = context.extension;
  const title = `Training text of ${message.name}`;
  const panel = vscode.window.createWebviewPanel(
    trainingTextType,
    title,
    vscode.ViewColumn.Active,
    webviewOptions(extensionUri),
  );
  const channel = connectPage(panel.webview, context.log, ({ type }) => {
    if (type === 'ready') void channel.post(message);
  });
  panel.onDidDispose(() => channel.dispose());
  panel.webview.html = pageOf(panel.webview, extensionUri, 'trainingText', title);
  return message.pieces.reduce((sum, { tokens, trained }) => sum + (trained ? tokens : 0), 0);
}

async function recordingFor(target: unknown): Promise<string | undefined> {
  const checked = target as Partial<CheckedNode> | undefined;
  const given = checked?.type === 'checked' ? checked.recording : recordingOf(target);
  const shown = activeFile();
  const open = shown?.endsWith('.traj.jsonl') ? shown : undefined;
  return given ?? open ?? (await pickRecording('Which recording?'));
}
