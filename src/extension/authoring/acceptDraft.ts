import * as vscode from 'vscode';
import { domainFolderOf } from '../../engine/shell/domain/domainFolder.ts';
import { runOrTell } from '../commandLine/commandLine.ts';
import type { Context } from '../commandLine/context.ts';
import { tell } from '../commandLine/tell.ts';
import type { TaskNode } from '../views/domainsTree.ts';
import { activeFile, cursorLine } from '../workspace/activeFile.ts';
import { showInformationMessage } from '../workspace/messages.ts';
import { pickDraft } from '../workspace/pickTask.ts';
import { mayRun } from '../workspace/trust.ts';
import { draftAt, saveFilesOf } from '../workspace/workspaceDomains.ts';
import { firstObstacle, type GatedDraft } from './drafting.ts';

/** A draft, as the light bulb and the tree name it. */
export type DraftNamed = { readonly folder: string; readonly id: string };

/**
 * Accepts a draft where the audit finds nothing in it; else its findings are shown, and it stays one. Unsaved files of
 * its domain are saved first.
 * @returns whether it counts from now on
 */
export async function acceptDraft(context: Context, target: unknown): Promise<boolean> {
  if (!mayRun('The audit')) return false;
  const draft = await draftOf(target);
  if (!draft) return false;
  await saveFilesOf(draft.folder);
  const title = `Rehearsal: auditing ${draft.id}`;
  const end = await runOrTell(context, title, ['draft', 'accept', draft.folder, draft.id]);
  if (!end) return false;
  const left = (end.answer['left'] ?? []) as readonly GatedDraft[];
  const obstacle = firstObstacle(left);
  if (obstacle === undefined) {
    const [accepted] = (end.answer['accepted'] ?? []) as readonly GatedDraft[];
    const next = accepted?.kind === 'persona' ? 'Tasks can name it now.' : 'Evaluations and training now use it.';
    void showInformationMessage(`${draft.id} is accepted. ${next}`);
    return true;
  }
  const { showChecked } = await import('../language/findings.ts');
  showChecked(
    draft.folder,
    left.flatMap(({ findings }) => findings),
  );
  void tell(context, 'warning', `It stays a draft. ${obstacle}`);
  return false;
}

async function draftOf(target: unknown): Promise<DraftNamed | undefined> {
  const given = target as (Partial<DraftNamed> & Partial<TaskNode>) | undefined;
  if (given?.folder !== undefined && typeof (given.id ?? given.task) === 'string')
    return { folder: given.folder, id: given.id ?? given.task ?? '' };
  const file = activeFile();
  const folder = file && domainFolderOf(file);
  if (!file || !folder) return undefined;
  const id = (await draftAt(file, cursorLine(file))) ?? (await pickDraft(folder, 'Which draft?'));
  return id === undefined ? undefined : { folder, id };
}

const codes = ['task/draft', 'persona/draft'];

/** The light bulb at a draft's mark. */
export const draftActions: vscode.CodeActionProvider = {
  provideCodeActions: async (document, _range, { diagnostics }) => {
    const { findingOf } = await import('../language/findings.ts');
    const folder = domainFolderOf(document.uri.fsPath);
    return diagnostics.flatMap((diagnostic) => {
      const id = findingOf(diagnostic, document.uri)?.about;
      if (!folder || !codes.includes(String(diagnostic.code)) || id === undefined) return [];
      const action = new vscode.CodeAction('Accept Draft (audits it first)', vscode.CodeActionKind.QuickFix);
      action.diagnostics = [diagnostic];
      action.isPreferred = true;
      action.command = { command: 'rehearsal.draft.accept', title: 'Accept Draft', arguments: [{ folder, id }] };
      return [action];
    });
  },
};
