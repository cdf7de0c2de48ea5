import * as vscode from 'vscode';
import { debugType } from './contributions.ts';

/** Ids of the steps of the walkthrough in package.json. */
export const walkthroughSteps = ['sample', 'test', 'debug', 'fork', 'author', 'model', 'train'] as const;
export type WalkthroughStep = (typeof walkthroughSteps)[number];

/** Ticks a step of the walkthrough. VS Code keeps the tick. */
export function tick(step: WalkthroughStep): void {
  void vscode.commands.executeCommand('setContext', `rehearsal.done.${step}`, true);
}

/** Wraps a command, so that a step is ticked when the command has done its work, and not when it was cancelled. */
export function ticking<Result>(
  step: WalkthroughStep,
  run: (...args: readonly unknown[]) => Promise<Result>,
  isDone: (result: Result) => boolean = (result) => result !== undefined,
): (...args: readonly unknown[]) => Promise<Result> {
  return async (...args) => {
    const result = await run(...args);
    if (isDone(result)) tick(step);
    return result;
  };
}

/** Ticks what debug sessions do, however they were started: one that can stop, and a fork. */
export function tickDebugging(): vscode.Disposable {
  return vscode.Disposable.from(
    vscode.debug.onDidStartDebugSession(({ type, configuration }) => {
      if (type === debugType && configuration['noDebug'] !== true) tick('debug');
    }),
    vscode.debug.onDidReceiveDebugSessionCustomEvent(({ event }) => {
      if (event === 'rehearsal/forked') tick('fork');
    }),
  );
}
