import * as vscode from 'vscode';
import type { Diagnostic } from '../../engine/shell/diagnostic.ts';
import { domainFolderOf, domainFolders, readDomain } from '../workspaceDomains.ts';

const quietMs = 250;
/** Runs and packages change often and are no part of a domain. */
const outside = /\/(?:\.rehearsal|node_modules)\//;

/** Keeps the findings of every domain of the workspace in the Problems view. Reads only; nothing of a domain runs. */
export function registerDiagnostics(): vscode.Disposable {
  const collection = vscode.languages.createDiagnosticCollection('rehearsal');
  const waiting = new Map<string, NodeJS.Timeout>();
  const refresh = (folder: string) => void publish(collection, folder);
  const soon = (uri: vscode.Uri) => {
    const folder = uri.scheme === 'file' && !outside.test(uri.path) ? domainFolderOf(uri.fsPath) : undefined;
    if (!folder) return;
    clearTimeout(waiting.get(folder));
    waiting.set(
      folder,
      setTimeout(() => refresh(folder), quietMs),
    );
  };
  const watcher = vscode.workspace.createFileSystemWatcher('**/*.{yaml,md,json,ts}');
  void domainFolders().then((folders) => folders.forEach(refresh));
  return vscode.Disposable.from(
    collection,
    watcher,
    watcher.onDidChange(soon),
    watcher.onDidCreate(soon),
    watcher.onDidDelete(soon),
    vscode.workspace.onDidChangeTextDocument(({ document }) => soon(document.uri)),
    {
      dispose: () => {
        for (const timer of waiting.values()) clearTimeout(timer);
      },
    },
  );
}

const severities = {
  error: vscode.DiagnosticSeverity.Error,
  warning: vscode.DiagnosticSeverity.Warning,
  info: vscode.DiagnosticSeverity.Information,
} as const;

async function publish(collection: vscode.DiagnosticCollection, folder: string): Promise<void> {
  const { diagnostics } = await readDomain(folder);
  const byFile = Map.groupBy(diagnostics, ({ file }) => file);
  collection.forEach((uri) => {
    if (domainFolderOf(uri.fsPath) === folder && !byFile.has(uri.fsPath)) collection.delete(uri);
  });
  for (const [file, found] of byFile) collection.set(vscode.Uri.file(file), found.map(shownDiagnostic));
}

/** A finding as the Problems view shows it. */
export function shownDiagnostic(found: Diagnostic): vscode.Diagnostic {
  const range = new vscode.Range(
    found.line - 1,
    found.column - 1,
    (found.endLine ?? found.line) - 1,
    (found.endColumn ?? found.column + 1) - 1,
  );
  const diagnostic = new vscode.Diagnostic(
    range,
    found.hint ? `${found.message} ${found.hint}` : found.message,
    severities[found.severity],
  );
  diagnostic.source = 'Rehearsal';
  diagnostic.code = found.code;
  return diagnostic;
}
