import * as vscode from 'vscode';
import { domainFolderOf } from '../../engine/shell/domain/domainFolder.ts';
import { onDidChangeDomainFiles, onDidChangeDomains, onDidChangeFile } from '../workspace/domainWatch.ts';
import { domainFolders } from '../workspace/workspaceDomains.ts';
import { forgetChecked, forgetFindings, forgetOutdated, openFindings, showRead } from './findings.ts';
import type { LanguageClient } from './languageClient.ts';

/**
 * Keeps the findings of every domain of the workspace in the Problems view. Files are read in the worker, after each change
 * at once; nothing of a domain runs.
 */
export function registerDiagnostics(client: LanguageClient): vscode.Disposable {
  const readAll = async () => {
    for (const folder of await domainFolders()) client.touch(folder);
  };
  return vscode.Disposable.from(
    openFindings(),
    client.onDidFind(({ folder, diagnostics }) => showRead(folder, diagnostics)),
    // In a workspace that is trusted from now on the tools can be described.
    vscode.workspace.onDidGrantWorkspaceTrust(readAll),
    onDidChangeDomains(({ come, gone }) => {
      for (const folder of come) client.touch(folder);
      for (const folder of gone) {
        client.forget(folder);
        forgetFindings(folder);
      }
    }),
    onDidChangeDomainFiles((folder) => client.touch(folder)),
    onDidChangeFile(forgetOutdated),
    vscode.workspace.onDidChangeTextDocument((event) => {
      const { document, contentChanges } = event;
      if (contentChanges.length > 0 && document.uri.scheme === 'file') {
        const folder = domainFolderOf(document.uri.fsPath);
        if (folder !== undefined) forgetChecked(folder);
      }
      client.changed(event);
    }),
    vscode.workspace.onDidOpenTextDocument((document) => client.opened(document)),
    vscode.workspace.onDidSaveTextDocument((document) => client.saved(document)),
    vscode.workspace.onDidCloseTextDocument((document) => client.saved(document)),
  );
}
