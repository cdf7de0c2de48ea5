import { join } from 'node:path';
import type { SeatSpec } from '../engine/core/domain/seatSpec.ts';
import type { Task } from '../engine/core/domain/task.ts';
import { personaOf } from '../engine/core/domain/taskVariant.ts';
import { measureOf, type ToolKind } from '../engine/core/evaluation/measure.ts';
import { isLost, newestReceipts } from '../engine/shell/records/ledger.ts';
import { rolloutName } from '../engine/shell/records/recordingName.ts';
import { eventsOf } from '../engine/shell/records/runRecord.ts';
import { type BatchOptions, runBatch, type TrialResult, throwCrash } from '../engine/shell/runs/batch.ts';
import type { Supervisor } from '../engine/shell/supervisor.ts';
import { type Candidate, chooseBalanced, type Wanted } from './balance.ts';
import { balanceOf, balanceText } from './balanceReport.ts';
import { difficultyOf } from './difficulty.ts';
import { type Classified, classify } from './outcome.ts';
import { type Selected, settled } from './settle.ts';
import { conversationShape } from './shape.ts';
import { readDecisions, readGrades, readSelection, writeBalance, writeSelection } from './synthesisFolder.ts';

type Kind = 'success' | 'nearMiss';

/** A seat that plays the tasks of a domain, each time again, and what it is to bring. */
export type Source = {
  /** Of its run's folder below `runs/`: the domain and who plays. */
  readonly name: string;
  readonly supervisor: Supervisor;
  readonly tasks: readonly Task[];
  readonly agent: SeatSpec;
  readonly user: SeatSpec;
  /** The outcomes it is there for. */
  readonly brings: readonly Kind[];
};

export type SynthesisOptions = Wanted &
  Pick<
    BatchOptions,
    | 'basis'
    | 'turnCap'
    | 'key'
    | 'readKey'
    | 'askPerson'
    | 'signal'
    | 'prices'
    | 'meter'
    | 'onModel'
    | 'judge'
    | 'toolSettings'
  > & {
    readonly folder: string;
    readonly concurrency: number;
    /** Called with the number of rollouts that would be chosen now, whenever it changes. */
    readonly onProgress: (chosen: number) => void;
    /** Called with each rollout that infrastructure ended, so that it is not among the choices. */
    readonly onLost: (result: TrialResult) => void;
  };

type Played = Candidate & Pick<Classified, 'miss' | 'withheld'>;

/** Trials of one task after which a source has no more to give. */
const mostTrials = 64;

/**
 * Plays until so many rollouts can be chosen, or no source has anything new to give; then chooses and writes the
 * selection. What is finished already is not played again, so a synthesis that was interrupted continues where it was.
 */
export async function synthesize(sources: readonly Source[], options: SynthesisOptions): Promise<readonly Selected[]> {
  const perSource = sources.map((source) => new SourceRollouts(source, options));
  const chosenNow = () => {
    const choices = chooseBalanced(played(perSource), options);
    return played(perSource).filter(({ recording }) => choices.get(recording)?.chosen);
  };
  let chosen = chosenNow();
  for (;;) {
    const due = rolloutsDue(perSource, chosen, options);
    if (due.length === 0 || options.signal?.aborted || options.meter?.isSpent()) break;
    for (const { source, missing } of due) {
      const before = chosen.length;
      await source.play(missing);
      chosen = chosenNow();
      if (chosen.length !== before) options.onProgress(chosen.length);
    }
  }
  return select(options.folder, played(perSource), options);
}

const played = (perSource: readonly SourceRollouts[]) => perSource.flatMap((source) => source.candidates);

/** Chooses among the played rollouts, with the existing grades and decisions, and writes the selection. */
function select(folder: string, candidates: readonly Played[], wanted: Wanted): readonly Selected[] {
  const known = new Set(readDecisions(folder).map(({ recording }) => recording));
  const choices = chooseBalanced(candidates, wanted, known);
  const rows = candidates.map(({ shape: _, ...candidate }): Selected => {
    const choice = choices.get(candidate.recording) ?? { chosen: false, why: 'not chosen' };
    return { ...candidate, ...choice, accepted: choice.chosen };
  });
  return settleAnew(folder, rows);
}

/** Writes the selection with what graders and people have said until now. */
export function settleAnew(folder: string, rows: readonly Selected[] = readSelection(folder)): readonly Selected[] {
  const grades = [...readGrades(folder)].flatMap(([recording, line]) =>
    'grade' in line ? [[recording, line.grade] as const] : [],
  );
  const selection = settled(rows, new Map(grades), readDecisions(folder));
  writeSelection(folder, selection);
  writeBalance(folder, balanceText(balanceOf(selection)));
  return selection;
}

type Due = { readonly source: SourceRollouts; readonly missing: number };

/**
 * Returns who plays next: sources short of their domain's share; once none is, any that can bring what is still
 * missing.
 */
