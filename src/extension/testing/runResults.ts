import type * as vscode from 'vscode';
import { TestMessage } from 'vscode';
import { type Coverage, joinedCoverage } from '../../engine/core/evaluation/coverage.ts';
import type { Outcome } from '../../engine/core/evaluation/outcome.ts';
import { terminalText } from '../../engine/core/text/terminalText.ts';
import { rolloutName } from '../../engine/shell/records/recordingName.ts';
import type { RunLine } from '../../engine/shell/records/runLine.ts';
import { type MessagePlaces, messagesOf } from './messages.ts';
import type { TaskTree } from './taskTree.ts';
import { trialTally } from './trialTally.ts';

/** Rollouts of a run whose conversations are all shown; of a larger one, those of the rollouts that did not pass. */
const conversationsShown = 200;

type Playing = { readonly task: string; readonly trial: number; readonly since: number; text: string };

const playingNow = (task: string, trial: number): Playing => ({ task, trial, since: Date.now(), text: '' });

/** Shows the rollouts of one domain's run as the results of a test run, as they come. */
export class RunResults {
  readonly #run: vscode.TestRun;
  readonly #tree: TaskTree;
  readonly #folder: string;
  readonly #trials: number;
  readonly #places: MessagePlaces;
  readonly #isLarge: boolean;
  readonly #isPart: boolean;
  readonly #begun = new Set<string>();
  /** By the name of the rollout. */
  readonly #playing = new Map<string, Playing>();
  /** By task, and then by trial. */
  readonly #finished = new Map<string, Map<number, Outcome>>();
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
      /** The number of tasks that are played. */
      readonly tasks: number;
      readonly trials: number;
      readonly places: MessagePlaces;
      /** Whether it is a single rollout in addition to those of another run, whose results stay. */
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

  /** Returns what the tests exercised, by task. */
  get coverage(): ReadonlyMap<vscode.TestItem, Coverage> {
    const byTask = [...this.#finished].flatMap(([task, finished]) => {
      const item = this.#tree.task(this.#folder, task);
      const all = [...finished.values()].map(({ coverage }) => coverage);
      return item ? [[item, joinedCoverage(all)] as const] : [];
    });
    return new Map(byTask);
  }

  /** Rollouts of tasks that the tree does not have. */
  get strange(): number {
    return this.#strange;
  }

  /** Whether every trial of a task came out. */
  isDone(task: string): boolean {
    return (this.#finished.get(task)?.size ?? 0) >= this.#trials;
  }

  /** Takes a line of the command line over. */
  take(line: RunLine): void {
    switch (line.type) {
      case 'rolloutBegan': {
        const item = this.#itemOf(line.task, line.trial);
        if (!item) return;
        this.#playing.set(rolloutName({ id: line.task }, line.trial), playingNow(line.task, line.trial));
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
    if (!this.#isPart && !this.#begun.has(task)) this.#clear(item);
    this.#begun.add(task);
    return this.#trials > 1 || item.children.size > 0 ? this.#tree.trial(item, trial) : item;
  }

  /**
   * Clears the results of an earlier run. Otherwise, its trials that this run does not have would count as this run's.
   */
  #clear(item: vscode.TestItem): void {
    const node = this.#tree.node(item);
    if (node?.type === 'task') item.label = node.row.id;
    this.#tree.results.forget(this.#folder, item.id);
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
    const name = rolloutName({ id: task }, trial);
    const playing = this.#playing.get(name) ?? playingNow(task, trial);
    playing.text += text;
    this.#playing.set(name, playing);
  }

  #finish(outcome: Outcome, recording: string): void {
    const { task, trial } = outcome;
    const item = this.#itemOf(task, trial);
    if (!item) {
      this.#strange += 1;
      return;
    }
    const name = rolloutName({ id: task }, trial);
    const playing = this.#playing.get(name);
    this.#playing.delete(name);
    if (this.#isLarge && outcome.result !== 'passed' && playing)
      this.#run.appendOutput(forTerminal(playing.text), undefined, item);
    if (outcome.warning !== null) this.#run.appendOutput(forTerminal(`warning: ${outcome.warning}\n`), undefined, item);
    this.#run.appendOutput(forTerminal(`recording ${recording}\n\n`), undefined, item);
    const ms = playing && !this.#isLarge ? Date.now() - playing.since : outcome.seconds * 1000;
    const of = { folder: this.#folder, task, trial: this.#tree.node(item)?.type === 'trial' ? trial : null };
    this.#tree.results.show(this.#run, of, {
      result: outcome.result,
      messages: outcome.result === 'passed' ? [] : messagesOf(outcome, recording, this.#places),
      ms,
      recording: { recording, step: outcome.pointers[0]?.step },
    });
    const trials = this.#finished.get(task) ?? new Map<number, Outcome>();
    this.#finished.set(task, trials.set(trial, outcome));
    if (!this.#isPart && this.isDone(task)) this.tally(task);
  }

  /** Shows on a task how its trials came out together. */
  tally(task: string): void {
    const item = this.#tree.task(this.#folder, task);
    const results = [...(this.#finished.get(task)?.values() ?? [])].map((outcome) => outcome.result);
    if (!item || results.length === 0 || this.#trials === 1) return;
    const { result, short, message } = trialTally(results);
    const label = `${item.id} (${short})`;
    const of = { folder: this.#folder, task, trial: null };
    this.#tree.results.show(this.#run, of, { result, messages: new TestMessage(message), label });
    this.#run.appendOutput(forTerminal(`${message}\n`), undefined, item);
  }

  /** Marks tasks without a result as skipped: they were cancelled or never started. */
  skipRest(tasks: readonly string[]): void {
    for (const task of tasks) {
      const item = this.#tree.task(this.#folder, task);
      if (!item || this.isDone(task)) continue;
      for (const playing of this.#playing.values())
        if (playing.task === task) this.#run.skipped(this.#itemOf(task, playing.trial) ?? item);
      if ((this.#finished.get(task)?.size ?? 0) > 0) this.tally(task);
      else this.#run.skipped(item);
    }
  }

  /** Marks tasks without a result as errored: they could not be run. */
  failRest(tasks: readonly string[], message: string): void {
    for (const task of tasks) {
      const item = this.#tree.task(this.#folder, task);
      if (!item || this.isDone(task)) continue;
      const of = { folder: this.#folder, task, trial: null };
      this.#tree.results.show(this.#run, of, { result: 'errored', messages: new TestMessage(message) });
    }
  }
}

/** Prepares text of a rollout for the terminal of the Test Results view, which wants both characters of a line's end. */
export function forTerminal(text: string): string {
  return terminalText(text, true).replaceAll('\n', '\r\n');
}
