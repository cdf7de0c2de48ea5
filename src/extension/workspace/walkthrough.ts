import * as vscode from 'vscode';
import { debugType } from './contributions.ts';

/** Ids of the steps of the walkthrough in package.json. */
export const walkthroughSteps = ['sample', 'test', 'debug', 'fork', 'author', 'model', 'train'] as const;
export type WalkthroughStep = (typeof walkthroughSteps)[number];

/** The title of the walkthrough in package.json. */
export const walkthroughTitle = 'Rehearse an agent in five minutes';

const doneKey = 'rehearsal.walkthrough.done';

/** Keeps the steps that are done, also for other windows. */
let memory: Pick<vscode.Memento, 'get' | 'update'> | undefined;
/** Whether the walkthrough was shown in this window. */
let isKnown = false;

/**
 * Ticks a step of the walkthrough. VS Code ignores for the rest of the session a tick that comes before its page of
 * walkthroughs was shown, so the tick waits for that.
 */
export async function tick(step: WalkthroughStep): Promise<void> {
  const ticked = isKnown ? setDone(step) : undefined;
  const steps = doneSteps();
  if (!steps.includes(step)) await memory?.update(doneKey, [...steps, step]);
  await ticked;
}

function doneSteps(): readonly WalkthroughStep[] {
  return memory?.get<readonly WalkthroughStep[]>(doneKey) ?? [];
}

function setDone(step: WalkthroughStep): Thenable<unknown> {
  return vscode.commands.executeCommand('setContext', `rehearsal.done.${step}`, true);
}

/** Whether a tab can be the page of walkthroughs: its label is "Welcome" in the language of VS Code, or has our title. */
function maybeWalkthrough({ label, input }: vscode.Tab): boolean {
  if (label.includes(walkthroughTitle)) return true;
  return input === undefined && (label === 'Welcome' || !vscode.env.language.startsWith('en'));
}

/** Whether a group of editors shows the walkthrough, which is in a narrow column. */
const showsWalkthrough = ({ activeTab }: vscode.TabGroup): boolean =>
  activeTab !== undefined && maybeWalkthrough(activeTab);

/** Returns the column in which a file opens: the active one, or the first other one where that shows the walkthrough. */
export function columnOfFile(): vscode.ViewColumn {
  const { activeTabGroup, all } = vscode.window.tabGroups;
  if (!showsWalkthrough(activeTabGroup)) return vscode.ViewColumn.Active;
  return all.find((group) => !showsWalkthrough(group))?.viewColumn ?? vscode.ViewColumn.Active;
}

/** Returns the column next to the active one, or the active one where the next one shows the walkthrough. */
export function columnBeside(): vscode.ViewColumn {
  const { activeTabGroup, all } = vscode.window.tabGroups;
  const next = all.find(({ viewColumn }) => viewColumn === activeTabGroup.viewColumn + 1);
  return showsWalkthrough(activeTabGroup) || (next && showsWalkthrough(next))
    ? columnOfFile()
    : vscode.ViewColumn.Beside;
}

/** Wraps a command, so that a step is ticked when the command has done its work, and not when it was cancelled. */
export function ticking<Result>(
  step: WalkthroughStep,
  run: (...args: readonly unknown[]) => Promise<Result>,
  isDone: (result: Result) => boolean = (result) => result !== undefined,
): (...args: readonly unknown[]) => Promise<Result> {
  return async (...args) => {
    const result = await run(...args);
    if (isDone(result)) await tick(step);
    return result;
  };
}

/**
 * Ticks the steps that are done when the walkthrough is shown, and what debug sessions do, however they were started: one
 * that can stop, one that ran to its end, and a fork.
 */
export function registerWalkthrough(done: Pick<vscode.Memento, 'get' | 'update'>): vscode.Disposable {
  memory = done;
  isKnown = false;
  const look = (tabs: readonly vscode.Tab[]) => {
    if (isKnown || !tabs.some(maybeWalkthrough)) return;
    isKnown = true;
    for (const step of doneSteps()) void setDone(step);
  };
  look(vscode.window.tabGroups.all.flatMap(({ tabs }) => tabs));
  return vscode.Disposable.from(
    vscode.window.tabGroups.onDidChangeTabs(({ opened, changed }) => look([...opened, ...changed])),
    vscode.debug.onDidStartDebugSession(({ type, configuration }) => {
      if (type === debugType && configuration['noDebug'] !== true) void tick('debug');
    }),
    vscode.debug.onDidTerminateDebugSession(({ type, configuration }) => {
      if (type === debugType && configuration['noDebug'] === true) void tick('test');
    }),
    vscode.debug.onDidReceiveDebugSessionCustomEvent(({ event }) => {
      if (event === 'rehearsal/forked') void tick('fork');
    }),
  );
}
