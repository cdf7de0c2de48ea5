import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type * as vscode from 'vscode';
import { runName } from '../../engine/shell/runName.ts';
import type { Context } from '../context.ts';
import { runsOfDomain } from '../runs/runPlaces.ts';
import type { TaskTree } from './taskTree.ts';

/** What every part of the Test Explorer needs. */
export type Explorer = {
  readonly context: Context;
  readonly controller: vscode.TestController;
  readonly tree: TaskTree;
  /** Folders of runs whose results are shown already, or are being shown, with the finished rollouts in each. */
  readonly shown: Map<string, number>;
  /** Tests that are debugged now: what their sessions record is shown when they end. */
  readonly debugged: Set<vscode.TestItem>;
};

/** A folder for a new run that nobody has yet. */
export function newRunFolder({ shown }: Explorer, domain: string, about: string): string {
  const first = join(runsOfDomain(domain), runName(about.replace(/[^\w.-]+/g, '-')));
  for (let number = 1; ; number += 1) {
    const folder = number === 1 ? first : `${first}-${number}`;
    if (!existsSync(folder) && !shown.has(folder)) return folder;
  }
}
