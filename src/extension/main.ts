import * as vscode from 'vscode';
import { withoutLinks } from '../engine/core/text/withoutLinks.ts';
import { registerLanguageModelTools } from './assistant/languageModelTools.ts';
import { registerMcpServers } from './assistant/mcpServers.ts';
import { draftActions } from './authoring/acceptDraft.ts';
import { registerIntentsTree } from './authoring/intentsTree.ts';
import { registerSpotCheck } from './coldStart/spotCheck.ts';
import { type Context, createContext } from './commandLine/context.ts';
import { registerRunning } from './commandLine/running.ts';
import { commandTable } from './commands.ts';
import { adapterFactory } from './debug/adapterFactory.ts';
import { registerChangeNotice } from './debug/changeNotice.ts';
import { configurationProvider, dynamicConfigurations } from './debug/configurationProvider.ts';
import { registerDebugViewOnStop } from './debug/debugView.ts';
import { registerReplyLens } from './debug/editReply.ts';
import { registerInlineValues } from './debug/inlineValues.ts';
import { registerOpenLine } from './debug/openLine.ts';
import { registerTurnFocus } from './debug/rolloutActions.ts';
import { StandbyAdapter } from './debug/standbyAdapter.ts';
import { registerVerdictLenses } from './debug/verdictLenses.ts';
import { registerVisualEditors } from './editors/visualEditors.ts';
import { showFirstScreen } from './firstScreen.ts';
import { findingsOf, onDidChangeFindings } from './language/findings.ts';
import { registerLanguage } from './language/language.ts';
import { LanguageClient } from './language/languageClient.ts';
import { registerTrajectoryEditor } from './panels/trajectoryEditor.ts';
import { keepRunFolder } from './runs/runPlaces.ts';
import { RunWatch } from './runs/runWatch.ts';
import { registerTestExplorer } from './testing/testExplorer.ts';
import { registerConfigurationLenses } from './training/configuration.ts';
import { showLeftRunning } from './training/shownRuns.ts';
import { DomainsTree } from './views/domainsTree.ts';
import { withKeys } from './views/focusedRow.ts';
import { registerForksView } from './views/forksView.ts';
import { registerRunsTree } from './views/runsTree.ts';
import { registerTrainingTree } from './views/trainingTree.ts';
import { comparisonType, dashboardType, debugType } from './workspace/contributions.ts';
import { onDidChangeDomainFiles, onDidChangeDomains, registerDomainWatch } from './workspace/domainWatch.ts';
import { registerWalkthrough } from './workspace/walkthrough.ts';
import { domainFolders } from './workspace/workspaceDomains.ts';

/** Registers everything; reads nothing but the names of domains, and starts nothing. */
export function activate(extension: vscode.ExtensionContext): void {
  const context = createContext(extension);
  keepRunFolder(extension.workspaceState);
  const standby = new StandbyAdapter(context);
  const runs = new RunWatch();
  const language = new LanguageClient(context);
  const domains = new DomainsTree(language);
  extension.subscriptions.push(
    context.log,
    onDidChangeDomains(() => {
      domains.refresh();
      void markDomains();
    }),
    onDidChangeDomainFiles(() => domains.refresh()),
    onDidChangeFindings((folder) => domains.showErrors(folder, findingsOf(folder))),
    registerDomainWatch(),
    registerInlineValues(),
    registerOpenLine(),
    runs,
    language,
    registerLanguage(language, runs),
    vscode.languages.registerCodeActionsProvider({ scheme: 'file', pattern: '**/*.{task,persona}.yaml' }, draftActions),
    registerTrajectoryEditor(context),
    registerVisualEditors(context),
    vscode.window.registerWebviewPanelSerializer(dashboardType, {
      deserializeWebviewPanel: (panel) => restore(context, panel),
    }),
    withKeys('rehearsal.domains', vscode.window.createTreeView('rehearsal.domains', { treeDataProvider: domains })),
    registerTrainingTree(),
    registerConfigurationLenses(),
    registerForksView(),
    registerChangeNotice(),
    registerDebugViewOnStop(),
    registerWalkthrough(extension.globalState),
    // Of the lenses above one line, VS Code shows those first whose provider was registered last. A verdict can be long, so
    // the action comes before it.
    registerVerdictLenses(),
    registerReplyLens(),
    registerTurnFocus(),
    registerRunsTree(runs),
    registerIntentsTree(),
    registerSpotCheck(),
    registerRunning(),
    registerLanguageModelTools(context),
    registerMcpServers(context),
    vscode.window.registerWebviewPanelSerializer(comparisonType, {
      deserializeWebviewPanel: (panel, state) => restoreComparison(context, panel, state),
    }),
    standby,
    vscode.debug.registerDebugAdapterDescriptorFactory(debugType, adapterFactory(context, standby)),
    registerTestExplorer(context, runs, language),
    vscode.debug.registerDebugConfigurationProvider(debugType, configurationProvider),
    vscode.debug.registerDebugConfigurationProvider(
      debugType,
      dynamicConfigurations,
      vscode.DebugConfigurationProviderTriggerKind.Dynamic,
    ),
    ...Object.entries(commandTable(context, language)).map(([id, run]) =>
      vscode.commands.registerCommand(id, plainErrors(run)),
    ),
  );
  void showFirstScreen(context);
  const later = setTimeout(() => void showLeftRunning(context), 2000);
  extension.subscriptions.push({ dispose: () => clearTimeout(later) });
}

/** Takes links from the errors of a command, which VS Code shows in notifications. */
const plainErrors =
  <Arguments extends readonly unknown[]>(run: (...given: Arguments) => unknown) =>
  async (...given: Arguments): Promise<unknown> => {
    try {
      return await run(...given);
    } catch (error) {
      if (error instanceof Error) error.message = withoutLinks(error.message);
      throw error;
    }
  };

/**
 * Imports the dashboard when it is first used: it needs the engine's schemas, and loading them would delay activation.
 */
async function restore(context: Context, panel: vscode.WebviewPanel): Promise<void> {
  const { restoreTrainingDashboard } = await import('./views/trainingDashboard.ts');
  restoreTrainingDashboard(context, panel);
}

async function restoreComparison(context: Context, panel: vscode.WebviewPanel, state: unknown): Promise<void> {
  const { restoreComparison: restored } = await import('./panels/comparisonPanel.ts');
  restored(context, panel, state);
}

/** Lets menus and gutters know whether there is a domain at all. */
async function markDomains(): Promise<void> {
  await vscode.commands.executeCommand('setContext', 'rehearsal.hasDomain', (await domainFolders()).length > 0);
}
