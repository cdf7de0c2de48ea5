import type * as vscode from 'vscode';
import type { Context } from '../commandLine/context.ts';
import type { TaskTree } from './taskTree.ts';

/** The context that every part of the Test Explorer uses. */
export type Explorer = {
  readonly context: Context;
  readonly controller: vscode.TestController;
  readonly tree: TaskTree;
  /** Folders of runs whose results are shown already, or are being shown, with the finished rollouts in each. */
  readonly shown: Map<string, number>;
  /** Tests that are debugged now: what their sessions record is shown when they end. */
  readonly debugged: Set<vscode.TestItem>;
};
