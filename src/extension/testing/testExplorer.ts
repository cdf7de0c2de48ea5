import * as vscode from 'vscode';
import { domainFolderOf } from '../../engine/shell/domain/domainFolder.ts';
import type { Context } from '../commandLine/context.ts';
import type { LanguageClient } from '../language/languageClient.ts';
import type { RunWatch } from '../runs/runWatch.ts';
import { conversationScheme, debugType } from '../workspace/contributions.ts';
import { onDidChangeDomainFiles, onDidChangeDomains } from '../workspace/domainWatch.ts';
import { domainFolders } from '../workspace/workspaceDomains.ts';
import type { Explorer } from './explorer.ts';
import type { PublishedRuns } from './publishedRuns.ts';
import { settingsPrefix } from './settings.ts';

/** Id of the controller: people type it when they filter by a tag, and VS Code remembers results under it. */
const controllerId = 'rehearsal';
/** A change of several files is read once. */
const quietMs = 300;

type Parts = { readonly explorer: Explorer; readonly published: PublishedRuns };

/**
 * Tasks as tests: a tree of domains, splits or personas, and tasks; profiles that run, debug and measure them; and the
 * results of runs made elsewhere. Domains are read, and what reads them is loaded, when VS Code first asks for them.
 */
export function registerTestExplorer(context: Context, runs: RunWatch, language: LanguageClient): vscode.Disposable {
  const controller = vscode.tests.createTestController(controllerId, 'Rehearsal');
  let parts: Promise<Parts> | undefined;
  const open = () => {
    parts ??= openParts(context, controller, runs, language);
    return parts;
  };
  controller.resolveHandler = async (item) => {
    const { explorer, published } = await open();
    await explorer.tree.resolve(item);
    await published.start();
  };
  controller.refreshHandler = async () => {
    const { tree } = (await open()).explorer;
    await tree.findDomains();
    for (const folder of tree.folders) await tree.read(folder);
  };
  const showTasksOf = async ({ uri }: vscode.TextDocument): Promise<void> => {
    const folder = isTaskFile(uri) ? domainFolderOf(uri.fsPath) : undefined;
    if (!folder) return;
    const { explorer, published } = await open();
    await explorer.tree.findDomains();
    const item = controller.items.get(folder);
    if (item) await explorer.tree.resolve(item);
    await explorer.tree.showFile(folder, uri.fsPath);
    await published.start();
  };
  for (const document of vscode.workspace.textDocuments) void showTasksOf(document);
  addProfiles(controller, open);
  const conversations: vscode.TextDocumentContentProvider = {
    provideTextDocumentContent: async ({ fsPath }) => (await import('./conversationText.ts')).readConversation(fsPath),
  };
  return vscode.Disposable.from(
    controller,
    vscode.workspace.onDidOpenTextDocument(showTasksOf),
    vscode.workspace.registerTextDocumentContentProvider(conversationScheme, conversations),
    { dispose: () => void parts?.then(({ published }) => published.dispose()) },
  );
}

const isTaskFile = ({ scheme, path }: vscode.Uri) => scheme === 'file' && path.endsWith('.task.yaml');

async function openParts(
  context: Context,
  controller: vscode.TestController,
  runs: RunWatch,
  language: LanguageClient,
): Promise<Parts> {
  const [{ TaskTree }, { PublishedRuns: Published }] = await Promise.all([
    import('./taskTree.ts'),
    import('./publishedRuns.ts'),
  ]);
  const explorer: Explorer = {
    context,
    controller,
    tree: new TaskTree(controller, domainFolders, (folder, grouping) => language.row(folder, grouping)),
    shown: new Map(),
    debugged: new Set(),
  };
  context.extension.subscriptions.push(...followFiles(explorer, language));
  return { explorer, published: new Published(explorer, runs) };
}

/**
 * Reads a domain again when a file of it changed or a text that is not saved has other errors, and everything when it is
 * to be grouped by something else.
 */
function followFiles({ tree, debugged }: Explorer, language: LanguageClient): readonly vscode.Disposable[] {
  const errors = new Map<string, string>();
  const waiting = new Map<string, NodeJS.Timeout>();
  const readAgain = async (folder: string) => {
    if (tree.folders.includes(folder)) await tree.read(folder);
  };
  const soon = (folder: string) => {
    clearTimeout(waiting.get(folder));
    waiting.set(
      folder,
      setTimeout(() => void readAgain(folder), quietMs),
    );
  };
  return [
    vscode.debug.onDidStartDebugSession(({ type }) => {
      // The message of an earlier run would be next to what the debugged rollout does now. A test's session has a run.
      if (type === debugType && debugged.size === 0) tree.results.clearMessages();
    }),
    onDidChangeDomains(() => void tree.findDomains()),
    onDidChangeDomainFiles(soon),
    language.onDidFind(({ folder, diagnostics }) => {
      const found = JSON.stringify(diagnostics.filter(({ severity }) => severity === 'error'));
      if (errors.get(folder) === found) return;
      errors.set(folder, found);
      soon(folder);
    }),
    vscode.workspace.onDidChangeConfiguration(async (change) => {
      if (change.affectsConfiguration(`${settingsPrefix}.groupBy`))
        for (const folder of tree.folders) await tree.read(folder);
    }),
    {
      dispose: () => {
        for (const timer of waiting.values()) clearTimeout(timer);
      },
    },
  ];
}

function addProfiles(controller: vscode.TestController, open: () => Promise<Parts>): void {
  const { Run, Debug, Coverage } = vscode.TestRunProfileKind;
  const settings = () => void vscode.commands.executeCommand('workbench.action.openSettings', settingsPrefix);
  const run = controller.createRunProfile(
    'Run',
    Run,
    async (request, token) => {
      const { explorer } = await open();
      if (request.continuous) return (await import('./continuousRun.ts')).runContinuously(explorer, request, token);
      const { trialsOf } = await import('./chosenTests.ts');
      const { runTests } = await import('./testRun.ts');
      await runTests(explorer, request, token, { trials: trialsOf(explorer.tree, request.include) });
    },
    true,
    undefined,
    true,
  );
  const trials = controller.createRunProfile('Run k Trials', Run, async (request, token) => {
    const { explorer } = await open();
    const { askTrials } = await import('./askTrials.ts');
    const count = await askTrials(explorer.context, token);
    if (count === undefined) return;
    await (await import('./testRun.ts')).runTests(explorer, request, token, { trials: count });
  });
  const debug = controller.createRunProfile(
    'Debug',
    Debug,
    async (request, token) => {
      await (await import('./debugTests.ts')).debugTests((await open()).explorer, request, token);
    },
    true,
  );
  const coverage = controller.createRunProfile(
    'Coverage of Policy and Tools',
    Coverage,
    async (request, token) => {
      const { explorer } = await open();
      const { trialsOf } = await import('./chosenTests.ts');
      const options = { trials: trialsOf(explorer.tree, request.include), isCovered: true };
      await (await import('./testRun.ts')).runTests(explorer, request, token, options);
    },
    true,
  );
  coverage.loadDetailedCoverage = async (_run, file) => (await import('./runCoverage.ts')).coverageDetails(file);
  coverage.loadDetailedCoverageForTest = async (_run, file, test) =>
    (await import('./runCoverage.ts')).coverageDetails(file, test);
  for (const profile of [run, trials, debug, coverage]) profile.configureHandler = settings;
}
