import * as vscode from 'vscode';
import { hasSources } from '../../engine/shell/load/loadedDomain.ts';
import type { Context } from '../commandLine/context.ts';
import { webviewOptions } from '../panels/panel.ts';
import { showInformationMessage } from '../workspace/messages.ts';
import { domainAtHand, readDomain } from '../workspace/workspaceDomains.ts';
import { openPartSession } from './editorSession.ts';
import { toolPanelOf } from './toolEditor.ts';

/** A tool of a domain, as a row of the Domains view names it. */
export type ToolTarget = { readonly folder: string; readonly tool: string };

const opened = new Map<string, vscode.WebviewPanel>();

/** Opens the tool that was chosen, to be read and tried. One that is a file opens in its editor. */
export async function tryTool(context: Context, target: unknown): Promise<string | undefined> {
  const given = target as Partial<ToolTarget> | undefined;
  const folder = given?.folder ?? (await domainAtHand());
  if (folder === undefined) return undefined;
  const name = given?.tool ?? (await pickTool(context, folder));
  if (name === undefined) return undefined;
  const { parts } = await readDomain(folder);
  const file = parts.simulated.find(({ value }) => value.name === name)?.file;
  if (file !== undefined)
    await vscode.commands.executeCommand('vscode.openWith', vscode.Uri.file(file), 'rehearsal.tool');
  else showPanel(context, folder, name);
  return name;
}

async function pickTool(context: Context, folder: string): Promise<string | undefined> {
  const { toolsOf } = await import('./toolDescriptions.ts');
  const domain = await readDomain(folder);
  const asksServers = hasSources(domain.file);
  const tools = await new Promise<ReturnType<typeof toolsOf>['tools']>((resolve) => {
    const ask = (): ReturnType<typeof toolsOf> => toolsOf(context, domain, () => resolve(ask().tools), { asksServers });
    const known = ask();
    // Names that are in the files are enough to choose from; those of servers have to be asked for.
    if (!asksServers || !vscode.workspace.isTrusted) resolve(known.tools);
  });
  if (tools.length === 0) {
    void showInformationMessage(`${domain.domain.name} has no tools yet: write one in tools.ts.`);
    return undefined;
  }
  const picked = await vscode.window.showQuickPick(
    tools.map(({ name, effect, owner, description }) => ({
      label: name,
      description: owner === 'user' ? `${effect}, the user's` : effect,
      detail: description.split('\n')[0] ?? '',
    })),
    { placeHolder: 'Which tool?', matchOnDetail: true },
  );
  return picked?.label;
}

function showPanel(context: Context, folder: string, name: string): void {
  const key = `${folder}\n${name}`;
  const before = opened.get(key);
  if (before) {
    before.reveal();
    return;
  }
  const options = webviewOptions(context.extension.extensionUri);
  const panel = vscode.window.createWebviewPanel('rehearsal.toolPanel', name, vscode.ViewColumn.Active, options);
  opened.set(key, panel);
  panel.onDidDispose(() => opened.delete(key));
  openPartSession(context, toolPanelOf(name), { folder, name }, panel);
}
