import { basename } from 'node:path';
import * as vscode from 'vscode';
import { messageOf } from '../../engine/shell/files/fault.ts';
import type { Receipt } from '../../engine/shell/records/ledger.ts';
import { runQuietly } from '../commandLine/commandLine.ts';
import { ledgersIn, type RunLedger } from '../runs/ledgers.ts';
import { runPlacesOf } from '../runs/runPlaces.ts';
import type { RunWatch } from '../runs/runWatch.ts';
import { readDomain } from '../workspace/workspaceDomains.ts';
import type { Explorer } from './explorer.ts';
import { forTerminal, RunResults } from './runResults.ts';
import { take } from './testRun.ts';

/**
 * The wait before a run that is still being written is read again, in milliseconds: a process writes several receipts a
 * second.
 */
const quietMs = 1000;
/** Runs of an earlier session that are shown at the start of the next one, the newest. */
const lateRuns = 5;

const memory = 'rehearsal.tests.shownRuns';

/**
 * Shows what was run elsewhere, in a terminal for instance, as test runs: each run when it has ended, and once more
 * only when it has more finished rollouts. What this window ran itself is shown already.
 */
export class PublishedRuns {
  readonly #explorer: Explorer;
  readonly #waiting = new Map<string, NodeJS.Timeout>();
  /** The size of each ledger when it was last read, in bytes. */
  readonly #sizes = new Map<string, number>();
  readonly #runs: RunWatch;
  #watching: vscode.Disposable | undefined;
  #isStarted = false;

  constructor(explorer: Explorer, runs: RunWatch) {
    this.#explorer = explorer;
    this.#runs = runs;
  }

  /**
   * Starts watching. Shows runs that were made while no window was open; the first time, there is nothing to compare
   * with.
   */
  async start(): Promise<void> {
    if (this.#isStarted) return;
    this.#isStarted = true;
    const { context, shown } = this.#explorer;
    const known = context.extension.workspaceState.get<Record<string, number>>(memory);
    for (const [folder, count] of Object.entries(known ?? {})) if (!shown.has(folder)) shown.set(folder, count);
    const unknown = (await this.#ledgers()).filter(({ folder }) => !shown.has(folder));
    const late = known === undefined ? [] : unknown.slice(-lateRuns);
    for (const each of unknown)
      if (!late.includes(each)) {
        shown.set(each.folder, (await trialsIn(each.folder)).length);
        this.#sizes.set(each.folder, each.size);
      }
    await this.look();
    this.#watching = this.#runs.onDidChange(() => void this.look());
    await this.#remember();
  }

  /** Shows the runs whose ledgers changed since the last look, once they have ended. */
  async look(): Promise<void> {
    for (const { folder, size } of await this.#ledgers()) {
      if (this.#sizes.get(folder) === size) continue;
      this.#sizes.set(folder, size);
      this.#soon(folder);
    }
  }

  #soon(folder: string): void {
    clearTimeout(this.#waiting.get(folder));
    this.#waiting.set(
      folder,
      setTimeout(() => void this.#show(folder), quietMs),
    );
  }

  async #show(folder: string): Promise<void> {
    const { isRunLocked } = await import('../../engine/shell/records/runLock.ts');
    if (isRunLocked(folder) || this.#explorer.debugged.size > 0) return this.#soon(folder);
    this.#waiting.delete(folder);
    try {
      await publishRun(this.#explorer, folder);
    } catch (error) {
      this.#explorer.context.log.warn(`${folder} can't be shown in the Test Explorer: ${messageOf(error)}`);
    }
    await this.#remember();
  }

  /** The runs beside the domains, the one that was written last at the end: its results are the ones to stay. */
  async #ledgers(): Promise<readonly RunLedger[]> {
    const domains = [...this.#explorer.controller.items].map(([folder]) => folder);
    return (await ledgersIn(domains.flatMap(runPlacesOf))).toReversed();
  }

  /** Remembers which of the existing runs were shown. */
  async #remember(): Promise<void> {
    const { context, shown } = this.#explorer;
    const kept = (await this.#ledgers()).flatMap(({ folder }) => {
      const count = shown.get(folder);
      return count === undefined ? [] : [[folder, count] as const];
    });
    await context.extension.workspaceState.update(memory, Object.fromEntries(kept));
  }

  dispose(): void {
    this.#watching?.dispose();
    for (const timer of this.#waiting.values()) clearTimeout(timer);
    this.#waiting.clear();
  }
}

/**
 * Shows the finished rollouts of a run's folder as results; in a test run of its own unless one is given.
 * @returns whether there was anything to show
 */
export async function publishRun(
  explorer: Explorer,
  folder: string,
  into?: { readonly run: vscode.TestRun; readonly only: string },
): Promise<boolean> {
  const { tree, controller, shown, context } = explorer;
  const receipts = await trialsIn(folder);
  if (receipts.length <= (shown.get(folder) ?? 0)) return false;
  const { readRunFile } = await import('../../engine/shell/records/runFile.ts');
  const file = readRunFile(folder);
  if (typeof file === 'string') return false;
  if (into && !receipts.some(({ task }) => task.id === into.only)) return false;
  shown.set(folder, receipts.length);
  await tree.findDomains();
  const domain = controller.items.get(file.folder);
  if (!domain) return false;
  await tree.resolve(domain);
  const tasks = [...new Set(receipts.map(({ task }) => task.id))].flatMap((id) => tree.task(file.folder, id) ?? []);
  if (tasks.length === 0) return false;
  const request = new vscode.TestRunRequest(tasks, undefined, undefined, false, true);
  const run = into?.run ?? controller.createTestRun(request, basename(folder), true);
  const trials = 1 + Math.max(...receipts.map(({ trial }) => trial));
  const { locations } = await readDomain(file.folder);
  const results = new RunResults(run, tree, {
    folder: file.folder,
    tasks: tasks.length,
    trials,
    places: locations,
    isPart: into !== undefined,
  });
  try {
    await runQuietly(context, ['report', folder, '--json', '--stream'], { onLine: (line) => take(results, line) });
    if (!into) for (const { id } of tasks) if (!results.isDone(id)) results.tally(id);
    if (results.strange > 0)
      run.appendOutput(
        forTerminal(`${results.strange} rollouts of ${folder} belong to tasks that are not in this domain\n`),
      );
  } finally {
    if (!into) run.end();
  }
  return true;
}

async function trialsIn(folder: string): Promise<readonly Receipt[]> {
  const { receiptsOfRun } = await import('../../engine/shell/records/ledger.ts');
  return (await receiptsOfRun(folder)).trials;
}
