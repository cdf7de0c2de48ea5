import { basename, join } from 'node:path';
import * as vscode from 'vscode';
import { messageOf } from '../../engine/shell/files/fault.ts';
import type { LoadedDomain } from '../../engine/shell/load/loadedDomain.ts';
import { nameOf } from '../../engine/shell/records/recordingName.ts';
import type { Row } from '../runs/rows.ts';
import type { RunRollout, RunSummary, RunTask } from '../runs/runFolder.ts';
import { runPlaces } from '../runs/runPlaces.ts';
import { type TrainingRun, trainingRuns } from '../runs/runsOfWorkspace.ts';
import type { RunWatch } from '../runs/runWatch.ts';
import type { RecordedStep } from '../training/stepRollouts.ts';
import { markEmpty } from '../workspace/emptyViews.ts';
import { domainFolders, domainOfRecording, readDomain } from '../workspace/workspaceDomains.ts';
import { withKeys } from './focusedRow.ts';

export type RunNode = { readonly type: 'run'; readonly folder: string };
export type RecordingNode = { readonly type: 'recording'; readonly rollout: RunRollout };
type TaskNode = { readonly type: 'runTask'; readonly run: RunNode; readonly task: RunTask };
type TrainingNode = { readonly type: 'training'; readonly run: TrainingRun };
type StepNode = {
  readonly type: 'trainingStep';
  readonly run: TrainingNode;
  readonly recorded: RecordedStep;
  readonly isSuperseded: boolean;
};
/** A row that shows the next page of its parent. */
type MoreNode = { readonly type: 'more'; readonly of: ParentNode | undefined; readonly left: number };
type ProblemNode = { readonly type: 'problem'; readonly text: string };
type ParentNode = RunNode | TaskNode | TrainingNode | StepNode;
export type RunsNode = ParentNode | RecordingNode | MoreNode | ProblemNode;

/** The command behind the last row of a page; no menu has it. */
const moreCommand = 'rehearsal.runs.more';

const rowsPerPage = 100;

/** Runs of the workspace, their tasks and their recordings; read when they are opened, and watched while it is shown. */
export function registerRunsTree(runs: RunWatch): vscode.Disposable {
  const tree = new RunsTree();
  const view = vscode.window.createTreeView('rehearsal.runs', { treeDataProvider: tree, canSelectMany: true });
  let heard: vscode.Disposable | undefined;
  const hear = (visible: boolean) => {
    heard?.dispose();
    heard = visible ? runs.onDidChange(() => tree.refresh()) : undefined;
  };
  hear(view.visible);
  return vscode.Disposable.from(
    withKeys('rehearsal.runs', view),
    view.onDidChangeVisibility(({ visible }) => {
      hear(visible);
      if (visible) tree.refresh();
    }),
    { dispose: () => heard?.dispose() },
    refreshed.event(() => tree.refresh()),
    vscode.commands.registerCommand(moreCommand, (node: MoreNode) => tree.showMore(node)),
  );
}

const refreshed = new vscode.EventEmitter<void>();

/** Reads the runs again. */
export function refreshRuns(): void {
  refreshed.fire();
}

/** Returns what reads a run's files needs the engine's schemas: it is loaded when the view is shown. */
const reader = () => import('../runs/runFolder.ts');
const rows = () => import('../runs/rows.ts');

class RunsTree implements vscode.TreeDataProvider<RunsNode> {
  readonly #changed = new vscode.EventEmitter<RunsNode | undefined>();
  readonly onDidChangeTreeData = this.#changed.event;
  /** The number of rows shown below a node, if the user requested more than a page. */
  readonly #shown = new Map<string, number>();
  /** Domains by their folders, each read once until the view is read again. */
  readonly #domains = new Map<string, Promise<LoadedDomain>>();

  /** The folders of the domains of the workspace, read once until the view is read again. */
  #folders: Promise<readonly string[]> | undefined;

