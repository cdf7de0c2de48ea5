import * as vscode from 'vscode';
import type { Diagnostic } from '../../engine/shell/diagnostic.ts';
import { pickEditorModel } from '../assistant/editorModels.ts';
import { type CommandEnd, runCommand } from '../commandLine.ts';
import type { Context } from '../context.ts';

/** A draft as `rehearsal draft` tells of it. */
export type GatedDraft = {
  readonly kind: 'task' | 'persona';
  readonly id: string;
  readonly file: string;
  readonly passes: boolean;
  readonly undecided: string | null;
  readonly findings: readonly Diagnostic[];
};

/** What a command that drafted something says with --json. */
export type Drafted = {
  readonly folder: string;
  readonly file: string;
  readonly ids: readonly string[];
  readonly text: string;
  readonly drafts: readonly GatedDraft[];
};

/**
 * Runs a command of the command line with progress and cancel. What went wrong is said.
 * @returns undefined where it was cancelled or could not be done
 */
export async function withProgress(
  context: Context,
  title: string,
  args: readonly string[],
): Promise<CommandEnd | undefined> {
  const location = vscode.ProgressLocation.Notification;
  const end = await vscode.window.withProgress({ location, title, cancellable: true }, async (progress, token) => {
    const ended = await runCommand(context, [...args, '--json'], progress, token);
    return token.isCancellationRequested ? undefined : ended;
  });
  if (!end) return undefined;
  if (end.code === 0 || end.code === 1) return end;
  void tell(context, 'error', end.message ?? `${title}: it ended without a word; the log may tell more.`);
  return undefined;
}

/** Says something with the log one press away. */
export async function tell(context: Context, kind: 'error' | 'warning', message: string): Promise<void> {
  const show = kind === 'error' ? vscode.window.showErrorMessage : vscode.window.showWarningMessage;
  if ((await show(message, 'Show Log')) === 'Show Log') context.log.show();
}

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
 * Says that something was drafted, and what keeps it from being accepted.
 * @param sound what is said where nothing does
 */
export function tellDrafted(context: Context, drafts: readonly GatedDraft[], sound: string): void {
  const obstacle = firstObstacle(drafts);
  if (obstacle === undefined) void vscode.window.showInformationMessage(sound);
  else void tell(context, 'warning', `Before this draft counts: ${obstacle}`);
}

/** Opens a file at a line (from 1). */
export async function openAt(file: string, line = 1): Promise<void> {
  const at = new vscode.Range(line - 1, 0, line - 1, 0);
  await vscode.window.showTextDocument(vscode.Uri.file(file), { selection: at });
}

const modelKey = 'rehearsal.draftingModel';

/**
 * Asks who drafts: nobody, or a model that a person names. The last one is offered again.
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
    validateInput: (text) =>
      /^openai:[^@\s]/.test(text) ? undefined : 'It is written as openai:MODEL or openai:MODEL@BASE_URL.',
  });
  if (named !== undefined) await context.extension.globalState.update(modelKey, named);
  return named;
}
