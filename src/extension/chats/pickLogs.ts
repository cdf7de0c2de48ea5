import * as vscode from 'vscode';

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

/**
 * Asks for the files of recorded conversations.
 * @returns undefined where none was chosen
 */
export async function pickLogFiles(title: string, openLabel: string): Promise<readonly string[] | undefined> {
  const filters = { 'Logs of conversations': ['jsonl', 'json', 'ndjson', 'csv', 'tsv', 'gz'], 'All files': ['*'] };
  const files = await vscode.window.showOpenDialog({ canSelectMany: true, openLabel, title, filters });
  return files && files.length > 0 ? files.map(({ fsPath }) => fsPath) : undefined;
}
