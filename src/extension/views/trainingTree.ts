import * as vscode from 'vscode';
import { type TrainingRun, trainingRuns } from '../training/runFolders.ts';

/** A run's process can end without touching a file, and a new folder can escape the editor's watcher. */
const lookEveryMs = 2000;

/** Training runs of the workspace, newest first, looked at again while the view is visible. */
export function registerTrainingTree(): vscode.Disposable {
  const tree = new TrainingTree();
  const view = vscode.window.createTreeView('rehearsal.training', { treeDataProvider: tree });
  const timer = setInterval(() => view.visible && void tree.refresh(), lookEveryMs);
  return vscode.Disposable.from(view, { dispose: () => clearInterval(timer) });
}

/** One row for each training run; it opens in the dashboard. */
class TrainingTree implements vscode.TreeDataProvider<TrainingRun> {
  readonly #changed = new vscode.EventEmitter<void>();
  readonly onDidChangeTreeData = this.#changed.event;

  #shown = '';

  /** Looks at the runs, and says so when they are not what is shown. */
  async refresh(): Promise<void> {
    if (JSON.stringify(await trainingRuns()) !== this.#shown) this.#changed.fire();
  }

  async getChildren(run?: TrainingRun): Promise<TrainingRun[]> {
    if (run) return [];
    const runs = await trainingRuns();
    this.#shown = JSON.stringify(runs);
    return [...runs];
  }

  getTreeItem(run: TrainingRun): vscode.TreeItem {
    const item = new vscode.TreeItem(run.id);
    item.description = `${run.kind ?? 'preparing'}${run.running ? ', running' : ''}`;
    item.iconPath = new vscode.ThemeIcon(run.running ? 'sync~spin' : 'graph-line');
    item.contextValue = run.running ? 'trainingRun.running' : 'trainingRun';
    item.command = { command: 'rehearsal.training.dashboard', title: 'Open', arguments: [run.folder] };
    return item;
  }
}
