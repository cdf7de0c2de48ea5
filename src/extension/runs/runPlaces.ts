import { accessSync, constants, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import * as vscode from 'vscode';
import { domainFolderOf } from '../../engine/shell/domain/domainFolder.ts';
import { runPlacesAround, runsIn, workFolder, workFolders, workRootOf } from '../../engine/shell/files/workFolders.ts';
import { showErrorMessage, showInformationMessage } from '../workspace/messages.ts';
import { domainFolders } from '../workspace/workspaceDomains.ts';

/** The folder that a person chose for this workspace, for runs whose own folder cannot be written. */
const memory = 'rehearsal.runFolder';
let state: vscode.Memento | undefined;
let isOffered = false;
const chosen = new vscode.EventEmitter<void>();

/** Fires when a person has chosen another folder for runs. */
export const onDidChooseRunFolder = chosen.event;

/** Keeps the folder that a person chooses with the workspace. */
export function keepRunFolder(memento: vscode.Memento): void {
  state = memento;
}

/** The kinds of output that the editor writes for a domain, each in its own folder in `.rehearsal`. */
type Work = 'runs' | 'training' | 'synth';

/**
 * Returns where the editor writes the work of a domain: to the workspace folder that contains it, else to the domain itself;
 * to the folder that a person chose where that cannot be written.
 */
export function workOf(kind: Work, domain: string): string {
  const own = join(workRootOf(domain, workspaceRoots()), workFolders[kind]);
  const [other] = chosenFolders();
  return other === undefined || isWritable(own) ? own : join(other, workFolders[kind]);
}

/** Returns the same for work that is to begin. Throws where the folder cannot be written, and offers to choose another one. */
export function requireWritable(kind: Work, domain: string): string {
  const folder = workOf(kind, domain);
  if (isWritable(folder)) return folder;
  const message = `${folder} cannot be written, so nothing was run. Choose another folder for runs.`;
  if (!isOffered) void offerAnother(message);
  throw new Error(message);
}

/** Returns the same; undefined where the folder cannot be written, which the person has read. */
export function writableWorkOf(kind: Work, domain: string): string | undefined {
  try {
    return requireWritable(kind, domain);
  } catch {
    return undefined;
  }
}

async function offerAnother(message: string): Promise<void> {
  const choose = 'Choose Folder…';
  isOffered = true;
  const pressed = await showErrorMessage(message, choose);
  isOffered = false;
  if (pressed !== choose) return;
  const [folder] = (await vscode.window.showOpenDialog(folderDialog)) ?? [];
  if (!folder) return;
  await state?.update(memory, folder.fsPath);
  chosen.fire();
  void showInformationMessage(`Runs are now written to ${join(folder.fsPath, workFolder)}. Start the run again.`);
}

const folderDialog: vscode.OpenDialogOptions = {
  canSelectFiles: false,
  canSelectFolders: true,
  title: 'Folder for runs',
  openLabel: 'Write Runs Here',
};

/**
 * Returns where runs of a domain may lie: where the editor writes them, and in the folders down to the domain, where
 * the command line and other debuggers do.
 */
export function runPlacesOf(domain: string): readonly string[] {
  return [...new Set([...runPlacesAround(domain, workspaceRoots()), ...chosenFolders().map(runsIn)])];
}

/**
 * Returns where runs may lie: those of the workspace's folders, of its domains, and of other domains with a file that
 * is open.
 */
export async function runPlaces(): Promise<readonly string[]> {
  const domains = [...(await domainFolders()), ...openDomains()];
  return [...new Set([...workspaceRoots().map(runsIn), ...domains.flatMap(runPlacesOf)])];
}

/**
 * Returns where training runs or syntheses can be: in each folder of the workspace, those of open files outside, and the
 * folder that a person chose.
 */
export function workPlaces(kind: Exclude<Work, 'runs'>): readonly string[] {
  const roots = workspaceRoots();
  const all = [...roots, ...openDomains().map((domain) => workRootOf(domain, roots)), ...chosenFolders()];
  return [...new Set(all)].map((root) => join(root, workFolders[kind]));
}

function chosenFolders(): readonly string[] {
  const folder = state?.get<string>(memory);
  return folder === undefined ? [] : [folder];
}

function workspaceRoots(): readonly string[] {
  return (vscode.workspace.workspaceFolders ?? []).map(({ uri }) => uri.fsPath);
}

function openDomains(): readonly string[] {
  const files = vscode.workspace.textDocuments.filter(({ uri }) => uri.scheme === 'file');
  return files.flatMap(({ uri }) => domainFolderOf(uri.fsPath) ?? []);
}

/** Whether a folder can be written, or created in what is there of the folders around it. */
function isWritable(folder: string): boolean {
  try {
    const stat = statSync(folder, { throwIfNoEntry: false });
    if (!stat) return dirname(folder) !== folder && isWritable(dirname(folder));
    accessSync(folder, constants.W_OK);
    return stat.isDirectory();
  } catch {
    return false;
  }
}
