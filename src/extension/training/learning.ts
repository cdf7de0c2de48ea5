import * as vscode from 'vscode';
import type { TrainingKind } from '../../engine/core/trainingKind.ts';

/** What a model learns by. */
export type LearningKind = Exclude<TrainingKind, 'evaluate'>;

/** The optimizer steps that are offered first: those that the trainer takes on a laptop. */
export async function firstSteps(kind: LearningKind): Promise<number> {
  const { trainingKeys } = await import('../../engine/shell/trainingKeys.ts');
  return Number(trainingKeys(kind).find(({ name }) => name === 'steps')?.defaults['cpu']);
}

/** The model of the settings. */
export function modelOfSettings(): string {
  return vscode.workspace.getConfiguration('rehearsal').get<string>('trainer.model') ?? 'smollm2';
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
