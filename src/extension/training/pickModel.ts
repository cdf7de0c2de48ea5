import { existsSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';
import * as vscode from 'vscode';
import type { TrainingKind } from '../../engine/core/domain/trainingKind.ts';
import { readBoundedText } from '../../engine/shell/files/boundedFile.ts';
import { runFiles } from '../../engine/shell/records/runFiles.ts';
import { trainingRuns } from '../runs/runsOfWorkspace.ts';
import { checkpointItems } from './checkpoints.ts';
import { modelOfSettings } from './learning.ts';

/** A row of the list of models. `model` is absent in the row that opens the folder dialog. */
type ModelItem = vscode.QuickPickItem & { readonly model?: string };

/** A name that the Hugging Face hub can have: an owner and a repository. */
const hubId = /^[\w.-]+\/[\w.-]+$/;
const recentModels = 8;

/**
 * Asks for a model: that of the settings, a checkpoint of any run, one that an earlier run started from, a folder, or a
 * Hugging Face id that is typed. Undefined when the person cancels.
 */
export async function pickModel(kind: TrainingKind): Promise<string | undefined> {
  const items = await modelItems(kind);
  const picker = vscode.window.createQuickPick<ModelItem>();
  picker.title = kind === 'evaluate' ? 'Model to Evaluate' : 'Model to Train';
  picker.placeholder = 'Choose a model, or type a Hugging Face id such as Qwen/Qwen3-0.6B';
  picker.matchOnDescription = true;
  picker.items = items;
  picker.onDidChangeValue((value) => {
    const typed = hubId.test(value.trim()) ? [hubItem(value.trim())] : [];
    picker.items = [...typed, ...items];
  });
  const chosen = await new Promise<ModelItem | undefined>((resolve) => {
    picker.onDidAccept(() => resolve(picker.selectedItems[0]));
    picker.onDidHide(() => resolve(undefined));
    picker.show();
  });
  picker.dispose();
  return chosen === undefined ? undefined : (chosen.model ?? pickFolder());
}

async function modelItems(kind: TrainingKind): Promise<readonly ModelItem[]> {
  const checkpoints = await checkpointItems();
  const own = ownModels(modelOfSettings());
  const known = new Set([...own, ...checkpoints].map(({ model }) => model));
  const recent = modelsOf((await trainingRuns()).map(({ folder }) => folder)).filter((model) => !known.has(model));
  const first = kind === 'sft' ? [...own, ...checkpoints] : [...checkpoints, ...own];
  return [
    ...first,
    ...recent.slice(0, recentModels).map((model) => ({ label: model, description: 'used before', model })),
    { label: '$(folder) Choose a Folder…', description: 'a model or an adapter', alwaysShow: true },
  ];
}

/**
 * Returns the models of the settings and of the trainer. A folder that is not there is not offered.
 * @param set the model that a person set; undefined where no one did
 */
export function ownModels(
  set: string | undefined,
  isThere: (folder: string) => boolean = existsSync,
): readonly { readonly label: string; readonly description: string; readonly model: string }[] {
  const trainers = [
    {
      label: 'smollm2',
      description: 'SmolLM2 135M Instruct, part of the Python environment of the trainer',
      model: 'smollm2',
    },
    { label: 'tiny', description: 'random weights, for trying out', model: 'tiny' },
  ];
  if (set === undefined || isGone(set, isThere)) return trainers;
  const own = { label: set, description: 'from the settings', model: set };
  return [own, ...trainers.filter(({ model }) => model !== set)];
}

/** Whether a model is a folder that does not exist. */
const isGone = (model: string, isThere: (folder: string) => boolean) => isAbsolute(model) && !isThere(model);

/** Returns the models that runs started from, each once, in the order of the runs. Folders that are gone are left out. */
export function modelsOf(
  runs: readonly string[],
  isThere: (folder: string) => boolean = existsSync,
): readonly string[] {
  const models = runs.flatMap((run) => {
    try {
      const { model } = JSON.parse(readBoundedText(join(run, runFiles.launch))) as { readonly model?: unknown };
      return typeof model === 'string' ? [model] : [];
    } catch {
      return []; // a run that is still being prepared
    }
  });
  return [...new Set(models)].filter((model) => !isGone(model, isThere));
}

const hubItem = (model: string): ModelItem => ({
  label: model,
  description: 'from the Hugging Face hub',
  model,
  alwaysShow: true,
});

async function pickFolder(): Promise<string | undefined> {
  const [folder] =
    (await vscode.window.showOpenDialog({
      canSelectFiles: false,
      canSelectFolders: true,
      openLabel: 'Use Model',
      title: 'Folder with a Model or an Adapter',
    })) ?? [];
  return folder?.fsPath;
}
