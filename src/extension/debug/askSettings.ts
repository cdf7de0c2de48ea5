import * as vscode from 'vscode';
import type { ModelSettings } from '../../engine/core/domain/modelSettings.ts';
import type { Context } from '../commandLine/context.ts';

const settingsKey = 'rehearsal.pickedSettings';

/**
 * Asks for the settings of a model that the user picked, and offers the last ones.
 * @returns undefined if the user cancelled
 */
export async function askSettings({ extension }: Pick<Context, 'extension'>): Promise<ModelSettings | undefined> {
  const { readPickedSettings } = await import('./pickedSettings.ts');
  const typed = await vscode.window.showInputBox({
    title: 'Model Settings',
    prompt: 'Settings as in launch.json. They override those of domain.yaml. Leave empty to change nothing.',
    placeHolder: '{"temperature": 0.2, "maxTokens": 512, "reasoningEffort": "low"}',
    value: extension.globalState.get<string>(settingsKey, ''),
    ignoreFocusOut: true,
    validateInput: (text) => {
      const read = readPickedSettings(text);
      return typeof read === 'string' ? read : undefined;
    },
  });
  if (typed === undefined) return undefined;
  await extension.globalState.update(settingsKey, typed.trim());
  const read = readPickedSettings(typed);
  return typeof read === 'string' ? undefined : read;
}
