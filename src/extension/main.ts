import * as vscode from 'vscode';
import { commandTable } from './commands.ts';
import { createContext } from './context.ts';
import { debugType } from './contributions.ts';
import { adapterFactory } from './debug/adapterFactory.ts';
import { configurationProvider, dynamicConfigurations } from './debug/configurationProvider.ts';
import { registerDiagnostics } from './language/diagnostics.ts';
import { taskLenses } from './language/taskLenses.ts';
import { DomainsTree } from './views/domainsTree.ts';
import { registerTrainingDashboard } from './views/trainingDashboard.ts';
import { TrainingTree } from './views/trainingTree.ts';
import { registerTrajectoryEditor } from './views/trajectoryEditor.ts';
import { domainFolders } from './workspaceDomains.ts';

/** Registers everything; reads nothing but the names of domains, and starts nothing. */
export function activate(extension: vscode.ExtensionContext): void {
  const context = createContext(extension);
  const domains = new DomainsTree();
  const training = new TrainingTree();
  const watcher = vscode.workspace.createFileSystemWatcher('**/{domain.yaml,*.task.yaml}');
  const runs = vscode.workspace.createFileSystemWatcher('**/.rehearsal/training/*/{config.json,pid}');
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
    runs,
    runs.onDidCreate(() => training.refresh()),
    runs.onDidChange(() => training.refresh()),
    runs.onDidDelete(() => training.refresh()),
    registerDiagnostics(),
    vscode.languages.registerCodeLensProvider({ scheme: 'file', pattern: '**/*.task.yaml' }, taskLenses),
    registerTrajectoryEditor(context),
    registerTrainingDashboard(context),
    vscode.window.registerTreeDataProvider('rehearsal.domains', domains),
    vscode.window.registerTreeDataProvider('rehearsal.training', training),
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

/** Lets menus and gutters know whether there is a domain at all. */
async function markDomains(): Promise<void> {
  await vscode.commands.executeCommand('setContext', 'rehearsal.hasDomain', (await domainFolders()).length > 0);
}
