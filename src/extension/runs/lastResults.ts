import { basename, join, resolve } from 'node:path';
import { type Receipt, receiptsOfRun } from '../../engine/shell/records/ledger.ts';
import { type RuleTally, tallyRules } from '../../engine/shell/records/ruleTally.ts';
import { readRunFile } from '../../engine/shell/records/runFile.ts';
import { ledgersIn, type RunLedger } from './ledgers.ts';

/** The result of a task in the newest run that has finished one of its trials. */
export type TaskResult = {
  /** The run's folder. */
  readonly run: string;
  /** When a trial of that run was finished last, in milliseconds. */
  readonly time: number;
  /** Trials with reward 1, and trials that have a reward at all. */
  readonly passed: number;
  readonly scored: number;
  /** The recording to look at: the first that failed, else the first. */
  readonly recording: string;
};

/** The result of the checks of a rule in the newest run. */
export type RuleResult = {
  readonly run: string;
  readonly time: number;
  readonly held: number;
  readonly violated: number;
  readonly unknown: number;
  /** The number of rollouts that were read, if the run has more. */
  readonly sample: number | null;
  /** The recording to look at: the first with a violation, else the first with a verdict. */
  readonly recording: string;
};

type Run = RunLedger & {
  /** The folder of its domain; null if this is not a run. */
  readonly domain: string | null;
  readonly tasks: ReadonlyMap<string, TaskResult>;
  readonly recordings: readonly string[];
};

/** The number of newest runs that are read. Results of older runs are not useful. */
const newest = 200;
/** The number of recordings of a run that are read for its rules: more would take minutes. */
const sample = 1000;
/** Recordings that are read at once. */
const abreast = 8;

/** Reads the results of tasks and rules from the folders of runs. Results are cached until a ledger grows. */
export class LastResults {
  readonly #runs = new Map<string, Run>();
  /** Of the recordings of one run: they do not change once they have a receipt. */
  #tallies: { readonly run: string; readonly of: Map<string, RuleTally> } = { run: '', of: new Map() };

  /**
   * Of each task of a domain that was played in one of its newest runs.
   * @param folder of the domain
   * @param roots folders that hold runs; one that is not there holds none
   */
  async ofTasks(folder: string, roots: readonly string[]): Promise<ReadonlyMap<string, TaskResult>> {
    const found = new Map<string, TaskResult>();
    for (const { tasks } of await this.#runsOf(folder, roots)) {
      for (const [task, result] of tasks) if (!found.has(task)) found.set(task, result);
    }
    return found;
  }

  /** Of each rule that was decided in the domain's newest run. */
  async ofRules(folder: string, roots: readonly string[]): Promise<ReadonlyMap<string, RuleResult>> {
    const [run] = await this.#runsOf(folder, roots);
    if (!run) return new Map();
    if (this.#tallies.run !== run.folder) this.#tallies = { run: run.folder, of: new Map() };
    const { of: tallies } = this.#tallies;
    const unread = run.recordings.slice(0, sample).filter((recording) => !tallies.has(recording));
    for (let from = 0; from < unread.length; from += abreast) {
      const some = unread.slice(from, from + abreast);
      await Promise.all(some.map(async (recording) => tallies.set(recording, await tallyRules(recording))));
    }
    return ruleResults(run, tallies);
  }

  /** The runs of a domain that have finished something, newest first. */
  async #runsOf(domain: string, roots: readonly string[]): Promise<readonly Run[]> {
    const runs: Run[] = [];
    for (const each of (await ledgersIn(roots)).slice(0, newest)) {
      const known = this.#runs.get(each.folder);
      const isAsBefore = known?.time === each.time && known.size === each.size;
      const run = known && isAsBefore ? known : await readRun(each);
      this.#runs.set(each.folder, run);
      if (run.domain === resolve(domain) && run.tasks.size > 0) runs.push(run);
    }
    return runs;
  }
}

async function readRun(ledger: RunLedger): Promise<Run> {
  const { folder, time } = ledger;
  const file = readRunFile(folder);
  // Conversations that were imported are of no task, also where a draft of one has its name.
  const isRun = typeof file !== 'string' && file.agent !== 'recorded';
  if (!isRun) return { ...ledger, domain: null, tasks: new Map(), recordings: [] };
  const { trials } = await receiptsOfRun(folder).catch(() => ({ trials: [] }));
  const byTask = Map.groupBy(trials, ({ task }) => task.id);
  const tasks = [...byTask].map(([task, of]) => [task, taskResult(folder, time, of)] as const);
  return {
    ...ledger,
    domain: resolve(file.folder),
    tasks: new Map(tasks),
    recordings: trials.map(({ recording }) => join(folder, basename(recording))),
  };
}

function taskResult(run: string, time: number, receipts: readonly Receipt[]): TaskResult {
  const ordered = receipts.toSorted((one, other) => one.trial - other.trial);
  const scored = ordered.filter(({ reward }) => reward !== null);
  const shown = ordered.find(({ reward }) => reward !== 1) ?? ordered[0];
  return {
    run,
    time,
    passed: scored.filter(({ reward }) => reward === 1).length,
    scored: scored.length,
    recording: join(run, basename(shown?.recording ?? '')),
  };
}

function ruleResults(
  { folder: run, time, recordings }: Run,
  tallies: ReadonlyMap<string, RuleTally>,
): ReadonlyMap<string, RuleResult> {
  const found = new Map<string, RuleResult>();
  const read = recordings.length > sample ? sample : null;
  for (const recording of recordings) {
    for (const [rule, { held, violated, unknown }] of tallies.get(recording) ?? []) {
      const before = found.get(rule) ?? { run, time, held: 0, violated: 0, unknown: 0, sample: read, recording };
      found.set(rule, {
        ...before,
        held: before.held + held,
        violated: before.violated + violated,
        unknown: before.unknown + unknown,
        recording: violated > 0 && before.violated === 0 ? recording : before.recording,
      });
    }
  }
  return found;
}
