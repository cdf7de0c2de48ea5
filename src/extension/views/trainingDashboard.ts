import { existsSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import * as vscode from 'vscode';
import { messageOf } from '../../engine/shell/files/fault.ts';
import type { PlayedStep, ToExtension } from '../../webview/messages/protocol.ts';
import type { Context } from '../commandLine/context.ts';
import { saveExport } from '../panels/exportFile.ts';
import { type Channel, connectPage, pageOf, webviewOptions } from '../panels/panel.ts';
import { trajectoryEditorType } from '../panels/trajectoryEditor.ts';
import { isRunning, readRun } from '../runs/runReader.ts';
import { type TrainingRun, trainingRuns } from '../runs/runsOfWorkspace.ts';
import { type MetricsChange, type RunMetrics, readMetrics } from '../training/metricsFile.ts';
import { showRunLog } from '../training/runOperations.ts';
import { readRollouts, recordedName, recordingPath, sameTaskElsewhere } from '../training/stepRollouts.ts';
import { type WatchedRun, watchRun } from '../training/watchedRuns.ts';
import { dashboardType } from '../workspace/contributions.ts';
import { showInformationMessage } from '../workspace/messages.ts';
import { overlayOf } from './runOverlay.ts';

/** The dashboard of this window. */
type Dashboard = {
  readonly panel: vscode.WebviewPanel;
  /** Shows a run. Its metrics are read from the disk and watched until another one is shown. */
  readonly show: (runFolder: string) => Promise<void>;
};

let opened: Dashboard | undefined;

/**
 * Opens the training dashboard, or brings it to the front.
 * @param runFolder the run to show; without it, the one that is shown or the newest
 * @returns the requested folder, or null
 */
export async function openTrainingDashboard(context: Context, runFolder?: string): Promise<string | null> {
  const dashboard = opened ?? mount(context, newPanel(context));
  dashboard.panel.reveal();
  if (runFolder !== undefined) await dashboard.show(runFolder);
  return runFolder ?? null;
}

function newPanel({ extension }: Context): vscode.WebviewPanel {
  return vscode.window.createWebviewPanel(
    dashboardType,
    'Training',
    vscode.ViewColumn.Active,
    webviewOptions(extension.extensionUri),
  );
}

/** Brings the dashboard back into its panel after the window has reloaded. */
export function restoreTrainingDashboard(context: Context, panel: vscode.WebviewPanel): void {
  panel.webview.options = webviewOptions(context.extension.extensionUri);
  mount(context, panel);
}

type Shown = { readonly folder: string; readonly run: WatchedRun };

function mount(context: Context, panel: vscode.WebviewPanel): Dashboard {
  const { log, extension } = context;
  let shown: Shown | undefined;
  let loaded = false;
  /** The runs as the page has them. Its messages name a run by its id. */
  let runs: readonly TrainingRun[] = [];
  const idOf = (folder: string): string => runs.find((run) => run.folder === folder)?.id ?? basename(folder);
  const named = (ids: readonly string[]): readonly TrainingRun[] => runs.filter(({ id }) => ids.includes(id));
  const folderOf = (id: string): string => {
    const [run] = named([id]);
    if (!run) throw new Error(`${id} is not a training run of this workspace`);
    return run.folder;
  };
  /** The run that is shown stays, also where its folder has left the workspace. */
  const listed = async (): Promise<readonly TrainingRun[]> => {
    const found = await trainingRuns();
    const folder = shown?.folder;
    if (folder === undefined || !existsSync(folder) || found.some((run) => run.folder === folder)) return found;
    return [...found, { ...(await readRun(folder)), folder, running: isRunning(folder) }];
  };
  const postSnapshot = async (): Promise<void> => {
    runs = await listed();
    channel.post({ type: 'snapshot', runs: [...runs], ...stateOf(shown, idOf) });
  };

  const show = async (folder: string): Promise<void> => {
    if (shown?.folder !== folder) {
      shown?.run.dispose();
      const onChange = (change: MetricsChange): void => {
        if (shown === mine) postChange(channel, idOf(folder), mine.run.metrics, change);
      };
      const mine: Shown = { folder, run: watchRun(folder, { onChange, onProblem: (problem) => log.warn(problem) }) };
      shown = mine;
      await mine.run.read;
      if (shown !== mine) return;
    }
    if (loaded) await postSnapshot();
  };
  const overlay = overlayOf((runs) => loaded && channel.post({ type: 'overlaid', runs: [...runs] }));
  const showFirst = async (wanted: string | undefined): Promise<void> => {
    loaded = true;
    runs = await listed();
    const run = runs.find(({ id }) => id === wanted) ?? runs[0];
    if (shown === undefined && run !== undefined) await show(run.folder);
    else await postSnapshot();
  };
  const answer = (message: Request): Promise<void> => {
    if (message.type === 'showLog') return showRunLog(context, shown?.folder);
    if (message.type === 'overlay') return overlay.show(named(message.runs));
    return perform({ channel, show, folderOf }, message, shown?.folder);
  };
  const begin = async (message: Extract<ToExtension, { type: 'ready' }>): Promise<void> => {
    await showFirst(message.run);
    await overlay.show(named(message.overlays ?? []));
  };
  const channel = connectPage(panel.webview, log, (message) => {
    const handled = message.type === 'ready' ? begin(message) : answer(message);
    handled.catch((error: unknown) => log.error(`Training dashboard: ${String(error)}`));
  });
  const watch = watchRuns(panel, listed, (found) => {
    if (!loaded) return;
    runs = found;
    if (shown !== undefined && !existsSync(shown.folder)) {
      shown.run.dispose();
      shown = undefined;
    }
    if (shown === undefined) void showFirst(undefined);
    else channel.post({ type: 'runs', runs: [...runs] });
  });

  panel.webview.html = pageOf(panel.webview, extension.extensionUri, 'trainingDashboard', 'Training');
  const dashboard = { panel, show };
  opened = dashboard;
  panel.onDidDispose(() => {
    if (opened === dashboard) opened = undefined;
    shown?.run.dispose();
    shown = undefined;
    overlay.dispose();
    channel.dispose();
    watch.dispose();
  });
  return dashboard;
}

/**
 * The interval at which the list of runs is read, in milliseconds: the editor's file watcher misses folders created in
 * one step.
 */
const runsInterval = 2000;

/** Calls back when a run came or went, or the configuration of one has been written, while the panel is visible. */
function watchRuns(
  panel: vscode.WebviewPanel,
  listed: () => Promise<readonly TrainingRun[]>,
  onChange: (runs: readonly TrainingRun[]) => void,
): vscode.Disposable {
  let known = '[]';
  const look = async (): Promise<void> => {
    if (!panel.visible) return;
    const runs = await listed();
    const found = JSON.stringify(runs);
    if (found === known) return;
    known = found;
    onChange(runs);
  };
  const timer = setInterval(() => void look(), runsInterval);
  return { dispose: () => clearInterval(timer) };
}

/** Returns what a snapshot has of the run that is shown. */
function stateOf(shown: Shown | undefined, idOf: (folder: string) => string) {
  const metrics = shown?.run.metrics;
  return {
    run: shown === undefined ? null : idOf(shown.folder),
    points: [...(metrics?.points() ?? [])],
    status: metrics?.status() ?? ({ type: 'waiting' } as const),
    data: metrics?.data() ?? null,
    problems: [...(metrics?.problems() ?? [])],
    alarms: [...(metrics?.alarms() ?? [])],
  };
}

function postChange(channel: Channel, run: string, metrics: RunMetrics, change: MetricsChange): void {
  if (change.reset) channel.post({ type: 'restarted', run, points: [...metrics.points()] });
  else if (change.points.length > 0) channel.post({ type: 'appended', run, points: [...change.points] });
  if (change.statusChanged) {
    const [status, data, problems] = [metrics.status(), metrics.data(), [...metrics.problems()]];
    channel.post({ type: 'status', run, status, data, problems });
  }
  if (change.alarmsChanged) channel.post({ type: 'alarms', run, alarms: [...metrics.alarms()] });
}

type Request = Exclude<ToExtension, { type: 'ready' }>;

/** The page, and the folders and ids of the runs that it knows. */
type Page = {
  readonly channel: Channel;
  readonly show: Dashboard['show'];
  readonly folderOf: (id: string) => string;
};

async function perform({ channel, show, folderOf }: Page, message: Request, shown: string | undefined): Promise<void> {
  switch (message.type) {
    case 'selectRun':
      return show(folderOf(message.run));
    case 'openStep':
      return postRollouts(channel, folderOf(message.run), message);
    case 'openRollout':
      return openRecording(folderOf(message.run), message.file);
    case 'stop':
      await vscode.commands.executeCommand('rehearsal.training.stop', folderOf(message.run));
      return;
    case 'resume':
      await vscode.commands.executeCommand('rehearsal.training.resume', folderOf(message.run));
      return;
    case 'train':
      await vscode.commands.executeCommand(`rehearsal.training.${message.kind}`);
      return;
    case 'compareStep':
      return compareStep(folderOf(message.run), message.file);
    case 'export':
      await saveExport(message, shown === undefined ? '' : resolve(shown, '..', '..', '..'));
      return;
    case 'overlay':
    case 'showLog':
    case 'debugRecording':
    case 'openPlace':
    case 'openAsText':
    case 'timelineToggled':
    case 'compareRecordings':
    case 'compareAgain':
    case 'stopComparing':
    case 'openCompared':
    case 'editor':
      return;
    default:
      return message satisfies never;
  }
}

async function postRollouts(channel: Channel, folder: string, { run, step, purpose }: PlayedStep): Promise<void> {
  const played = { run, step, purpose };
  try {
    channel.post({
      type: 'rollouts',
      ...played,
      rollouts: [...(await readRollouts(folder, played))],
      problem: null,
    });
  } catch (error) {
    const problem = `The rollouts of optimizer step ${step} can't be read: ${messageOf(error)}`;
    channel.post({ type: 'rollouts', ...played, rollouts: [], problem });
  }
}

/** The same task at two optimizer steps: a person picks the other rollout, the older one is on the left. */
async function compareStep(folder: string, file: string): Promise<void> {
  const path = recordingPath(folder, file);
  if (path === null) throw new Error(`${file} is not a recording of this run`);
  const others = await sameTaskElsewhere(folder, file);
  if (others.length === 0) {
    void showInformationMessage('No other optimizer step of this run has a recording of this task.');
    return;
  }
  const metrics = readMetrics(folder);
  await metrics.refresh();
  const items = others.map(({ recorded, rollout }) => ({
    label: `${recordedName(recorded)}${metrics.isSuperseded(recorded.step) ? ', superseded' : ''}`,
    description: `member ${rollout.member ?? '?'}, ${rollout.reward === null ? 'no reward' : `reward ${rollout.reward}`}`,
    file: rollout.file ?? '',
  }));
  const placeHolder = `${others[0]?.rollout.task}: compare with which rollout?`;
  const picked = await vscode.window.showQuickPick(items, { placeHolder });
  const other = picked && recordingPath(folder, picked.file);
  if (!other) return;
  const [first, second] = [path, other].sort();
  await vscode.commands.executeCommand('rehearsal.recordings.compare', first, second);
}

async function openRecording(folder: string, file: string): Promise<void> {
  const path = recordingPath(folder, file);
  if (path === null) throw new Error(`${file} is not a recording of this run`);
  await vscode.commands.executeCommand(
    'vscode.openWith',
    vscode.Uri.file(path),
    trajectoryEditorType,
    vscode.ViewColumn.Beside,
  );
}
