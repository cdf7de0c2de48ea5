import * as vscode from 'vscode';
import { namedModel } from '../../engine/core/domain/seatSpec.ts';
import type { Diagnostic } from '../../engine/shell/files/diagnostic.ts';
import type { Context } from '../commandLine/context.ts';
import { tell } from '../commandLine/tell.ts';
import { pickEditorModel } from '../editorModels/editorModels.ts';
import { showInformationMessage } from '../workspace/messages.ts';

/** A draft as `rehearsal draft` describes it. */
export type GatedDraft = {
  readonly kind: 'task' | 'persona';
  readonly id: string;
  readonly file: string;
  readonly passes: boolean;
  readonly undecided: string | null;
  readonly findings: readonly Diagnostic[];
};

/** The output of a drafting command with --json. */
export type Drafted = {
  readonly folder: string;
  readonly file: string;
  readonly ids: readonly string[];
  readonly text: string;
  readonly drafts: readonly GatedDraft[];
};

/** The beginning of the message for a drafting command that failed. */
export const nothingDrafted = 'Nothing was drafted';

/** The first thing that keeps drafts from being accepted, in a sentence; undefined where nothing does. */
export function firstObstacle(drafts: readonly GatedDraft[]): string | undefined {
  const [first] = drafts.flatMap(({ id, findings, passes }) => {
    const [finding] = findings;
    if (passes) return [];
    return finding ? [`${id}: ${finding.message} ${finding.hint ?? ''}`.trim()] : [`${id} was not audited.`];
  });
  return first;
}

/**
 * Reports that something was drafted, and what prevents its acceptance.
 * @param sound the message if nothing prevents it
 */
export function tellDrafted(context: Context, drafts: readonly GatedDraft[], sound: string): void {
  const obstacle = firstObstacle(drafts);
  if (obstacle === undefined) void showInformationMessage(sound);
  else void tell(context, 'warning', `Before this draft counts: ${obstacle}`);
}

/** Opens a file at a line (from 1). */
export async function openAt(file: string, line = 1): Promise<void> {
  const at = new vscode.Range(line - 1, 0, line - 1, 0);
  await vscode.window.showTextDocument(vscode.Uri.file(file), { selection: at });
}

const modelKey = 'rehearsal.draftingModel';

/**
 * Asks who drafts: no one, or a model that a person names. The last one is offered again.
 * @param without what happens without a model
 * @returns arguments of the command line, or undefined where it was cancelled
 */
export async function askModel(context: Context, without: string): Promise<readonly string[] | undefined> {
  const offline = { label: 'Without a model', description: without };
  const online = { label: 'With a model…', description: 'costs tokens; its key is set with Set Model Key…' };
  const own = { label: 'With a language model of VS Code…', description: 'preview' };
  const picked = await vscode.window.showQuickPick([offline, online, own], { placeHolder: 'Who writes it?' });
  if (!picked) return undefined;
  if (picked === offline) return [];
  if (picked === own) {
    const seat = await pickEditorModel();
    return seat === undefined ? undefined : ['--model', seat];
  }
  const named = await askNamedModel(context, 'The model that writes');
  return named === undefined ? undefined : ['--model', named];
}

/** Asks for a model at an endpoint, as the command line names it. The last one is offered again. */
export async function askNamedModel(context: Context, title: string): Promise<string | undefined> {
  const known = context.extension.globalState.get<string>(modelKey);
  const named = await vscode.window.showInputBox({
    title,
    prompt: 'openai:MODEL, at the base URL of the settings, or openai:MODEL@BASE_URL',
    value: known ?? 'openai:',
    ignoreFocusOut: true,
    validateInput: (text) => (namedModel(text) ? undefined : 'It is written as openai:MODEL or openai:MODEL@BASE_URL.'),
  });
  if (named !== undefined) await context.extension.globalState.update(modelKey, named);
  return named;
}