  refresh(): void {
    this.#domains.clear();
    this.#folders = undefined;
    this.#changed.fire(undefined);
  }

  showMore({ of }: MoreNode): void {
    this.#shown.set(keyOf(of), this.#limit(of) + rowsPerPage);
    this.refresh();
  }

  #limit(node: ParentNode | undefined): number {
    return this.#shown.get(keyOf(node)) ?? rowsPerPage;
  }

  /** Returns the path of a domain where another domain of the workspace has the same name, else an empty text. */
  async #placeOf(domain: string): Promise<string> {
    this.#folders ??= domainFolders();
    const isSame = (folder: string) => folder !== domain && basename(folder) === basename(domain);
    return (await this.#folders).some(isSame) ? vscode.workspace.asRelativePath(domain) : '';
  }

  /** The domain that a recording was made in, for the words of its policy. */
  async #domainOf(recording: string): Promise<LoadedDomain | undefined> {
    const folder = await domainOfRecording(recording);
    if (folder === undefined) return undefined;
    const reading = this.#domains.get(folder) ?? readDomain(folder);
    this.#domains.set(folder, reading);
    return reading;
  }

  async getChildren(node?: RunsNode): Promise<RunsNode[]> {
    if (node?.type === 'recording' || node?.type === 'more' || node?.type === 'problem') return [];
    try {
      const { pageOf } = await rows();
      const children = await childrenOf(node);
      if (!node) markEmpty('runs', children.length === 0);
      const page = pageOf(children, this.#limit(node));
      return page.left === 0 ? [...page.rows] : [...page.rows, { type: 'more', of: node, left: page.left }];
    } catch (error) {
      return [{ type: 'problem', text: messageOf(error) }];
    }
  }

  async getTreeItem(node: RunsNode): Promise<vscode.TreeItem> {
    switch (node.type) {
      case 'run':
        return runItem(node, (folder) => this.#placeOf(folder));
      case 'runTask': {
        const { taskRow } = await rows();
        return itemOf(node, taskRow(node.task), vscode.TreeItemCollapsibleState.Collapsed);
      }
      case 'recording':
        return recordingItem(node, (recording) => this.#domainOf(recording));
      case 'training': {
        const { id, kind } = node.run;
        const row = { label: id, description: `training, ${kind ?? 'preparing'}`, tooltip: node.run.folder };
        return itemOf(node, { ...row, icon: 'graph-line', color: null }, vscode.TreeItemCollapsibleState.Collapsed);
      }
      case 'trainingStep': {
        const { recordedName } = await import('../training/stepRollouts.ts');
        const label = recordedName(node.recorded);
        const description = node.isSuperseded ? 'superseded' : '';
        const row = { label, description, tooltip: '', icon: 'layers', color: null };
        return itemOf(node, row, vscode.TreeItemCollapsibleState.Collapsed);
      }
      case 'more': {
        const row = {
          label: `Show more (${node.left} left)`,
          description: '',
          tooltip: '',
          icon: 'ellipsis',
          color: null,
        };
        const item = itemOf(node, row, vscode.TreeItemCollapsibleState.None);
        item.command = { command: moreCommand, title: 'Show more', arguments: [node] };
        return item;
      }
      case 'problem': {
        const row = { label: node.text, description: '', tooltip: node.text, icon: 'warning', color: null };
        return itemOf(node, row, vscode.TreeItemCollapsibleState.None);
      }
      default:
        return node satisfies never;
    }
  }
}

function keyOf(node: ParentNode | undefined): string {
  if (!node) return '';
  switch (node.type) {
    case 'run':
      return node.folder;
    case 'runTask':
      return `${node.run.folder} ${node.task.task}`;
    case 'training':
      return node.run.folder;
    case 'trainingStep':
      return `${node.run.run.folder} ${node.recorded.purpose} ${node.recorded.step}`;
    default:
      return node satisfies never;
  }
}

async function childrenOf(node: ParentNode | undefined): Promise<readonly RunsNode[]> {
  const { readRunRollouts, readRunSummary, readRunTasks, runFoldersIn } = await reader();
  if (!node) {
    const runs = (await runFoldersIn(await runPlaces())).map((folder): RunNode => ({ type: 'run', folder }));
    const training = (await trainingRuns()).map((run): TrainingNode => ({ type: 'training', run }));
    return [...runs, ...training];
  }
  switch (node.type) {
    case 'run':
      return (await readRunTasks(await readRunSummary(node.folder))).map((task) => ({
        type: 'runTask',
        run: node,
        task,
      }));
    case 'runTask':
      return (await readRunRollouts(node.run.folder, node.task.task)).map((rollout) => ({
        type: 'recording',
        rollout,
      }));
    case 'training': {
      const [{ recordedSteps }, { readMetrics }] = await Promise.all([
        import('../training/stepRollouts.ts'),
        import('../training/metricsFile.ts'),
      ]);
      const metrics = readMetrics(node.run.folder);
      const [steps] = await Promise.all([recordedSteps(node.run.folder), metrics.refresh()]);
      return steps.map((recorded) => {
        const isSuperseded = metrics.isSuperseded(recorded.step);
        return { type: 'trainingStep', run: node, recorded, isSuperseded };
      });
    }
    case 'trainingStep': {
      const { readRollouts } = await import('../training/stepRollouts.ts');
      const { folder } = node.run.run;
      return (await readRollouts(folder, node.recorded)).flatMap(({ file, reward, endReason, failure }) =>
        file === null
          ? []
          : [
              {
                type: 'recording' as const,
                rollout: {
                  recording: join(folder, file),
                  type: 'finished' as const,
                  reward,
                  endReason: failure ?? endReason,
                },
              },
            ],
      );
    }
    default:
      return node satisfies never;
  }
}

async function runItem(node: RunNode, placeOf: (folder: string) => Promise<string>): Promise<vscode.TreeItem> {
  const [{ runRow, shortTime }, { readRunSummary }] = await Promise.all([rows(), reader()]);
  const summary: RunSummary = await readRunSummary(node.folder);
  const item = itemOf(
    node,
    runRow(summary, shortTime, summary.file ? await placeOf(summary.file.folder) : ''),
    summary.file ? vscode.TreeItemCollapsibleState.Collapsed : vscode.TreeItemCollapsibleState.None,
  );
  item.id = node.folder;
  if (!summary.file) item.contextValue = 'run.broken';
  return item;
}

async function recordingItem(
  node: RecordingNode,
  domainOf: (recording: string) => Promise<LoadedDomain | undefined>,
): Promise<vscode.TreeItem> {
  const [{ rolloutRow }, { readParent, readRolloutEnd }] = await Promise.all([rows(), reader()]);
  const { recording } = node.rollout;
  const [end, parent] = await Promise.all([readRolloutEnd(recording, domainOf), readParent(recording)]);
  const row = rolloutRow(node.rollout, nameOf(recording), end, parent);
  const item = itemOf(node, row, vscode.TreeItemCollapsibleState.None);
  item.command = { command: 'rehearsal.recording.open', title: 'Open', arguments: [node] };
  return item;
}

function itemOf(node: RunsNode, row: Row, state: vscode.TreeItemCollapsibleState): vscode.TreeItem {
  const item = new vscode.TreeItem(row.label, state);
  if (node.type === 'recording') item.id = node.rollout.recording;
  item.description = row.description;
  item.tooltip = row.tooltip;
  item.iconPath = new vscode.ThemeIcon(row.icon, row.color === null ? undefined : new vscode.ThemeColor(row.color));
  item.contextValue = node.type;
  item.accessibilityInformation = { label: [row.label, row.description].filter(Boolean).join(', ') };
  return item;
}
