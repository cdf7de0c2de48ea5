import * as vscode from 'vscode';
import { domainFolderOf } from '../../engine/shell/domain/domainFolder.ts';
import { runPlacesOf } from '../runs/runPlaces.ts';
import type { RunWatch } from '../runs/runWatch.ts';
import { debugType } from '../workspace/contributions.ts';
import type { LanguageClient } from './languageClient.ts';
import { lastResults, ruleText, taskText } from './lastResult.ts';

/** The interval at which "2 min ago" is updated, in milliseconds. */
const minuteMs = 60_000;

/**
 * The result of each task in its newest run, above the task, and the result of the checks of each rule in the domain's
 * newest run, above the rule in the policy. A click opens the recording to look at: the first that failed. Runs are
 * watched while a file is shown that can have such lines.
 */
export function registerResultLenses(runs: RunWatch, client: LanguageClient): vscode.Disposable {
  const changed = new vscode.EventEmitter<void>();
  const again = () => changed.fire();
  let watching: vscode.Disposable | undefined;
  const watch = () => {
    const clock = setInterval(again, minuteMs);
    return vscode.Disposable.from(runs.onDidChange(again), { dispose: () => clearInterval(clock) });
  };
  const leave = () => {
    watching?.dispose();
    watching = undefined;
  };
  const provider: vscode.CodeLensProvider = {
    onDidChangeCodeLenses: changed.event,
    provideCodeLenses: ({ uri, fileName }) => {
      // While a rollout is debugged, `verdictLenses` shows its own verdicts.
      if (!mayHaveLenses(fileName) || vscode.debug.activeDebugSession?.type === debugType) return [];
      watching ??= watch();
      return lensesOf(uri.fsPath, client);
    },
  };
  return vscode.Disposable.from(
    changed,
    vscode.window.onDidChangeVisibleTextEditors((editors) => {
      if (!editors.some(({ document }) => mayHaveLenses(document.fileName))) leave();
    }),
    vscode.debug.onDidChangeActiveDebugSession(again),
    vscode.languages.registerCodeLensProvider({ scheme: 'file', pattern: '**/*.{task.yaml,md}' }, provider),
    { dispose: leave },
  );
}

const mayHaveLenses = (file: string) => /\.(?:task\.yaml|md)$/.test(file);

async function lensesOf(file: string, client: LanguageClient): Promise<vscode.CodeLens[]> {
  const folder = domainFolderOf(file);
  if (!folder) return [];
  const isTasks = file.endsWith('.task.yaml');
  const anchors = (await client.askIn(folder, { type: isTasks ? 'tasks' : 'rules', file })) ?? [];
  if (anchors.length === 0) return [];
  const reader = await lastResults();
  const roots = runPlacesOf(folder);
  if (isTasks) {
    const tasks = await reader.ofTasks(folder, roots);
    return anchors.flatMap(({ name, line }) => {
      const result = tasks.get(name);
      return result ? [lens(line, taskText(result), result.recording)] : [];
    });
  }
  const rules = await reader.ofRules(folder, roots);
  return anchors.flatMap(({ name, line }) => {
    const result = rules.get(name);
    return result ? [lens(line, ruleText(result), result.recording)] : [];
  });
}

function lens(line: number, title: string, recording: string): vscode.CodeLens {
  return new vscode.CodeLens(new vscode.Range(line - 1, 0, line - 1, 0), {
    title,
    tooltip: `Open ${vscode.workspace.asRelativePath(recording)}`,
    command: 'vscode.open',
    arguments: [vscode.Uri.file(recording)],
  });
}
