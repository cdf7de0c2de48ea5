import { mkdirSync, mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import * as vscode from 'vscode';
import { type Task, taskSchema } from '../../engine/core/domain/task.ts';
import { quotedIn } from '../../engine/core/events/quotedResults.ts';
import { type JsonObject, valueAt } from '../../engine/core/values/json.ts';
import type { RolloutSummary } from '../../engine/shell/rolloutSummary.ts';
import type { TaskContent } from '../../webview/messages/protocol.ts';
import { columnBeside } from '../workspace/walkthrough.ts';
import { chosenIn } from './documentItems.ts';
import type { Content, FileScene, Outcome, Running, VisualEditor } from './editorSession.ts';
import { goldFolder } from './goldFolder.ts';
import { answered } from './running.ts';
import { takenIdErrors, withTakenId } from './takenId.ts';
import { misfitsOf } from './toolContent.ts';
import { type KnownTool, toolsOf } from './toolDescriptions.ts';

const kind = { kind: 'task', schema: 'task', item: taskSchema } as const;

export const taskEditor: VisualEditor = {
  view: 'taskEditor',
  title: 'Task',
  contentOf: async (scene) => shownOf(scene),
  open: (message, scene) => (message.type === 'openPlayed' ? openPlayed(scene) : undefined),
  run: (message, scene) => {
    if (message.type !== 'playGold') return undefined;
    // The command line checks the text that is saved; the findings here can be those of an earlier one.
    const { item } = chosenIn<Task>(scene, kind, 'id');
    return item && goldOf(item.value.id, scene.document.uri);
  },
};

/** The latest recording for each document; recordings are outside the workspace. */
const played = new Map<string, string>();

/** Parts of a task that the form has no place for. */
const textOnly = [
  'under',
  'setUp',
  'faults',
  'communicateBy',
  'origin',
  'receipts',
  'endState',
  'milestones',
  'prompt',
  'verifiers',
  'judge',
  'credit',
  'script',
  'tools',
  'laterTools',
  'agent',
] as const satisfies readonly (keyof Task)[];

function shownOf(scene: FileScene): Content {
  const { item, ...list } = chosenIn<Task>(scene, kind, 'id');
  if (!item) return { ...list, content: null };
  const { domain } = scene;
  const { path: base, value: task } = item;
  const taken = takenIdErrors('task', item, scene.document.uri.fsPath, domain?.parts.tasks ?? []);
  const known = domain ? toolsOf(scene.context, domain, scene.refresh) : { tools: [], problem: null };
  const content: TaskContent = {
    editor: 'task',
    base,
    task,
    personas: (domain?.domain.personas ?? []).map(({ id }) => id),
    tools: known.tools.map(({ name, owner, effect, description, parameters }) => ({
      name,
      owner,
      effect,
      description,
      parameters: parameters as TaskContent['tools'][number]['parameters'],
    })),
    undescribed: known.problem,
    misfits: task.actions.flatMap((action, at) => misfitsOfAction(known.tools, action, at)),
    others: [
      ...textOnly.filter((name) => task[name] !== undefined),
      ...(task.user.script ? ['user.script'] : []),
      ...(task.user.otherwise === undefined ? [] : ['user.otherwise']),
    ],
  };
  return { ...list, errors: withTakenId(list.errors, taken), content };
}

function misfitsOfAction(tools: readonly KnownTool[], action: Task['actions'][number], at: number) {
  const tool = tools.find(({ name }) => name === action.tool);
  if (!tool || tool.parameters === null) return [];
  const found = misfitsOf(tool, action.arguments as JsonObject);
  const own = found.filter(({ path }) => quotedIn(valueAt(action.arguments as JsonObject, path)) === null);
  return own.map(({ path, message }) => ({ path: [at, ...path], message }));
}

/** The result of the rollout from the command line, or why it could not be run. */
type Played = Partial<RolloutSummary> & {
  readonly recording?: string;
  readonly error?: { readonly message: string };
};

/** Plays the task with the gold seat, and says how the databases differ then. The runs of the workspace stay as they are. */
function goldOf(task: string, uri: vscode.Uri): (running: Running) => Promise<Outcome> {
  return async (running) => {
    mkdirSync(goldFolder, { recursive: true, mode: 0o700 });
    const out = mkdtempSync(join(goldFolder, 'run-'));
    const command = ['run', running.folder, task, '--agent', 'gold', '--user', 'agenda', '--out', out];
    const answer = (await answered(running, command, [0, 1, 2])) as Played;
    const {
      recording,
      reward = null,
      reason = '',
      warning = null,
      failedBy = null,
      turns = 0,
      card = [],
      changes = [],
    } = answer;
    if (recording === undefined) throw new Error(answer.error?.message ?? 'The rollout left no recording.');
    played.set(uri.toString(), recording);
    const why = warning === null ? reason : `${reason}. Warning: ${warning}`;
    return { type: 'goldPlayed', task, reward, reason: why, failedBy, turns, card, writes: changes };
  };
}

async function openPlayed({ document }: FileScene): Promise<void> {
  const recording = played.get(document.uri.toString());
  if (recording !== undefined)
    await vscode.commands.executeCommand('rehearsal.recording.open', recording, columnBeside());
}
