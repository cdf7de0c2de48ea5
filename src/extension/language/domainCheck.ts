import * as vscode from 'vscode';
import type { Tool } from '../../engine/core/domain/tool.ts';
import type { Diagnostic } from '../../engine/shell/files/diagnostic.ts';
import { codeStamp } from '../../language/service/codeStamp.ts';
import { checkAnswer, runWithProgress } from '../commandLine/commandLine.ts';
import type { Context } from '../commandLine/context.ts';
import { readDomain, saveFilesOf } from '../workspace/workspaceDomains.ts';
import { showChecked } from './findings.ts';
import type { LanguageClient } from './languageClient.ts';

/** The result of a check of a domain. */
export type DomainCheck = {
  readonly name: string;
  readonly tasks: number;
  readonly diagnostics: readonly Diagnostic[];
  /** Whether its tools were loaded; else only its files were read. */
  readonly isComplete: boolean;
};

/**
 * Checks a domain as `rehearsal check` does, its tools included, or audits it by playing it, and shows in Problems what
 * reading its files alone does not find. In a workspace that no one trusts its files are read, and nothing of it runs.
 * Unsaved files are saved first.
 * @returns undefined when the person cancelled it
 * @throws Error with the words of the command line when there is no result
 */
export async function checkDomain(
  context: Context,
  client: LanguageClient,
  folder: string,
  { isAudit = false }: { readonly isAudit?: boolean } = {},
): Promise<DomainCheck | undefined> {
  await saveFilesOf(folder);
  const read = await readDomain(folder);
  if (!vscode.workspace.isTrusted) {
    const end = await runWithProgress(context, `Rehearsal: checking ${read.domain.name}`, [
      'check',
      folder,
      '--static',
    ]);
    if (end.isCancelled) return undefined;
    return { ...(checkAnswer(end) as Omit<DomainCheck, 'isComplete'>), isComplete: false };
  }
  const title = `Rehearsal: ${isAudit ? 'auditing' : 'checking'} ${read.domain.name}`;
  // The command line reads the disk, where a text that is typed meanwhile is not.
  const { readFiles } = await import('../../engine/shell/domain/loadDomain.ts');
  const stamp = codeStamp(readFiles(folder, { databases: false }));
  const since = Date.now();
  const end = await runWithProgress(context, title, ['check', folder, ...(isAudit ? ['--audit'] : [])]);
  if (end.isCancelled) return undefined;
  const checked = checkAnswer(end) as Omit<DomainCheck, 'isComplete'> & {
    readonly described: readonly Tool[] | null;
  };
  showChecked(folder, checked.diagnostics, since);
  if (checked.described) client.described(folder, stamp, checked.described);
  return { ...checked, isComplete: true };
}