function rolloutsDue(
  perSource: readonly SourceRollouts[],
  chosen: readonly Candidate[],
  wanted: Wanted,
): readonly Due[] {
  const misses = Math.round(wanted.count * wanted.nearMisses);
  const wantedOf: Readonly<Record<Kind, number>> = { success: wanted.count - misses, nearMiss: misses };
  const going = perSource.filter(({ isExhausted }) => !isExhausted);
  const domains = new Set(perSource.map(({ domain }) => domain)).size;
  // A source of both kinds is asked for its first: near-misses come beside successes as they may.
  const shares = going.map((source): Due => {
    const [kind = 'success'] = source.kinds;
    return { source, missing: Math.ceil(wantedOf[kind] / domains) - source.fit(kind) };
  });
  const short = shares.filter(({ missing }) => missing > 0);
  if (short.length > 0) return short;
  const has = (kind: Kind) => chosen.filter(({ outcome }) => outcome === kind).length;
  const left = wanted.count - chosen.length;
  return going
    .filter(({ kinds }) => left > 0 && kinds.some((kind) => kind === 'success' || has(kind) < wantedOf[kind]))
    .map((source) => ({ source, missing: Math.ceil(left / going.length) }));
}

/** The progress of one source. */
class SourceRollouts {
  readonly #source: Source;
  readonly #options: SynthesisOptions;
  readonly #folder: string;
  readonly #known = new Set<string>();
  readonly #shapes = new Set<string>();
  readonly #candidates: Played[] = [];
  /** Rollouts since the last one that was new and of a kind that it is there for. */
  #fruitless = 0;

  constructor(source: Source, options: SynthesisOptions) {
    this.#source = source;
    this.#options = options;
    this.#folder = join(options.folder, 'runs', source.name);
    this.#read();
    this.#fruitless = 0;
  }

  get domain(): string {
    return this.#source.supervisor.domain.name;
  }

  get kinds(): readonly Kind[] {
    return this.#source.brings;
  }

  get candidates(): readonly Played[] {
    return this.#candidates;
  }

  /** As many rollouts as there are tasks brought nothing new, or every task was tried often enough. */
  get isExhausted(): boolean {
    return this.#fruitless >= this.#source.tasks.length || this.#next() === null;
  }

  /** Rollouts of a kind that repeat no other of this source. */
  fit(kind: Kind): number {
    return new Set(this.#candidates.flatMap(({ outcome, shape }) => (outcome === kind ? [shape] : []))).size;
  }

  /** Plays about as many rollouts as are missing, in the order of trials, so that every task has its turn. */
  async play(missing: number): Promise<void> {
    const next = this.#next();
    if (!next) return;
    const { concurrency } = this.#options;
    const tasks = next.tasks.slice(0, Math.max(concurrency, missing));
    const { supervisor, agent, user } = this.#source;
    const results = await runBatch(supervisor, {
      ...this.#options,
      ...{ folder: this.#folder, tasks, trials: next.trial + 1, agent, user },
    });
    throwCrash(results);
    for (const result of results) if (isLost(result)) this.#options.onLost(result);
    this.#read();
  }

  /** The first trial that is not finished for every task, and the tasks that lack it. */
  #next(): { readonly trial: number; readonly tasks: readonly Task[] } | null {
    for (let trial = 0; trial < mostTrials; trial++) {
      const tasks = this.#source.tasks.filter((task) => !this.#known.has(rolloutName(task, trial)));
      if (tasks.length > 0) return { trial, tasks };
    }
    return null;
  }

  #read(): void {
    const { supervisor, tasks, name } = this.#source;
    const kinds: readonly ToolKind[] = supervisor.domain.tools;
    const byId = new Map(tasks.map((task) => [task.id, task]));
    for (const receipt of newestReceipts(join(this.#folder, 'ledger.jsonl'))) {
      const { rollout, recording } = receipt;
      const [, id = ''] = /^(.*)\.\d+$/.exec(rollout) ?? [];
      const task = byId.get(id);
      if (!task || this.#known.has(rollout)) continue;
      if (isLost(receipt)) {
        this.#fruitless += 1;
        continue;
      }
      this.#known.add(rollout);
      const events = eventsOf(join(this.#folder, recording));
      const shape = conversationShape(events);
      const classified = classify(measureOf(events, kinds), events);
      const isNew = !this.#shapes.has(shape) && this.kinds.some((kind) => kind === classified.outcome);
      this.#fruitless = isNew ? 0 : this.#fruitless + 1;
      this.#shapes.add(shape);
      this.#candidates.push({
        recording: `runs/${name}/${recording}`,
        domain: this.domain,
        task: task.under === undefined ? task.id : task.id.slice(0, task.id.lastIndexOf('@')),
        persona: task.under ?? task.persona,
        difficulty: difficultyOf(task, personaOf(supervisor.domain, task)),
        ...classified,
        shape,
      });
    }
  }
}
