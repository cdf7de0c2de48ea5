import * as vscode from 'vscode';
import { commandTable } from './commands.ts';
import { type Context, createContext } from './context.ts';
import { dashboardType, debugType } from './contributions.ts';
import { adapterFactory } from './debug/adapterFactory.ts';
import { configurationProvider, dynamicConfigurations } from './debug/configurationProvider.ts';
import { registerDiagnostics } from './language/diagnostics.ts';
import { taskLenses } from './language/taskLenses.ts';
import { DomainsTree } from './views/domainsTree.ts';
import { registerTrainingTree } from './views/trainingTree.ts';
import { registerTrajectoryEditor } from './views/trajectoryEditor.ts';
import { domainFolders } from './workspaceDomains.ts';

/** Registers everything; reads nothing but the names of domains, and starts nothing. */
export function activate(extension: vscode.ExtensionContext): void {
  const context = createContext(extension);
  const domains = new DomainsTree();
  const watcher = vscode.workspace.createFileSystemWatcher('**/{domain.yaml,*.task.yaml}');
  const refresh = () => {
    domains.refresh();
    void markDomains();
  };
  extension.subscriptions.push(
    context.log,
    watcher,
    watcher.onDidCreate(refresh),
    watcher.onDidChange(() => domains.refresh()),
    watcher.onDidDelete(refresh),
    registerDiagnostics(),
    vscode.languages.registerCodeLensProvider({ scheme: 'file', pattern: '**/*.task.yaml' }, taskLenses),
    registerTrajectoryEditor(context),
    vscode.window.registerWebviewPanelSerializer(dashboardType, {
      deserializeWebviewPanel: (panel) => restore(context, panel),
    }),
    vscode.window.registerTreeDataProvider('rehearsal.domains', domains),
    registerTrainingTree(),
    vscode.debug.registerDebugAdapterDescriptorFactory(debugType, adapterFactory(context)),
    vscode.debug.registerDebugConfigurationProvider(debugType, configurationProvider),
    vscode.debug.registerDebugConfigurationProvider(
      debugType,
      dynamicConfigurations,
      vscode.DebugConfigurationProviderTriggerKind.Dynamic,
    ),
    ...Object.entries(commandTable(context)).map(([id, run]) => vscode.commands.registerCommand(id, run)),
  );
  void markDomains();
}

/** What needs the engine's schemas is loaded when it is first used: activation is what everybody waits for. */
async function restore(context: Context, panel: vscode.WebviewPanel): Promise<void> {
  const { restoreTrainingDashboard } = await import('./views/trainingDashboard.ts');
  restoreTrainingDashboard(context, panel);
}

/** Lets menus and gutters know whether there is a domain at all. */
async function markDomains(): Promise<void> {
  await vscode.commands.executeCommand('setContext', 'rehearsal.hasDomain', (await domainFolders()).length > 0);
}
