import * as vscode from 'vscode';
import { type TrainingRun, trainingRuns } from '../runs/runsOfWorkspace.ts';
import type { WatchedRun } from '../training/watchedRuns.ts';
import { markEmpty } from '../workspace/emptyViews.ts';

/** A run's process can end without touching a file, and a new folder can escape the editor's watcher. */
const lookEveryMs = 2000;

/** Shows training runs of the workspace, newest first, and reads them again while the view is visible. */
export function registerTrainingTree(): vscode.Disposable {
  const tree = new TrainingTree();
  const view = vscode.window.createTreeView('rehearsal.training', { treeDataProvider: tree });
  const timer = setInterval(() => view.visible && void tree.refresh(), lookEveryMs);
  return vscode.Disposable.from(view, tree, { dispose: () => clearInterval(timer) });
}

/** One row for each training run; it opens in the dashboard. */
class TrainingTree implements vscode.TreeDataProvider<TrainingRun> {
  readonly #changed = new vscode.EventEmitter<void>();
  readonly onDidChangeTreeData = this.#changed.event;

  /** Runs whose trainer is alive: their files are watched, as in the dashboard. */
  readonly #watched = new Map<string, WatchedRun>();
  #shown = '';

  /** Reads the runs, and reports if they differ from those shown. */
  async refresh(): Promise<void> {
    if (JSON.stringify(await this.#runs()) !== this.#shown) this.#changed.fire();
  }

  async getChildren(run?: TrainingRun): Promise<TrainingRun[]> {
    if (run) return [];
    const runs = await this.#runs();
    this.#shown = JSON.stringify(runs);
    markEmpty('training', runs.length === 0);
    return [...runs];
  }

  getTreeItem(run: TrainingRun): vscode.TreeItem {
    const item = new vscode.TreeItem(run.id);
    item.description = `${run.kind ?? 'preparing'}${run.running ? ', running' : ''}`;
    item.iconPath = new vscode.ThemeIcon(run.running ? 'sync~spin' : 'graph-line');
    item.contextValue = run.running ? 'trainingRun.running' : 'trainingRun';
    item.accessibilityInformation = { label: `${run.id}, ${item.description}` };
    item.command = { command: 'rehearsal.training.dashboard', title: 'Open', arguments: [run.folder] };
    return item;
  }

  dispose(): void {
    for (const run of this.#watched.values()) run.dispose();
    this.#watched.clear();
  }

  /** A run is running while its trainer lives and it has not said that it is over: its process lives a little longer. */
  async #runs(): Promise<readonly TrainingRun[]> {
    const runs = await trainingRuns();
    const living = new Set(runs.flatMap(({ folder, running }) => (running ? [folder] : [])));
    for (const [folder, run] of this.#watched) {
      if (living.has(folder)) continue;
      run.dispose();
      this.#watched.delete(folder);
    }
    if (living.size === 0) return runs;
    // What reads a run's metrics is loaded when there is one to watch: activation does not wait for it.
    const training = await import('../training/watchedRuns.ts');
    const isLeft = (folder: string) => training.isOver(this.#watch(training, folder).metrics.status());
    return runs.map((run) => ({ ...run, running: run.running && !isLeft(run.folder) }));
  }

  #watch({ watchRun }: typeof import('../training/watchedRuns.ts'), folder: string): WatchedRun {
    const known = this.#watched.get(folder);
    if (known) return known;
    const onChange = ({ statusChanged }: { readonly statusChanged: boolean }) => statusChanged && void this.refresh();
    const run = watchRun(folder, { onChange, onProblem: () => undefined });
    this.#watched.set(folder, run);
    return run;
  }
}
