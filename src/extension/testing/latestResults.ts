import type * as vscode from 'vscode';
import { TestRunRequest } from 'vscode';
import type { Outcome } from '../../engine/core/evaluation/outcome.ts';
import { rememberRecording, type TestRecording } from './testRecordings.ts';

/** Names a task, or one of its trials. */
export type ResultOf = { readonly folder: string; readonly task: string; readonly trial: number | null };

/** The result that a test shows. */
export type TestResult = {
  readonly result: Outcome['result'];
  readonly messages: vscode.TestMessage | vscode.TestMessage[];
  readonly ms?: number;
  readonly recording?: TestRecording;
  readonly label?: string;
};

type Shown = TestResult & { readonly item: vscode.TestItem };

/** Finds the items of tasks and trials, as `TaskTree` has them. */
type Items = {
  readonly task: (folder: string, task: string) => vscode.TestItem | undefined;
  readonly trial: (task: vscode.TestItem, trial: number) => vscode.TestItem;
};

/**
 * The last results of tasks and of their trials. A result belongs to a task and not to its item: an item that takes the
 * place of another, for instance because tasks are grouped by something else, gets the result again.
 */
export class LatestResults {
  readonly #controller: vscode.TestController;
  readonly #items: Items;
  /** By the folder of the domain, by task, and by trial; null is the task itself. */
  readonly #domains = new Map<string, Map<string, Map<number | null, Shown>>>();

  constructor(controller: vscode.TestController, items: Items) {
    this.#controller = controller;
    this.#items = items;
  }

  /** Shows a result in a test run, and keeps it. */
  show(run: vscode.TestRun, of: ResultOf, result: TestResult): void {
    const item = this.#itemOf(of);
    if (!item) return;
    const tasks = this.#domains.get(of.folder) ?? new Map<string, Map<number | null, Shown>>();
    const trials = tasks.get(of.task) ?? new Map<number | null, Shown>();
    this.#domains.set(of.folder, tasks.set(of.task, trials.set(of.trial, { ...result, item })));
    showOn(item, run, result);
  }

  /** Forgets the results of a task that is run again. */
  forget(folder: string, task: string): void {
    this.#domains.get(folder)?.delete(task);
  }

  /** Shows the results of a domain's tasks again, as a test run, where they have other items than before. */
  showAgain(folder: string): void {
    const moved = [...(this.#domains.get(folder) ?? [])].flatMap(([task, trials]) =>
      [...trials].flatMap(([trial, shown]) => {
        const of = { folder, task, trial };
        const item = this.#itemOf(of);
        return item && item !== shown.item ? [{ of, item, shown }] : [];
      }),
    );
    if (moved.length === 0) return;
    const request = new TestRunRequest(
      moved.map(({ item }) => item),
      undefined,
      undefined,
      false,
      true,
    );
    const run = this.#controller.createTestRun(request, 'Earlier results');
    for (const { of, shown } of moved) this.show(run, of, shown);
    run.end();
  }

  /**
   * Takes the messages of the last results out of the texts. VS Code shows those of the newest test run only, and keeps
   * the states of tests that a newer one does not have.
   */
  clearMessages(): void {
    if (this.#domains.size === 0) return;
    const request = new TestRunRequest([], undefined, undefined, false, true);
    this.#controller.createTestRun(request, 'Debug session', false).end();
  }

  #itemOf({ folder, task, trial }: ResultOf): vscode.TestItem | undefined {
    const item = this.#items.task(folder, task);
    return item && trial !== null ? this.#items.trial(item, trial) : item;
  }
}

function showOn(item: vscode.TestItem, run: vscode.TestRun, { result, messages, ms, recording, label }: TestResult) {
  if (recording) rememberRecording(item, recording);
  // A description would take the place of the name in what a screen reader says about the row.
  if (label !== undefined) item.label = label;
  if (result === 'passed') run.passed(item, ms);
  else run[result](item, messages, ms);
}
