import * as vscode from 'vscode';
import { runsIn, runsOf } from '../../engine/shell/workFolders.ts';
import { domainFolderOf, domainFolders } from '../workspaceDomains.ts';

/** Where the editor writes the runs of a domain: to the workspace folder that has it, else to the domain itself. */
export function runsOfDomain(domain: string): string {
  return runsOf(domain, workspaceRoots());
}

/** Where runs of a domain may lie: where the editor writes them, and in the domain, where other debuggers do. */
export function runPlacesOf(domain: string): readonly string[] {
  return [...new Set([runsOfDomain(domain), runsIn(domain)])];
}

/** Where runs may lie: those of the workspace's folders, of its domains, and of other domains with a file that is open. */
export async function runPlaces(): Promise<readonly string[]> {
  return [...new Set([...workspaceRoots(), ...(await domainFolders()), ...openDomains()].map(runsIn))];
}

function workspaceRoots(): readonly string[] {
  return (vscode.workspace.workspaceFolders ?? []).map(({ uri }) => uri.fsPath);
}

function openDomains(): readonly string[] {
  const files = vscode.workspace.textDocuments.filter(({ uri }) => uri.scheme === 'file');
  return files.flatMap(({ uri }) => domainFolderOf(uri.fsPath) ?? []);
}
