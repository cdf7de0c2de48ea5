import * as vscode from 'vscode';
import { maskingLimits } from '../../engine/core/text/maskingMark.ts';
import { showWarningMessage } from '../workspace/messages.ts';

const files = {
  canSelectFiles: true,
  filters: { 'Logs of conversations': ['jsonl', 'json', 'ndjson', 'csv', 'tsv', 'log', 'gz'], 'All files': ['*'] },
};
const folders = { canSelectFiles: false, canSelectFolders: true };

/** The sources of recorded conversations, named as on the command line. A dialog offers either files or folders. */
const kinds = [
  {
    label: 'Chat log',
    description: 'messages, as model APIs, agents, datasets and help desks write them',
    from: 'chats',
    dialog: files,
  },
  { label: 'Folder of chat logs', description: 'all logs in it and in its subfolders', from: 'chats', dialog: folders },
  { label: 'Spans', description: 'traces of an agent, from OpenTelemetry', from: 'spans', dialog: files },
  { label: 'Folder of spans', description: 'all traces in it and in its subfolders', from: 'spans', dialog: folders },
] as const;

export type LogKind = Pick<(typeof kinds)[number], 'from' | 'dialog'>;

/** Asks what recorded conversations are in. */
export async function pickLogKind(): Promise<LogKind | undefined> {
  return vscode.window.showQuickPick(kinds, { placeHolder: 'What are the conversations in?' });
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
 * Asks for the files or folders of recorded conversations, and whether masking in part is enough.
 * @returns undefined where none was chosen, or it is not enough
 */
export async function pickLogFiles(
  title: string,
  openLabel: string,
  dialog: LogKind['dialog'],
): Promise<PickedLogs | undefined> {
  const chosenFiles = await vscode.window.showOpenDialog({ canSelectMany: true, openLabel, title, ...dialog });
  if (!chosenFiles || chosenFiles.length === 0) return undefined;
  const picked = chosenFiles.map(({ fsPath }) => fsPath);
  const options = recogniserOptions();
  if (options.length > 0) return { files: picked, options };
  const detail = `${maskingLimits}. Read what you share.`;
  const message = 'Personal data is masked in part. Import the conversations?';
  const chosen = await showWarningMessage(message, { modal: true, detail }, openLabel);
  return chosen === openLabel ? { files: picked, options: ['--yes'] } : undefined;
}
