import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import * as vscode from 'vscode';
import type { LoadedDomain } from '../engine/shell/load/loadedDomain.ts';

/** Folders of the workspace that hold a domain.yaml, in a stable order. */
export async function domainFolders(): Promise<readonly string[]> {
  const files = await vscode.workspace.findFiles('**/domain.yaml', '**/node_modules/**', 200);
  return files.map((uri) => dirname(uri.fsPath)).sort();
}

/** The domain that a file belongs to: the nearest folder above it with a domain.yaml. */
export function domainFolderOf(file: string): string | undefined {
  for (let folder = dirname(file); ; folder = dirname(folder)) {
    if (existsSync(join(folder, 'domain.yaml'))) return folder;
    if (folder === dirname(folder)) return undefined;
  }
}

/**
 * The domain as it stands in the editors: unsaved text counts. No code of the domain runs. The readers of its files
 * are loaded at the first call, so that activation does not wait for them.
 */
export async function readDomain(folder: string): Promise<LoadedDomain> {
  const { loadDomain } = await import('../engine/shell/load/loadDomain.ts');
  const unsaved = vscode.workspace.textDocuments.filter(({ isDirty, uri }) => isDirty && uri.scheme === 'file');
  const overlay = new Map(unsaved.map((document) => [document.uri.fsPath, document.getText()]));
  return loadDomain(folder, { overlay });
}

/** The task whose text is at a line (from 1) of a task file, else the file's first one. */
export function taskAt(domain: LoadedDomain, file: string, line: number): string | undefined {
  const inFile = [...domain.locations.tasks].filter(([, location]) => location.file === file);
  const before = inFile.filter(([, location]) => location.line <= line).sort(([, a], [, b]) => b.line - a.line);
  return (before[0] ?? inFile[0])?.[0];
}

/** The folder of the workspace's only domain, or of the one that a person picks; undefined where there is none. */
export async function pickDomain(): Promise<string | undefined> {
  const folders = await domainFolders();
  if (folders.length === 0) {
    void vscode.window.showErrorMessage('There is no domain in this workspace: open a folder with a domain.yaml.');
    return undefined;
  }
  if (folders.length === 1) return folders[0];
  const picked = await vscode.window.showQuickPick(
    folders.map((folder) => ({ label: vscode.workspace.asRelativePath(folder), folder })),
    { placeHolder: 'Which domain?' },
  );
  return picked?.folder;
}
