import { join, relative } from 'node:path';
import * as vscode from 'vscode';
import { counted } from '../../engine/core/counted.ts';
import type { ConversationsReport } from '../../engine/shell/import/importConversations.ts';
import { runName } from '../../engine/shell/runName.ts';
import { withProgress } from '../authoring/drafting.ts';
import type { Context } from '../context.ts';
import { openRecording } from '../runs/runCommands.ts';
import { runsOfDomain } from '../runs/runPlaces.ts';
import { mayRun } from '../trust.ts';
import { refreshRuns } from '../views/runsTree.ts';
import { pickDomain } from '../workspaceDomains.ts';

const kinds = [
  { label: 'Chat log', description: 'JSON lines with messages in OpenAI’s form', from: 'chats' },
  { label: 'Spans', description: 'OpenTelemetry’s for generative AI, as OTLP/JSON', from: 'spans' },
] as const;

/**
 * Imports real conversations as recordings of a domain, with personal data masked, and offers what comes next.
 * @returns the folder of the run, or undefined where there is none
 */
export async function importChats(context: Context): Promise<string | undefined> {
  if (!mayRun('Imports')) return undefined;
  const picked = await vscode.window.showQuickPick(kinds, { placeHolder: 'What are the conversations in?' });
  const domain = picked && (await pickDomain());
  if (!picked || !domain) return undefined;
  const files = await vscode.window.showOpenDialog({
    canSelectMany: true,
    openLabel: 'Import',
    title: `Conversations of ${relative(join(domain, '..'), domain)}`,
    filters: { 'Logs of conversations': ['jsonl', 'json', 'ndjson'], 'All files': ['*'] },
  });
  if (!files || files.length === 0) return undefined;
  const out = join(runsOfDomain(domain), runName(picked.from));
  const args = ['import', picked.from, ...files.map(({ fsPath }) => fsPath), '--domain', domain, '--out', out];
  const end = await withProgress(context, 'Rehearsal: importing conversations', args);
  if (!end) return undefined;
  const report = end.answer as unknown as ConversationsReport;
  refreshRuns();
  void tellOf(context, report);
  return out;
}

async function tellOf(context: Context, { folder, recordings, problems, masked }: ConversationsReport): Promise<void> {
  for (const { file, line, message } of problems) context.log.warn(`${file}:${line}: ${message}`);
  const values = Object.values(masked ?? {}).reduce((sum, count) => sum + count, 0);
  const unread =
    problems.length === 0 ? '' : ` ${counted(problems.length, 'thing')} could not be read; the log says where.`;
  const said = `Imported ${counted(recordings.length, 'conversation')}; ${counted(values, 'personal value')} masked.${unread}`;
  const show = problems.length === 0 ? vscode.window.showInformationMessage : vscode.window.showWarningMessage;
  const chosen = await show(said, 'Open the First', 'Show Intents', ...(problems.length === 0 ? [] : ['Show Log']));
  if (chosen === 'Open the First') await openRecording(recordings[0]?.recording);
  if (chosen === 'Show Intents') await vscode.commands.executeCommand('rehearsal.intents.show', folder);
  if (chosen === 'Show Log') context.log.show();
}
