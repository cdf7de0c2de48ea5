import { readdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import * as vscode from 'vscode';
import { offerCommand } from '../workspace/messages.ts';
import { workPlaces } from './runPlaces.ts';

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
  /** Trajectories that a model is to learn from. */
  readonly accepted: number;
};

/** Syntheses of all folders of the workspace, newest first. Their reader is loaded at the first call. */
export async function syntheses(): Promise<readonly Synthesis[]> {
  const foldersIn = async (place: string) =>
    (await readdir(place).catch(() => [])).map((id) => ({ id, folder: join(place, id) }));
  const found = (await Promise.all(workPlaces('synth').map(foldersIn))).flat();
  const { readSelection, readSynthesis } = await import('../../synthesis/synthesisFolder.ts');
  return found
    .toSorted((one, other) => other.id.localeCompare(one.id))
    .flatMap(({ id, folder }) => {
      const read = readSynthesis(folder);
      if (read.type !== 'read') return [];
      const { file } = read;
      const rows = readSelection(folder);
      const chosen = rows.filter((row) => row.chosen && row.forkOf === undefined).length;
      const accepted = rows.filter((row) => row.accepted).length;
      return [{ ...file, id, folder, chosen, accepted, domains: file.domains.map((domain) => domain.folder) }];
    });
}

/** The folder of a synthesis that has something to learn from, as a person picks it; the only one without a question. */
export async function pickSynthesis(): Promise<string | undefined> {
  const all = (await syntheses()).filter(({ chosen }) => chosen > 0);
  if (all.length === 0) {
    const message = 'There are no cold-start trajectories in this workspace yet.';
    await offerCommand(message, 'Synthesize…', 'rehearsal.synth.start');
    return undefined;
  }
  if (all.length === 1) return all[0]?.folder;
  const items = all.map(({ id, chosen, domains, folder: own }) => ({
    label: id,
    description: `${chosen} trajectories of ${domains.map((each) => basename(each)).join(', ')}`,
    folder: own,
  }));
  return (await vscode.window.showQuickPick(items, { placeHolder: 'Which trajectories?' }))?.folder;
}
