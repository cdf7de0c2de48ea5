import * as vscode from 'vscode';
import { domainFolderOf } from '../../engine/shell/domain/domainFolder.ts';
import type { Fix } from '../../engine/shell/files/diagnostic.ts';
import type { Fixed } from '../../language/service/messages.ts';
import { unsavedTexts } from '../workspace/workspaceDomains.ts';
import { findingOf, findingsOf } from './findings.ts';
import type { LanguageClient } from './languageClient.ts';
import { namingFiles, rangeOf } from './places.ts';

const fixAll = vscode.CodeActionKind.SourceFixAll.append('rehearsal');

/** The fix of a finding in the light bulb, and all fixes of a file or of the domain. */
export function registerQuickFixes(client: LanguageClient): vscode.Disposable {
  const provider: vscode.CodeActionProvider<FixAction> = {
    provideCodeActions: async (document, _range, { diagnostics, only, triggerKind }) => {
      const { uri } = document;
      const folder = domainFolderOf(uri.fsPath);
      if (folder === undefined) return [];
      const fixes = diagnostics.map(async (diagnostic) => {
        const found = findingOf(diagnostic, uri);
        const isPersona = found?.code === 'task/unknown-persona';
        const created = isPersona ? await createPersona(folder, document.getText(rangeOf(found)), diagnostic) : [];
        return [...(found?.fix ? [singleFix(found.fix, diagnostic)] : []), ...created];
      });
      const own = (await Promise.all(fixes)).flat();
      const isAsked = own.length > 0 || only !== undefined || triggerKind === vscode.CodeActionTriggerKind.Invoke;
      return isAsked ? [...own, ...allFixes(folder, uri)] : own;
    },
    resolveCodeAction: async (action) => {
      if (action.all) action.edit = editOf(await client.fixAll(action.all.folder, action.all.file));
      return action;
    },
  };
  const providedCodeActionKinds = [vscode.CodeActionKind.QuickFix, fixAll];
  return vscode.languages.registerCodeActionsProvider(namingFiles, provider, { providedCodeActionKinds });
}

class FixAction extends vscode.CodeAction {
  /** The scope in which this action applies all fixes: a file, or the whole domain if `file` is null. */
  all: { readonly folder: string; readonly file: string | null } | undefined;
}

function singleFix({ title, edits }: Fix, diagnostic: vscode.Diagnostic): FixAction {
  const action = new FixAction(title, vscode.CodeActionKind.QuickFix);
  action.diagnostics = [diagnostic];
  action.isPreferred = true;
  action.edit = new vscode.WorkspaceEdit();
  for (const edit of edits) action.edit.replace(vscode.Uri.file(edit.file), rangeOf(edit), edit.text);
  return action;
}

/** Returns the title of an offer to fix several problems. It names both numbers where some of them have no fix. */
export function fixesTitle(fixes: number, problems: number, of: 'file' | 'domain'): string {
  const place = of === 'file' ? 'in this file' : 'of the domain';
  return fixes === problems ? `Fix all ${fixes} problems ${place}` : `Fix ${fixes} of ${problems} problems ${place}`;
}

/** Offers to create the persona that a task names and that does not exist. */
async function createPersona(folder: string, written: string, diagnostic: vscode.Diagnostic): Promise<FixAction[]> {
  const { newPersona } = await import('./newPersona.ts');
  const made = newPersona(folder, written, unsavedTexts());
  if (!made) return [];
  const uri = vscode.Uri.file(made.file);
  const action = new FixAction(`Create persona ${made.id}`, vscode.CodeActionKind.QuickFix);
  action.diagnostics = [diagnostic];
  action.edit = new vscode.WorkspaceEdit();
  action.edit.createFile(uri, { contents: Buffer.from(made.text) });
  action.command = { command: 'vscode.open', title: 'Open', arguments: [uri] };
  return [action];
}

/** Offered where there is more than one fix to make; a save can ask for those of its file in any case. */
function allFixes(folder: string, { fsPath: file }: vscode.Uri): readonly FixAction[] {
  const found = findingsOf(folder);
  const inThis = found.filter((each) => each.file === file).length;
  const fixable = found.filter(({ fix }) => fix !== undefined);
  const inFile = fixable.filter((each) => each.file === file);
  const made = (title: string, kind: vscode.CodeActionKind, of: string | null) => {
    const action = new FixAction(title, kind);
    action.all = { folder, file: of };
    return action;
  };
  return [
    ...(inFile.length > 0 ? [made('Apply all automatic fixes in this file', fixAll, file)] : []),
    ...(inFile.length > 1
      ? [made(fixesTitle(inFile.length, inThis, 'file'), vscode.CodeActionKind.QuickFix, file)]
      : []),
    ...(fixable.length > inFile.length
      ? [made(fixesTitle(fixable.length, found.length, 'domain'), vscode.CodeActionKind.QuickFix, null)]
      : []),
  ];
}

/** Whole texts in place of the files'; the editor works out what of them has changed. */
function editOf(fixed: Fixed | undefined): vscode.WorkspaceEdit {
  const edit = new vscode.WorkspaceEdit();
  for (const [file, text] of fixed ?? [])
    edit.replace(vscode.Uri.file(file), new vscode.Range(0, 0, Number.MAX_SAFE_INTEGER, 0), text);
  return edit;
}
