import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import * as vscode from 'vscode';

/** Where the syntheses of a workspace lie. */
export function synthRoot(): string | undefined {
  const folder = vscode.workspace.workspaceFolders?.[0];
  return folder && join(folder.uri.fsPath, '.rehearsal', 'synth');
}

/** A synthesis of the workspace, and how far it has come. */
export type Synthesis = {
  readonly id: string;
  readonly folder: string;
  readonly domains: readonly string[];
  readonly teacher: string;
  readonly count: number;
  readonly nearMisses: number;
  readonly seed: string;
  readonly chosen: number;
};

/** Syntheses of the workspace, newest first. Their reader is loaded at the first call. */
export async function syntheses(): Promise<readonly Synthesis[]> {
  const root = synthRoot();
  const ids = root === undefined ? [] : await readdir(root).catch(() => []);
  const { readSelection, readSynthesis } = await import('../../engine/shell/coldStart/synthesisFolder.ts');
  return ids
    .toSorted()
    .toReversed()
    .flatMap((id) => {
      const folder = join(root ?? '', id);
      const file = readSynthesis(folder);
      if (typeof file === 'string') return [];
      const chosen = readSelection(folder).filter((row) => row.chosen && row.forkOf === undefined).length;
      return [{ ...file, id, folder, chosen, domains: file.domains.map((domain) => domain.folder) }];
    });
}
