import { accessSync, constants, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import * as vscode from 'vscode';
import { runPlacesAround, runsIn, runsOf, workFolders, workRootOf } from '../../engine/shell/workFolders.ts';
import { domainFolderOf, domainFolders } from '../workspaceDomains.ts';

/** The folder for runs that a person chose for this workspace, where its own cannot be written. */
const memory = 'rehearsal.runFolder';
let state: vscode.Memento | undefined;
let isOffered = false;

/** Keeps the folder that a person chooses with the workspace. */
export function keepRunFolder(memento: vscode.Memento): void {
  state = memento;
}

/**
 * Where the editor writes the runs of a domain: to the workspace folder that contains it, else to the domain itself; to the
 * folder that a person chose where that cannot be written.
 */
export function runsOfDomain(domain: string): string {
  const own = runsOf(domain, workspaceRoots());
  return isWritable(own) ? own : (chosenFolder() ?? own);
}

/** The same for a run that is to begin. Throws where the folder cannot be written, and offers to choose another one. */
export function writableRunsOf(domain: string): string {
  const runs = runsOfDomain(domain);
  if (isWritable(runs)) return runs;
  const message = `${runs} cannot be written, so nothing was run. Choose another folder for runs.`;
  if (!isOffered) void offerAnother(message);
  throw new Error(message);
}

async function offerAnother(message: string): Promise<void> {
  const choose = 'Choose Folder…';
  isOffered = true;
  const pressed = await vscode.window.showErrorMessage(message, choose);
  isOffered = false;
  if (pressed !== choose) return;
  const [folder] = (await vscode.window.showOpenDialog(folderDialog)) ?? [];
  if (!folder) return;
  await state?.update(memory, folder.fsPath);
  void vscode.window.showInformationMessage(`Runs are now written to ${folder.fsPath}. Start the run again.`);
}

const folderDialog: vscode.OpenDialogOptions = {
  canSelectFiles: false,
  canSelectFolders: true,
  title: 'Folder for runs',
  openLabel: 'Write Runs Here',
};

/**
 * Where runs of a domain may lie: where the editor writes them, and in the folders down to the domain, where the command
 * line and other debuggers do.
 */
export function runPlacesOf(domain: string): readonly string[] {
  return [...new Set([...runPlacesAround(domain, workspaceRoots()), ...chosenFolders()])];
}

/** Where runs may lie: those of the workspace's folders, of its domains, and of other domains with a file that is open. */
export async function runPlaces(): Promise<readonly string[]> {
  const domains = [...(await domainFolders()), ...openDomains()];
  return [...new Set([...workspaceRoots().map(runsIn), ...domains.flatMap(runPlacesOf)])];
}

/** What the editor keeps next to the runs of a domain. */
type OtherWork = 'training' | 'synth';

/** Returns where training runs or syntheses of a domain are written: in the folder that `runsOf` decides for runs. */
export function workOf(kind: OtherWork, domain: string): string {
  return join(workRootOf(domain, workspaceRoots()), workFolders[kind]);
}

/** Returns where training runs or syntheses can be: in each folder of the workspace, and those of open files outside. */
export function workPlaces(kind: OtherWork): readonly string[] {
  const roots = workspaceRoots();
  const all = [...roots, ...openDomains().map((domain) => workRootOf(domain, roots))];
  return [...new Set(all)].map((root) => join(root, workFolders[kind]));
}

function chosenFolder(): string | undefined {
  return state?.get<string>(memory);
}

function chosenFolders(): readonly string[] {
  const chosen = chosenFolder();
  return chosen === undefined ? [] : [chosen];
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
