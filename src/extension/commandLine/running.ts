import * as vscode from 'vscode';
import { debugType } from '../workspace/contributions.ts';
import { showInformationMessage } from '../workspace/messages.ts';
import { type Activity, type Answered, lineOf, nothingSpent, priceIn, spentAfter, statusOf } from './activity.ts';

/** The actions available for something that runs. */
type Controls = {
  /** Ends it gracefully: what is recorded stays. */
  readonly stop: () => unknown;
  /** Shows it. */
  readonly open: () => unknown;
};

/** The handle with which the owner of something that runs reports about it. */
export type RunningHandle = {
  /** A model has answered. */
  readonly answered: (answer: Answered) => void;
  /** Shows its progress. */
  readonly say: (detail: string) => void;
  readonly end: () => void;
};

type Entry = Controls & { activity: Activity };

const entries = new Set<Entry>();
const changed = new vscode.EventEmitter<void>();

/** Everything that the editor started is registered here, and the status bar shows it until its end. */
export function beginRunning(about: Pick<Activity, 'type' | 'title'>, controls: Controls): RunningHandle {
  const entry: Entry = {
    ...controls,
    activity: { ...about, detail: '', spent: nothingSpent, isStopping: false },
  };
  entries.add(entry);
  changed.fire();
  const update = (part: Partial<Activity>): void => {
    entry.activity = { ...entry.activity, ...part };
    changed.fire();
  };
  return {
    answered: (answer) => update({ spent: spentAfter(entry.activity.spent, answer, ownPrice()) }),
    say: (detail) => update({ detail }),
    end: () => {
      if (entries.delete(entry)) changed.fire();
    },
  };
}

/** Returns the user's price of a model, for answers that report tokens without money. */
function ownPrice() {
  return priceIn(vscode.workspace.getConfiguration('rehearsal').get<string>('model.price') ?? '');
}

/** The item of the status bar, and the debug sessions that it shows. */
export function registerRunning(): vscode.Disposable {
  let item: vscode.StatusBarItem | undefined;
  const show = (): void => {
    const status = statusOf([...entries].map(({ activity }) => activity));
    if (!status) {
      item?.hide();
      return;
    }
    item ??= newItem();
    item.text = status.text;
    item.tooltip = status.tooltip;
    item.accessibilityInformation = { label: `Rehearsal: ${status.tooltip.replaceAll('\n', '. ')}`, role: 'button' };
    item.show();
  };
  const listener = changed.event(show);
  return vscode.Disposable.from(listener, followDebugSessions(), { dispose: () => item?.dispose() });
}

function newItem(): vscode.StatusBarItem {
  const item = vscode.window.createStatusBarItem('rehearsal.running', vscode.StatusBarAlignment.Left, 10);
  item.name = 'Rehearsal: what is running';
  item.command = 'rehearsal.running.show';
  return item;
}

/** Shows what is running, to stop or open it. Returns what was chosen. */
export async function showRunning(): Promise<string | undefined> {
  const items = [...entries].flatMap((entry) => {
    const line = lineOf(entry.activity);
    const open = { label: `$(go-to-file) Open ${entry.activity.title}`, description: line, act: () => entry.open() };
    const stop = { label: `$(debug-stop) Stop ${entry.activity.title}`, description: line, act: () => halt(entry) };
    return entry.activity.isStopping ? [open] : [stop, open];
  });
  if (items.length === 0) {
    void showInformationMessage('Rehearsal is not running anything.');
    return undefined;
  }
  const picked = await vscode.window.showQuickPick(items, { placeHolder: 'What is running', matchOnDescription: true });
  await picked?.act();
  return picked?.label;
}

async function halt(entry: Entry): Promise<void> {
  entry.activity = { ...entry.activity, isStopping: true };
  changed.fire();
  await entry.stop();
}

function followDebugSessions(): vscode.Disposable {
  const sessions = new Map<string, RunningHandle>();
  return vscode.Disposable.from(
    vscode.debug.onDidStartDebugSession((session) => {
      if (session.type !== debugType) return;
      const { noDebug } = session.configuration as { readonly noDebug?: boolean };
      const handle = beginRunning(
        { type: noDebug ? 'rollout' : 'debugging', title: session.name },
        {
          stop: () => vscode.debug.stopDebugging(session),
          open: () => vscode.commands.executeCommand('workbench.debug.action.toggleRepl'),
        },
      );
      sessions.get(session.id)?.end(); // a session that is restarted keeps its id
      sessions.set(session.id, handle);
    }),
    vscode.debug.onDidReceiveDebugSessionCustomEvent(({ session, event, body }) => {
      if (event === 'rehearsal/modelAnswered') sessions.get(session.id)?.answered(body as Answered);
    }),
    vscode.debug.onDidTerminateDebugSession(({ id }) => {
      sessions.get(id)?.end();
      sessions.delete(id);
    }),
  );
}
