import * as vscode from 'vscode';
import type { FileLine } from '../../engine/shell/files/diagnostic.ts';
import { messageOf } from '../../engine/shell/files/fault.ts';
import type { LoadedDomain } from '../../engine/shell/load/loadedDomain.ts';
import type { PlaceKind } from '../../webview/messages/protocol.ts';
import { showErrorMessage, showInformationMessage } from '../workspace/messages.ts';
import { columnBeside } from '../workspace/walkthrough.ts';
import { domainOfRecording, readDomain } from '../workspace/workspaceDomains.ts';

/** Opens the location of a rule, tool or task in the domain of a recording, next to the recording. */
export async function openPlace(recording: vscode.Uri, kind: PlaceKind, name: string): Promise<void> {
  try {
    const folder = await domainOfRecording(recording.fsPath);
    if (folder === undefined) {
      void showInformationMessage(
        'The domain that this was recorded in is not here: open its folder in the workspace.',
      );
      return;
    }
    await openPlaceOf(folder, kind, name);
  } catch (error) {
    void showErrorMessage(`The ${kind} "${name}" can't be shown: ${messageOf(error)}`);
  }
}

/** Opens the location of a rule, tool or task in a domain, next to the active editor. */
export async function openPlaceOf(folder: string, kind: PlaceKind, name: string): Promise<void> {
  const domain = await readDomain(folder);
  const place = await declarationOf(domain, kind, name);
  if (place) await reveal(place);
  else void showInformationMessage(`${domain.domain.name} has no ${kind} "${name}" in its files.`);
}

async function declarationOf(
  { locations }: LoadedDomain,
  kind: PlaceKind,
  name: string,
): Promise<FileLine | undefined> {
  switch (kind) {
    case 'rule':
      return locations.policyRules.get(name);
    case 'tool':
      // The names of a server's tools are known only to the server: its entry is as near as the files come.
      return locations.tools.get(name) ?? [...locations.mcpServers.values()][0];
    case 'task': {
      const { baseTask } = await import('../../engine/core/domain/taskVariant.ts');
      return locations.tasks.get(baseTask(name));
    }
    default:
      return kind satisfies never;
  }
}

async function reveal({ file, line }: FileLine): Promise<void> {
  const at = new vscode.Position(line - 1, 0);
  await vscode.window.showTextDocument(vscode.Uri.file(file), {
    viewColumn: columnBeside(),
    selection: new vscode.Range(at, at),
  });
}
