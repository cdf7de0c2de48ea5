import * as vscode from 'vscode';
import type { TrainingKind } from '../../engine/core/domain/trainingKind.ts';

/** The ways in which a model is trained. */
export type LearningKind = Exclude<TrainingKind, 'evaluate'>;

/** The optimizer steps that are offered first: those that the trainer takes on a laptop. */
export async function firstSteps(kind: LearningKind): Promise<number> {
  const { settingOf } = await import('../../training/trainingKeys.ts');
  return Number(settingOf({ kind, config: { profile: 'cpu' } }, 'steps'));
}

/** Returns the model that a person set; undefined where the setting has its default. */
export function modelOfSettings(): string | undefined {
  const set = vscode.workspace.getConfiguration('rehearsal').inspect<string>('trainer.model');
  return set?.workspaceFolderValue ?? set?.workspaceValue ?? set?.globalValue;
}

/** An interpreter as the settings name one: a path, or the argument list that starts it. */
export type NamedPython = string | readonly string[];

/** A Python that a setting names, as the command line takes it. */
export function pythonArguments(python: NamedPython | undefined): readonly string[] {
  if (python === undefined || python.length === 0) return [];
  return ['--python', typeof python === 'string' ? python : JSON.stringify(python)];
}

/** The Python of the settings, as the command line takes it. */
export function pythonOption(): readonly string[] {
  return pythonArguments(vscode.workspace.getConfiguration('rehearsal').get('trainer.python'));
}
