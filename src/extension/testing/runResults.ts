import type * as vscode from 'vscode';
import { TestMessage } from 'vscode';
import type { Coverage } from '../../engine/core/coverage.ts';
import { joinedCoverage } from '../../engine/core/coverage.ts';
import type { Outcome } from '../../engine/core/outcome.ts';
import { terminalText } from '../../engine/core/terminalText.ts';
import type { RunLine } from '../../engine/shell/runLine.ts';
import { type MessagePlaces, messagesOf } from './messages.ts';
import type { TaskTree } from './taskTree.ts';
import { rememberRecording } from './testRecordings.ts';
import { trialTally } from './trialTally.ts';

/** Rollouts of a run whose conversations are all shown; of a larger one, those of the rollouts that did not pass. */
const conversationsShown = 200;

type Playing = { readonly since: number; text: string };

/** Shows the rollouts of one domain's run as the results of a test run, as they come. */
export class RunResults {
  readonly #run: vscode.TestRun;
  readonly #tree: TaskTree;
  readonly #folder: string;
  readonly #trials: number;
  readonly #places: MessagePlaces;
  readonly #isLarge: boolean;
  readonly #isPart: boolean;
  readonly #begun = new Set<vscode.TestItem>();
  readonly #playing = new Map<vscode.TestItem, Playing>();
  readonly #outcomes = new Map<vscode.TestItem, Map<number, Outcome['result']>>();
  readonly #coverage = new Map<vscode.TestItem, Coverage>();
  #strange = 0;

  constructor(
    run: vscode.TestRun,
    tree: TaskTree,
    {
      folder,
      tasks,
      trials,
      places,
      isPart = false,
    }: {
      readonly folder: string;
      /** How many tasks are played. */
      readonly tasks: number;
      readonly trials: number;
      readonly places: MessagePlaces;
      /** It is a single rollout beside those of another run, whose results stay. */
      readonly isPart?: boolean;
    },
  ) {
    this.#run = run;
    this.#tree = tree;
    this.#folder = folder;
    this.#trials = trials;
    this.#places = places;
    this.#isPart = isPart;
    this.#isLarge = tasks * trials > conversationsShown;
  }

  /** What the tests exercised, by task. */
  get coverage(): ReadonlyMap<vscode.TestItem, Coverage> {
    return this.#coverage;
  }

  /** Rollouts of tasks that the tree does not have. */
  get strange(): number {
    return this.#strange;
  }

  /** Whether every trial of a task came out. */
  isDone(task: vscode.TestItem): boolean {
    return (this.#outcomes.get(task)?.size ?? 0) >= this.#trials;
  }

  /** Takes a line of the command line over. */
  take(line: RunLine): void {
    switch (line.type) {
      case 'rolloutBegan': {
        const item = this.#itemOf(line.task, line.trial);
        if (!item) return;
        this.#playing.set(item, { since: Date.now(), text: '' });
        this.#run.started(item);
        return;
      }
      case 'rolloutSpoke':
        this.#speak(line.task, line.trial, line.text);
        return;
      case 'rolloutFinished':
        this.#finish(line.outcome, line.recording);
        return;
      case 'modelWaits':
        this.#run.appendOutput(`The ${line.role} model waits ${line.seconds} s: ${line.reason}.\r\n`);
        return;
      case 'modelAnswered':
        return;
      default:
        line satisfies never;
    }
  }

  #itemOf(task: string, trial: number): vscode.TestItem | undefined {
    const item = this.#tree.task(this.#folder, task);
    if (!item) return undefined;
    if (!this.#isPart && !this.#begun.has(item)) this.#clear(item);
    this.#begun.add(item);
    return this.#trials > 1 || item.children.size > 0 ? this.#tree.trial(item, trial) : item;
  }

  /** What an earlier run said of trials that this one does not have would count as its own. */
  #clear(item: vscode.TestItem): void {
    const node = this.#tree.node(item);
    if (node?.type === 'task') item.label = node.row.id;
    const isKept = (child: vscode.TestItem) => {
      const kept = this.#tree.node(child);
      return this.#trials > 1 && kept?.type === 'trial' && kept.trial < this.#trials;
    };
    const children = [...item.children].map(([, child]) => child);
    if (!children.every(isKept)) item.children.replace(children.filter(isKept));
  }

  #speak(task: string, trial: number, text: string): void {
    const item = this.#itemOf(task, trial);
    if (!item) return;
    if (!this.#isLarge) {
      this.#run.appendOutput(forTerminal(text), undefined, item);
      return;
    }
    const playing = this.#playing.get(item) ?? { since: Date.now(), text: '' };
    playing.text += text;
    this.#playing.set(item, playing);
  }

  #finish(outcome: Outcome, recording: string): void {
    const item = this.#itemOf(outcome.task, outcome.trial);
    const task = this.#tree.task(this.#folder, outcome.task);
    if (!item || !task) {
      this.#strange += 1;
      return;
    }
    rememberRecording(item, { recording, step: outcome.pointers[0]?.step });
    const playing = this.#playing.get(item);
    this.#playing.delete(item);
    if (this.#isLarge && outcome.result !== 'passed' && playing)
      this.#run.appendOutput(forTerminal(playing.text), undefined, item);
    this.#run.appendOutput(forTerminal(`recording ${recording}\n\n`), undefined, item);
    const ms = playing && !this.#isLarge ? Date.now() - playing.since : outcome.seconds * 1000;
    if (outcome.result === 'passed') this.#run.passed(item, ms);
    else this.#run[outcome.result](item, messagesOf(outcome, recording, this.#places), ms);
    const known = this.#coverage.get(task);
    this.#coverage.set(task, known ? joinedCoverage([known, outcome.coverage]) : outcome.coverage);
    const outcomes = this.#outcomes.get(task) ?? new Map<number, Outcome['result']>();
    this.#outcomes.set(task, outcomes.set(outcome.trial, outcome.result));
    if (this.#trials > 1 && !this.#isPart && this.isDone(task)) this.tally(task);
  }

  /** Says of a task how its trials came out together. */
  tally(task: vscode.TestItem): void {
    const outcomes = [...(this.#outcomes.get(task)?.values() ?? [])];
    if (outcomes.length === 0 || this.#trials === 1) return;
    const { result, short, message } = trialTally(outcomes);
    // A description would take the place of the name in what a screen reader says of the row.
    task.label = `${task.id} (${short})`;
    if (result === 'passed') this.#run.passed(task);
    else this.#run[result](task, new TestMessage(message));
    this.#run.appendOutput(forTerminal(`${message}\n`), undefined, task);
  }

  /** What did not come out is skipped: it was cancelled, or never begun. */
  skipRest(tasks: readonly vscode.TestItem[]): void {
    for (const task of tasks) {
      if (this.isDone(task)) continue;
      for (const [item] of this.#playing) if (item === task || item.parent === task) this.#run.skipped(item);
      if ((this.#outcomes.get(task)?.size ?? 0) > 0) this.tally(task);
      else this.#run.skipped(task);
    }
  }

  /** What did not come out could not be run. */
  failRest(tasks: readonly vscode.TestItem[], message: string): void {
    for (const task of tasks) if (!this.isDone(task)) this.#run.errored(task, new TestMessage(message));
  }
}

/** Prepares text of a rollout for the terminal of the Test Results view, which wants both characters of a line's end. */
export function forTerminal(text: string): string {
  return terminalText(text, true).replaceAll('\n', '\r\n');
}
