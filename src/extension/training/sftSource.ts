import { basename } from 'node:path';
import * as vscode from 'vscode';
import { syntheses } from '../runs/synthFolders.ts';

/** The input of SFT: rollouts that the gold seat plays first, or the accepted rollouts of a synthesis. */
export type SftSource = { readonly recordings: string | null };

const gold: SftSource = { recordings: null };

/**
 * Returns the user's choice of what SFT learns from. Does not ask if only the gold seat is available. Undefined if
 * cancelled.
 */
export async function pickSftSource(): Promise<SftSource | undefined> {
  const all = (await syntheses()).filter(({ accepted }) => accepted > 0);
  if (all.length === 0) return gold;
  const items = [
    ...all.map(({ id, accepted, domains, folder }) => ({
      label: id,
      description: `${accepted} accepted trajectories of ${domains.map((each) => basename(each)).join(', ')}`,
      source: { recordings: folder },
    })),
    { label: 'The Gold Seat', description: 'plays the training tasks first', source: gold },
  ];
  const placeHolder = 'What does the model learn from?';
  return (await vscode.window.showQuickPick(items, { placeHolder, matchOnDescription: true }))?.source;
}
