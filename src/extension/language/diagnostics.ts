import * as vscode from 'vscode';
import { isBesideDomains } from '../besideDomains.ts';
import { domainFolderOf, domainFolders } from '../workspaceDomains.ts';
import { forgetChecked, forgetFindings, openFindings, showRead } from './findings.ts';
import type { LanguageClient } from './languageClient.ts';

/**
 * Keeps the findings of every domain of the workspace in the Problems view. Files are read in the worker, after each change
 * at once; nothing of a domain runs.
 */
export function registerDiagnostics(client: LanguageClient): vscode.Disposable {
  const watcher = vscode.workspace.createFileSystemWatcher('**/*.{yaml,md,json,ts,py}');
  const onDisk = ({ scheme, fsPath }: vscode.Uri) => {
    const folder = scheme === 'file' && !isBesideDomains(fsPath) ? domainFolderOf(fsPath) : undefined;
    if (folder !== undefined) client.touch(folder);
    else if (fsPath.endsWith('domain.yaml')) forget(client, vscode.Uri.file(fsPath));
  };
  const readAll = async () => {
    for (const folder of await domainFolders()) client.touch(folder);
  };
  void readAll();
  return vscode.Disposable.from(
    openFindings(),
    client.onDidFind(({ folder, diagnostics }) => showRead(folder, diagnostics)),
    // In a workspace that is trusted from now on the tools can be described.
    vscode.workspace.onDidGrantWorkspaceTrust(readAll),
    watcher,
    watcher.onDidChange(onDisk),
    watcher.onDidCreate(onDisk),
    watcher.onDidDelete(onDisk),
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

function forget(client: LanguageClient, { fsPath }: vscode.Uri): void {
  const folder = fsPath.slice(0, -'/domain.yaml'.length);
  client.forget(folder);
  forgetFindings(folder);
}
