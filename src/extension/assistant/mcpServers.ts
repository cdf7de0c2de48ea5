import { basename } from 'node:path';
import * as vscode from 'vscode';
import { type Context, commandLineOf } from '../commandLine/context.ts';
import { domainFolders } from '../workspace/workspaceDomains.ts';

/** Id of the provider; package.json contributes it. */
const providerId = 'rehearsal.domains';

/** Offers the servers, and again whenever there may be others. */
export function registerMcpServers(context: Context): vscode.Disposable {
  const changed = new vscode.EventEmitter<void>();
  const watcher = vscode.workspace.createFileSystemWatcher('**/domain.yaml', false, true, false);
  const again = () => changed.fire();
  return vscode.Disposable.from(
    changed,
    watcher,
    watcher.onDidCreate(again),
    watcher.onDidDelete(again),
    vscode.workspace.onDidGrantWorkspaceTrust(again),
    vscode.lm.registerMcpServerDefinitionProvider(providerId, {
      ...mcpServers(context),
      onDidChangeMcpServerDefinitions: changed.event,
    }),
  );
}

/**
 * The tools of every domain of the workspace for the editor's own agent, each as an MCP server on a temporary database. A
 * server starts when that agent starts it; nothing is offered in a workspace that no one trusts.
 */
export function mcpServers(context: Context): vscode.McpServerDefinitionProvider<vscode.McpStdioServerDefinition> {
  return {
    provideMcpServerDefinitions: async () =>
      vscode.workspace.isTrusted ? (await domainFolders()).map((folder) => serverOf(context, folder)) : [],
    // The key of a model, which a simulated tool may need, is read only when the server starts.
    resolveMcpServerDefinition: async (server) => {
      server.env = { ...server.env, ...(await context.environment()) };
      return server;
    },
  };
}

function serverOf(context: Context, folder: string): vscode.McpStdioServerDefinition {
  const { version } = context.extension.extension.packageJSON as { readonly version: string };
  const label = `${basename(folder)} (temporary database)`;
  const args = [...commandLineOf(context), 'mcp', folder];
  return new vscode.McpStdioServerDefinition(label, process.execPath, args, {}, version);
}
