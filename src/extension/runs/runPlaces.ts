import { join } from 'node:path';
import * as vscode from 'vscode';
import { workFolders } from '../../engine/shell/workFolders.ts';
import { domainFolders } from '../workspaceDomains.ts';

/** Where the runs of a folder lie. */
export function runsIn(folder: string): string {
  return join(folder, workFolders.runs);
}

/** Where the editor writes the runs of a domain: to its workspace folder, else to the domain itself. */
export function runsOfDomain(domain: string): string {
  return runsIn(vscode.workspace.getWorkspaceFolder(vscode.Uri.file(domain))?.uri.fsPath ?? domain);
}

/** Where runs of a domain may lie: where the editor writes them, and in the domain, where other debuggers do. */
export function runPlacesOf(domain: string): readonly string[] {
  return [...new Set([runsOfDomain(domain), runsIn(domain)])];
}

/** Where runs of the workspace may lie: those of its folders, and of domains that were opened alone. */
export async function runPlaces(): Promise<readonly string[]> {
  const folders = (vscode.workspace.workspaceFolders ?? []).map(({ uri }) => uri.fsPath);
  return [...new Set([...folders, ...(await domainFolders())].map(runsIn))];
}
