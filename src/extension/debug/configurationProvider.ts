import { existsSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import * as vscode from 'vscode';
import { domainFolderOf } from '../../engine/shell/domain/domainFolder.ts';
import { nameOf } from '../../engine/shell/records/recordingName.ts';
import { runFileName } from '../../engine/shell/records/runFiles.ts';
import { lastResults } from '../language/lastResult.ts';
import { runPlacesOf, writableWorkOf } from '../runs/runPlaces.ts';
import type { NamedPython } from '../training/learning.ts';
import { activeFile, cursorLine, openFiles } from '../workspace/activeFile.ts';
import { debugType } from '../workspace/contributions.ts';
import { type LikelyTasks, pickTask } from '../workspace/pickTask.ts';
import { domainFolders, domainOfRecording, pickDomain, readDomain, taskAt } from '../workspace/workspaceDomains.ts';
import { standbyToken } from './standbyAdapter.ts';

type Configuration = vscode.DebugConfiguration & { domain?: string; task?: string; recording?: string; runs?: string };

/**
 * Fills what a launch lacks from the active editor, so that F5 works without a launch.json: a recording is
 * stepped through, a task file starts the task at the cursor, any other file of a domain asks which task.
 */
export const configurationProvider: vscode.DebugConfigurationProvider = {
  resolveDebugConfiguration: async (_folder, given) => {
    // VS Code starts what an adapter asks for as a session of the adapter's own type.
    const { childType, ...child } = given;
    if (typeof childType === 'string') return { ...child, type: childType };
    const configuration: Configuration = given.type ? { ...bare, ...given } : { ...bare };
    const file = activeFile();
    if (configuration.request === 'attach' || configuration.recording) return attached(configuration);
    if (!given.type && file?.endsWith('.traj.jsonl')) {
      return attached({ ...configuration, name: nameOf(file), recording: file });
    }
    const domain = configuration.domain ?? (file ? domainFolderOf(file) : undefined) ?? (await pickDomain());
    if (!domain) return undefined;
    if (configuration.task) return { ...configuration, domain };
    const task = await taskFor(domain, file);
    return task ? { ...configuration, name: task, domain, task } : undefined;
  },
  resolveDebugConfigurationWithSubstitutedVariables: (_folder, given) => {
    const python = vscode.workspace.getConfiguration('rehearsal').get<NamedPython>('trainer.python');
    const configuration: Configuration = { token: standbyToken, ...(python?.length ? { python } : {}), ...given };
    const { domain, runs } = configuration;
    if (configuration.request !== 'launch' || !domain || runs) return configuration;
    const writable = writableWorkOf('runs', domain);
    return writable === undefined ? undefined : { ...configuration, runs: writable };
  },
};

/** The settings of every session. The conversation shows in the Debug Console, so the session opens it. */
const bare = {
  type: debugType,
  request: 'launch',
  name: 'Rehearsal',
  internalConsoleOptions: 'openOnSessionStart',
} as const;

/** A recording beside its run.json names its domain; one of a training run has none, but says the domain's name. */
async function attached(configuration: Configuration): Promise<Configuration | undefined> {
  const { domain, recording } = configuration;
  if (domain || !recording || !existsSync(recording) || existsSync(join(dirname(recording), runFileName))) {
    return { ...configuration, request: 'attach' };
  }
  const folder = (await domainOfRecording(recording)) ?? (await pickDomain());
  return folder ? { ...configuration, request: 'attach', domain: folder } : undefined;
}

/**
 * Every task of a workspace folder as a launch, in the debug view's list. VS Code asks for each folder of the window, and for
 * the settings of the workspace and of the person, which have none.
 */
export const dynamicConfigurations: vscode.DebugConfigurationProvider = {
  provideDebugConfigurations: async (own, token) => {
    if (!own) return [];
    const reading = new AbortController();
    token?.onCancellationRequested(() => reading.abort());
    const read = (folder: string) => readDomain(folder, { signal: reading.signal });
    const folders = (await domainFolders()).filter((folder) => isIn(own, folder));
    const domains = await Promise.all(folders.map(read)).catch((error: unknown) => {
      if (reading.signal.aborted) return [];
      throw error;
    });
    const all = domains.flatMap(({ folder, tasks }) => tasks.map(({ id }) => ({ domain: folder, task: id })));
    const byTask = Map.groupBy(all, ({ task }) => task);
    return all.map(({ domain, task }) => {
      const place = byTask.get(task)?.length === 1 ? '' : ` (${vscode.workspace.asRelativePath(domain)})`;
      return { type: debugType, request: 'launch', name: `Rehearse ${task}${place}`, domain, task };
    });
  },
};

/** Whether a folder is in a workspace folder, and in none that is inside that. */
function isIn(own: vscode.WorkspaceFolder, folder: string): boolean {
  return vscode.workspace.getWorkspaceFolder(vscode.Uri.file(folder))?.uri.fsPath === own.uri.fsPath;
}

async function taskFor(folder: string, file: string | undefined): Promise<string | undefined> {
  if (file && domainFolderOf(file) === folder) {
    const task = await taskAt(file, cursorLine(file));
    if (task) return task;
  }
  return pickTask(folder, 'Which task?', likelyTasks);
}

/** Asks which task of a domain is meant, whatever file is open. Returns nothing where the list was closed. */
export async function taskInDomain(
  domain: string,
): Promise<{ readonly domain: string; readonly task: string } | undefined> {
  const task = await pickTask(domain, `Which task of ${basename(domain)}?`, likelyTasks);
  return task === undefined ? undefined : { domain, task };
}

/** The tasks of open files, then those that failed in their last run. */
const likelyTasks: LikelyTasks = async ({ folder, locations }) => {
  const open = new Set(openFiles());
  const results = await (await lastResults()).ofTasks(folder, runPlacesOf(folder));
  return new Map([
    ...[...locations.tasks].flatMap(([id, at]) => (open.has(at.file) ? [[id, 'open'] as const] : [])),
    ...[...results].flatMap(([id, { passed, scored }]) =>
      passed < scored ? [[id, 'failed in its last run'] as const] : [],
    ),
  ]);
};
