import * as vscode from 'vscode';
import { type TrainingRun, trainingRuns } from '../training/runFolders.ts';

/** Training runs of the workspace, newest first; one opens in the dashboard. */
export class TrainingTree implements vscode.TreeDataProvider<TrainingRun> {
  readonly #changed = new vscode.EventEmitter<void>();
  readonly onDidChangeTreeData = this.#changed.event;

  refresh(): void {
    this.#changed.fire();
  }

  getChildren(run?: TrainingRun): TrainingRun[] {
    return run ? [] : [...trainingRuns()];
  }

  getTreeItem(run: TrainingRun): vscode.TreeItem {
    const item = new vscode.TreeItem(run.id);
    item.description = `${run.kind}${run.running ? ', running' : ''}`;
    item.iconPath = new vscode.ThemeIcon(run.running ? 'sync~spin' : 'graph-line');
    item.contextValue = run.running ? 'trainingRun.running' : 'trainingRun';
    item.command = { command: 'rehearsal.training.dashboard', title: 'Open', arguments: [run.folder] };
    return item;
  }
}
