import { join } from 'node:path';
import * as vscode from 'vscode';
import { fileLimits, readBoundedTextAsync } from '../../engine/shell/files/boundedFile.ts';
import { runFiles } from '../../engine/shell/records/runFiles.ts';
import type { NamedPython } from './learning.ts';

/** A target that the settings name. */
export type NamedTarget = { readonly name: string; readonly target: string; readonly python?: NamedPython };

/** This machine, as the command line names it. */
export const local: NamedTarget = { name: 'This Machine', target: 'local' };

/** The targets of the settings; an entry without a name or an address is not one. */
export function namedTargets(): readonly NamedTarget[] {
  const given = vscode.workspace.getConfiguration('rehearsal').get<readonly unknown[]>('training.targets') ?? [];
  return given.filter(isTarget);
}

function isTarget(value: unknown): value is NamedTarget {
  const { name, target } = (value ?? {}) as Partial<NamedTarget>;
  return typeof name === 'string' && typeof target === 'string';
}

/** Returns where to train: asks where the settings name targets. Undefined when the person cancelled. */
export async function pickTarget(): Promise<NamedTarget | undefined> {
  const targets = namedTargets();
  if (targets.length === 0) return local;
  const items = [local, ...targets].map((each) => ({ label: each.name, description: each.target, target: each }));
  const placeHolder = 'Where does training run?';
  return (await vscode.window.showQuickPick(items, { placeHolder, matchOnDescription: true }))?.target;
}

/** Reports whether a run is on a target that the settings name. */
export async function isOnNamedTarget(run: string): Promise<boolean> {
  const text = await readBoundedTextAsync(join(run, runFiles.target), fileLimits.text).catch(() => null);
  return text !== null && namedTargets().some(({ target }) => text.includes(JSON.stringify(target)));
}
