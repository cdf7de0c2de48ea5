import { statSync } from 'node:fs';
import { basename, sep } from 'node:path';
import * as vscode from 'vscode';
import { domainFolderOf, isOutsideDomains } from '../../engine/shell/domain/domainFolder.ts';
import { domainFolders } from './workspaceDomains.ts';

/** Domains that came into the workspace, and those that left it. */
type DomainChange = { readonly come: readonly string[]; readonly gone: readonly string[] };

const domainsChanged = new vscode.EventEmitter<DomainChange>();
const filesChanged = new vscode.EventEmitter<string>();
const fileChanged = new vscode.EventEmitter<string>();

/** Fires when domains come into the workspace or leave it, and at the start with those that are there. */
export const onDidChangeDomains = domainsChanged.event;
/** Fires with the folder of a domain when a file of it changes on the disk. */
export const onDidChangeDomainFiles = filesChanged.event;
/** Fires with the path of a file that changes on the disk and that a domain could read, also where its domain.yaml is gone. */
export const onDidChangeFile = fileChanged.event;

/** A switch of branches changes many files at once: domains are looked for once, this long after the last of them. */
const quietMs = 300;
/** Files that a domain reads. */
const domainFiles = /\.(?:yaml|md|json|ts|py)$/;

/** Watches the domains of the workspace and their files. */
export function registerDomainWatch(): vscode.Disposable {
  let known: readonly string[] = [];
  let looking: Promise<void> = Promise.resolve();
  let timer: NodeJS.Timeout | undefined;
  const look = async (): Promise<void> => {
    const found = await domainFolders();
    const change = {
      come: found.filter((folder) => !known.includes(folder)),
      gone: known.filter((folder) => !found.includes(folder)),
    };
    known = found;
    if (change.come.length + change.gone.length > 0) domainsChanged.fire(change);
  };
  const lookNow = (): void => {
    looking = looking.then(look);
  };
  const lookSoon = (): void => {
    clearTimeout(timer);
    timer = setTimeout(lookNow, quietMs);
  };
  const changed = ({ scheme, fsPath }: vscode.Uri): void => {
    if (scheme !== 'file' || isOutsideDomains(fsPath)) return;
    if (basename(fsPath) === 'domain.yaml') lookSoon();
    const folder = domainFolderOf(fsPath);
    if (folder !== undefined) filesChanged.fire(folder);
    fileChanged.fire(fsPath);
  };
  // Of a folder that is created or removed with its files, only the folder may be reported.
  const folderChanged = (uri: vscode.Uri): void => {
    if (!isOutsideDomains(uri.fsPath + sep)) lookSoon();
    changed(uri);
  };
  const files = vscode.workspace.createFileSystemWatcher('**/*.{yaml,md,json,ts,py}');
  const all = vscode.workspace.createFileSystemWatcher('**', false, true, false);
  lookNow();
  return vscode.Disposable.from(
    files,
    files.onDidChange(changed),
    files.onDidCreate(changed),
    files.onDidDelete(changed),
    all,
    all.onDidCreate((uri) => isFolder(uri.fsPath) && folderChanged(uri)),
    all.onDidDelete((uri) => !domainFiles.test(uri.fsPath) && folderChanged(uri)),
    vscode.workspace.onDidChangeWorkspaceFolders(lookNow),
    { dispose: () => clearTimeout(timer) },
  );
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}
