import { join, relative } from 'node:path';
import * as vscode from 'vscode';
import type { ReadConversations } from '../../authoring/conversations/conversation.ts';
import type { ConversationsReport } from '../../authoring/conversations/importConversations.ts';
import { counted } from '../../engine/core/text/counted.ts';
import { makeNewRunFolder, removeUnbegunRun } from '../../engine/shell/records/runName.ts';
import { runOrTell } from '../commandLine/commandLine.ts';
import type { Context } from '../commandLine/context.ts';
import { writableWorkOf } from '../runs/runPlaces.ts';
import { openRecording } from '../views/runCommands.ts';
import { refreshRuns } from '../views/runsTree.ts';
import { showInformationMessage, showWarningMessage } from '../workspace/messages.ts';
import { mayRun } from '../workspace/trust.ts';
import { pickDomain } from '../workspace/workspaceDomains.ts';
import { pickLogFiles, pickLogKind } from './pickLogs.ts';

/**
 * Imports real conversations as recordings of a domain, with personal data masked, and offers what comes next.
 * @returns the folder of the run, or undefined if nothing was imported
 */
export async function importChats(context: Context): Promise<string | undefined> {
  if (!mayRun('Imports')) return undefined;
  const kind = await pickLogKind();
  const domain = kind && (await pickDomain());
  if (!kind || !domain) return undefined;
  const { from, dialog } = kind;
  const picked = await pickLogFiles(`Conversations of ${relative(join(domain, '..'), domain)}`, 'Import', dialog);
  if (!picked) return undefined;
  const runs = writableWorkOf('runs', domain);
  if (runs === undefined) return undefined;
  const out = makeNewRunFolder(runs, from);
  const args = ['import', from, ...picked.files, '--domain', domain, '--out', out, ...picked.options];
  const end = await runOrTell(context, 'Rehearsal: importing conversations', args);
  removeUnbegunRun(out);
  if (!end) return undefined;
  const report = end.answer as unknown as Imported;
  refreshRuns();
  void tellOf(context, report);
  return out;
}

type Imported = ConversationsReport & Pick<ReadConversations, 'formats'>;

async function tellOf(context: Context, report: Imported): Promise<void> {
  const { folder, recordings, problems, masked, formats, notes } = report;
  for (const { file, format } of formats) context.log.info(`${file}: read as ${format}`);
  for (const { file, line, message } of notes) context.log.info(`${file}:${line}: ${message}`);
  for (const { file, line, message } of problems) context.log.warn(`${file}:${line}: ${message}`);
  const values = Object.values(masked ?? {}).reduce((sum, count) => sum + count, 0);
  const unread =
    problems.length === 0 ? '' : ` ${counted(problems.length, 'thing')} could not be read. See the log for details.`;
  const names = [...new Set(formats.map(({ format }) => format))].join(', ');
  const said = `Imported ${counted(recordings.length, 'conversation')}, read as ${names}; ${counted(values, 'personal value')} masked.${unread}`;
  const show = problems.length === 0 ? showInformationMessage : showWarningMessage;
  const chosen = await show(said, 'Open the First', 'Show Intents', ...(problems.length === 0 ? [] : ['Show Log']));
  if (chosen === 'Open the First') await openRecording(recordings[0]?.recording);
  if (chosen === 'Show Intents') await vscode.commands.executeCommand('rehearsal.intents.show', folder);
  if (chosen === 'Show Log') context.log.show();
}
