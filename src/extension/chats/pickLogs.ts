import * as vscode from 'vscode';
import { maskingLimits } from '../../engine/core/text/maskingMark.ts';

/** What recorded conversations can be in, as the command line names it. */
const kinds = [
  {
    label: 'Chat log',
    description: 'messages, as model APIs, agents, datasets and help desks write them',
    from: 'chats',
  },
  { label: 'Spans', description: 'traces of an agent, from OpenTelemetry', from: 'spans' },
] as const;

/** Asks what recorded conversations are in. */
export async function pickLogKind(): Promise<(typeof kinds)[number]['from'] | undefined> {
  return (await vscode.window.showQuickPick(kinds, { placeHolder: 'What are the conversations in?' }))?.from;
}

/** Returns the options of the recogniser in the settings; empty without one. */
function recogniserOptions(): readonly string[] {
  const settings = vscode.workspace.getConfiguration('rehearsal.import');
  const [recogniser, python] = ['recogniser', 'python'].map((name) => settings.get<string>(name) ?? '');
  if (!recogniser) return [];
  return ['--recogniser', recogniser, ...(python ? ['--python', python] : [])];
}

export type PickedLogs = {
  readonly files: readonly string[];
  /** Say how names in free text are found, or that masking in part is enough. */
  readonly options: readonly string[];
};

/**
 * Asks for the files of recorded conversations, and whether masking in part is enough.
 * @returns undefined where none was chosen, or it is not enough
 */
export async function pickLogFiles(title: string, openLabel: string): Promise<PickedLogs | undefined> {
  const filters = { 'Logs of conversations': ['jsonl', 'json', 'ndjson', 'csv', 'tsv', 'gz'], 'All files': ['*'] };
  const files = await vscode.window.showOpenDialog({ canSelectMany: true, openLabel, title, filters });
  if (!files || files.length === 0) return undefined;
  const picked = files.map(({ fsPath }) => fsPath);
  const options = recogniserOptions();
  if (options.length > 0) return { files: picked, options };
  const detail = `${maskingLimits}. Read what you share.`;
  const message = 'Personal data is masked in part. Import the conversations?';
  const chosen = await vscode.window.showWarningMessage(message, { modal: true, detail }, openLabel);
  return chosen === openLabel ? { files: picked, options: ['--yes'] } : undefined;
}
