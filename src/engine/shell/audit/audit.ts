import { availableParallelism } from 'node:os';
import { sep } from 'node:path';
import { comparedFields } from '../../core/domain/comparedFields.ts';
import type { Task } from '../../core/domain/task.ts';
import { type Diagnostic, type Location, sortDiagnostics } from '../files/diagnostic.ts';
import { forEach } from '../files/forEach.ts';
import type { RolloutClosed } from '../liveRollout.ts';
import { accepted, isDraft, withDrafts } from '../load/drafts.ts';
import type { LoadedDomain } from '../load/loadedDomain.ts';
import { wordsIn } from '../load/taskWorld.ts';
import { type Placed, placeOf } from '../source/items.ts';
import { type Note, notebook } from '../source/note.ts';
import { noteOrder, playOrder, type Reordered, reorderedGold } from './goldOrder.ts';
import {
  callsWrongTool,
  evaluatedChecks,
  failsFirst,
  madeIn,
  noteFailures,
  noteNeverEvaluated,
  noteUnfilled,
  noteUnscored,
  noteUntried,
  noteViolations,
  type Replayed,
  type Undecided,
  undecided,
} from './goldReplay.ts';
import { HungCalls } from './hungCalls.ts';
import { noteLoosePhrases } from './loosePhrases.ts';
import { noteMisspeltVolatile } from './misspeltVolatile.ts';
import { findSharedServers, noteSharedServers, withSharedServers } from './sharedState.ts';
import { noteSourcelessTexts } from './sourcelessTexts.ts';
import { isHung, openStage, type Stage } from './stage.ts';
import {
  changesSource,
  mostSamplesOf,
  noteTools,
  type Repeated,
  type Sample,
  samplesOf,
  type Tried,
} from './toolRepeats.ts';
import { noteUnfilledSentences } from './unfilledSentences.ts';

/** Rollouts at once; each is a few milliseconds of a worker, unless it starts its own server. */
function widthFor({ file }: LoadedDomain): number {
  const startsServers = Object.values(file.mcpServers).some(({ type }) => type === 'stdio');
  return startsServers ? Math.min(16, 2 * availableParallelism()) : 16;
}

export type AuditOptions = {
  readonly signal: AbortSignal;
  /** Ids of draft tasks that are played in place of the domain's own, and that alone are reported. */
  readonly drafts?: readonly string[];
  /** Told after every rollout. */
  readonly onProgress?: (done: number, total: number, what: string) => void;
  /** Is called when a rollout starts. What it returns is called when the rollout ends. */
  readonly onRollout?: (what: string) => () => void;
};

export type Audited = {
  readonly diagnostics: readonly Diagnostic[];
  /** Tasks of which nothing could be said, and why. */
  readonly undecided: readonly ({ readonly task: string } & Undecided)[];
  readonly rollouts: number;
  readonly isCancelled: boolean;
};

/**
 * Returns what only running a domain tells: the gold seat plays every task twice, an agent that does nothing plays each,
 * every tool of either seat is called twice, and gold actions are made in another order. All of it in workers, as an
 * evaluation runs.
 * @param loaded a domain without errors, with its tools described
 */
export async function audit(loaded: LoadedDomain, options: AuditOptions): Promise<Audited> {
  const { found, note } = notebook();
  const { drafts } = options;
  const tasks = drafts
    ? loaded.parts.tasks.filter((placed) => isDraft(placed) && drafts.includes(placed.value.id))
    : accepted(loaded.parts.tasks);
  const sharedServers = await findSharedServers(loaded, tasks, options.signal);
  noteSharedServers(loaded, sharedServers, note);
  const staged = withSharedServers(drafts ? withDrafts(loaded, drafts) : loaded, sharedServers);
  const { rollouts, played } = await playAll(staged, tasks, options);
  const isCancelled = options.signal.aborted;
  if (!isCancelled) judge(loaded, played, drafts === undefined, note);
  const open = played.replayed.flatMap(({ placed, first }) => {
    const found = undecided(first);
    return found === null ? [] : [{ task: placed.value.id, ...found }];
  });
  const left = played.unplayed.map(({ task, tool }) => ({
    task,
    reason: `gold actions call ${tool}, which reached its time limit in another rollout`,
    needsModel: false,
  }));
  return {
    diagnostics: sortDiagnostics(found),
    undecided: isCancelled ? [] : [...open, ...left],
    rollouts,
    isCancelled,
  };
}

/** Returns the findings of a check and of its audit. What the audit reports again, with what it causes, is left out. */
export function withAudit(found: readonly Diagnostic[], audited: readonly Diagnostic[]): readonly Diagnostic[] {
  const isAgain = ({ file, line, column, code }: Diagnostic) =>
    audited.some((each) => each.file === file && each.line === line && each.column === column && each.code === code);
  return sortDiagnostics([...found.filter((each) => !isAgain(each)), ...audited]);
}

type Played = {
  readonly idle: readonly { readonly placed: Placed<Task>; readonly basis: Basis; readonly closed: RolloutClosed }[];
  readonly replayed: readonly Replayed[];
  readonly tried: readonly Tried[];
  readonly reordered: readonly { readonly order: Reordered; readonly closed: RolloutClosed }[];
  /** The tasks without a gold rollout, and the tool for which they have none. */
  readonly unplayed: readonly { readonly task: string; readonly tool: string }[];
  /** The log output of the domain's code, for example the place where a tool crashed. */
  readonly logged: readonly string[];
};
type Basis = 'evaluate' | 'train';

/** Counts the rollouts that were played. */
class Progress {
  played = 0;
  #notNeeded = 0;
  readonly #total: number;
  readonly #onProgress: AuditOptions['onProgress'];

  constructor(total: number, onProgress: AuditOptions['onProgress']) {
    this.#total = total;
    this.#onProgress = onProgress;
  }

  add(what: string): void {
    this.played += 1;
    this.#onProgress?.(this.played + this.#notNeeded, this.#total, what);
  }

  /** Counts rollouts of the total that turned out not to be needed as done. */
  skip(count: number): void {
    this.#notNeeded += count;
  }
}

/** The workers of the second half are fresh, so what a domain keeps between calls is noticed. */
async function playAll(
  loaded: LoadedDomain,
  tasks: readonly Placed<Task>[],
  { signal, onProgress, onRollout, drafts }: AuditOptions,
): Promise<{ readonly rollouts: number; readonly played: Played }> {
  const idleParts = tasks.flatMap((placed) => basesOf(placed.value).map((basis) => ({ placed, basis })));
  // What the gold rollouts decide counts with its largest number.
  const mostSamples = drafts ? 0 : mostSamplesOf(loaded);
  const progress = new Progress(idleParts.length + 2 * tasks.length + 2 * mostSamples + tasks.length, onProgress);
  const logged: string[] = [];
  const opening = {
    loaded,
    signal,
    log: (text: string) => void logged.push(text.replaceAll(`${loaded.folder}${sep}`, '')),
  };
  const width = widthFor(loaded);
  const playEach = <Item>(
    items: readonly Item[],
    what: (item: Item) => string,
    play: (item: Item) => Promise<void>,
    isLeftOut: (item: Item) => boolean = () => false,
  ) =>
    forEach(
      items,
      width,
      async (item) => {
        if (isLeftOut(item)) return progress.skip(1);
        const ended = onRollout?.(what(item));
        try {
          await play(item);
        } finally {
          ended?.();
        }
        progress.add(what(item));
      },
      signal,
    );
  const isGold = ({ value }: Placed<Task>) => `gold seat plays ${value.id}`;
  const isTwice = ({ tool }: Sample) => `two calls of ${tool.name}`;

  const hung = new HungCalls();
  const idle: Played['idle'][number][] = [];
  const firsts = new Map<Placed<Task>, RolloutClosed>();
  const half = new Map<Sample, Repeated>();
  let samples: readonly Sample[] = [];
  let playable: typeof tasks = [];
  await onStage(opening, [], async (stage) => {
    await playEach(
      tasks,
      isGold,
      async (placed) => {
        const closed = await hung.playGold(stage, placed.value);
        if (closed) firsts.set(placed, closed);
      },
      ({ value }) => hung.leftOutTool(value) !== null,
    );
    // The end of every other rollout of a task makes its gold actions again, for the expected database.
    playable = tasks.filter((placed) => firsts.has(placed) && !isHung(firsts.get(placed)?.failure ?? null));
    const idleOnes = idleParts.filter(({ placed }) => playable.includes(placed));
    progress.skip(idleParts.length - idleOnes.length);
    await playEach(
      idleOnes,
      ({ placed }) => `agent that does nothing plays ${placed.value.id}`,
      async ({ placed, basis }) =>
        void idle.push({ placed, basis, closed: await stage.play({ task: placed.value, basis, agent: doesNothing }) }),
    );
    // The tools are the domain's: its own audit tries them.
    samples = drafts ? [] : samplesOf(loaded, inOrder(playable, firsts));
    progress.skip(2 * (mostSamples - samples.length));
    await playEach(
      samples,
      isTwice,
      async (sample) => void half.set(sample, await hung.repeat(stage, sample)),
      ({ tool, arguments: args }) => hung.isLeftOut({ tool: tool.name, arguments: args }),
    );
  });

  const orders = reorderedGold(
    loaded,
    tasks.filter((placed) => firsts.get(placed)?.reward === 1),
  );
  const again = samples.filter((sample) => half.has(sample) && !isHung(half.get(sample)?.failure ?? null));
  progress.skip(tasks.length - orders.length + samples.length - again.length + tasks.length - playable.length);
  const tried: Tried[] = drafts ? [] : [...hung.tried(loaded.domain.tools)];
  const reordered: Played['reordered'][number][] = [];
  const seconds = new Map<Placed<Task>, RolloutClosed>();
  const more = [...again.flatMap(({ reading }) => reading ?? []), ...new Set(orders.map(({ task }) => task))];
  await onStage(opening, more, async (stage) => {
    await playEach(again, isTwice, async (sample) => {
      const [one, other] = [half.get(sample), await hung.repeat(stage, sample)];
      if (!one) return;
      const changes = await changesSource(stage, sample, comparedFields(loaded.file, sample.tool));
      tried.push({ sample, one, other, changes });
    });
    await playEach(
      orders,
      ({ placed }) => `gold actions of ${placed.value.id} in another order`,
      async (order) => void reordered.push({ order, closed: await playOrder(stage, order) }),
    );
    await playEach(
      playable.toReversed(),
      isGold,
      async (placed) => void seconds.set(placed, await stage.play({ task: placed.value, agent: 'gold' })),
    );
  });
  const replayed = inOrder(tasks, firsts).flatMap((each) => {
    const second = isHung(each.first.failure) ? each.first : seconds.get(each.placed);
    return second ? [{ ...each, second }] : [];
  });
  const unplayed = tasks.flatMap((placed) => {
    const tool = firsts.has(placed) ? null : hung.leftOutTool(placed.value);
    return tool === null ? [] : [{ task: placed.value.id, tool }];
  });
  return { rollouts: progress.played, played: { idle, replayed, tried, reordered, logged, unplayed } };
}

type Opening = {
  readonly loaded: LoadedDomain;
  readonly signal: AbortSignal;
  readonly log: (text: string) => void;
};

async function onStage(
  { loaded, signal, log }: Opening,
  more: readonly Task[],
  work: (stage: Stage) => Promise<void>,
): Promise<void> {
  if (signal.aborted) return;
  const stage = await openStage(loaded, signal, more, log);
  try {
    await work(stage);
  } finally {
    await stage.close();
  }
}

const inOrder = (tasks: readonly Placed<Task>[], firsts: ReadonlyMap<Placed<Task>, RolloutClosed>) =>
  tasks.flatMap((placed) => {
    const first = firsts.get(placed);
    return first ? [{ placed, first }] : [];
  });

/** Only tasks of the train split are ever trained on. */
function basesOf({ evaluate, train, split }: Task): readonly Basis[] {
  const isOther = [...train].sort().join() !== [...evaluate].sort().join();
  return split === 'train' && isOther ? ['evaluate', 'train'] : ['evaluate'];
}

const doesNothing = () => ({ content: '', toolCalls: [] });

/** Findings that explain why the gold path of a task fails. */
const explaining = ['task/missing-row', 'task/wrong-date', 'task/untold-argument', 'task/gold-violates'];

function judge(loaded: LoadedDomain, played: Played, isOfDomain: boolean, note: Note): void {
  const { idle, replayed, tried, reordered, logged, unplayed } = played;
  const { diagnostics, parts } = loaded;
  const isKnown = (at: Location, code: string) =>
    diagnostics.some((each) => each.code === code && each.file === at.file && each.line === at.line);
  const closed = [...idle.map(({ closed }) => closed), ...replayed.map(({ first }) => first)];
  noteUnmatchedLines(loaded, closed, note);
  const unrewarded = (tool: string) =>
    replayed.flatMap(({ placed: { value }, first }) =>
      first.reward !== 1 && value.actions.some((action) => action.tool === tool) ? [value.id] : [],
    );
  const misspelt = noteMisspeltVolatile(loaded, closed, note);
  const bad = noteTools(loaded, tried, { misspelt, unrewarded }, note);
  const evaluated = evaluatedChecks(replayed);
  const reported = new Set<string>();
  const isRepeated = (rule: string) => {
    const isAgain = reported.has(rule);
    reported.add(rule);
    return isAgain && isOfDomain && hasFinding(rule, loaded);
  };
  const sound = replayed
    .filter((each) => !isFaulty(each, { loaded, bad, evaluated, isOfDomain, logged, isRepeated }, note))
    .map(({ placed }) => placed);
  const isWhole =
    unplayed.length === 0 &&
    sound.length === replayed.length &&
    replayed.every(({ first }) => undecided(first) === null);
  for (const placed of sound) noteIdle(placed, idle, (at) => isKnown(at, 'task/nothing-to-do'), note);
  for (const { order, closed } of reordered) if (sound.includes(order.placed)) noteOrder(order, closed, note);
  const soundOnes = replayed.filter(({ placed }) => sound.includes(placed));
  noteLoosePhrases(soundOnes, parts.policy.policy.text, note);
  const agentTexts = { policy: parts.policy.policy.text, tools: loaded.domain.tools, now: loaded.file.now };
  noteSourcelessTexts(soundOnes, agentTexts, (text) => wordsIn(loaded.world.agent).has(text), note);
  // A sentence that is never said can be why a rule is violated.
  if (isOfDomain) noteUnfilledSentences(loaded, replayed, note);
  const uncovered = diagnostics.filter(({ code }) => code === 'policy/uncovered-rule').map(({ line }) => line);
  const known = parts.policy.policy.rules.filter(({ line }) => uncovered.includes(line)).map(({ id }) => id);
  if (isOfDomain && replayed.length > 0) noteNeverEvaluated(loaded, replayed, isWhole, note);
  // What a broken task would have tried is not known.
  if (isWhole && isOfDomain) noteUntried(parts, replayed, new Set(known), note);
}

/** Whether a finding about a check of the rule explains every violation of it. */
function hasFinding(rule: string, { parts, diagnostics }: LoadedDomain): boolean {
  const places = parts.rules.filter(({ value }) => value.rule === rule).map((placed) => placeOf(placed));
  return places.some((at) =>
    diagnostics.some(
      ({ code, file, line }) =>
        /^rule\/unknown-/.test(code) && file === at.file && line >= at.line && line <= at.endLine,
    ),
  );
}

type Known = Pick<Opening, 'loaded'> &
  Pick<Played, 'logged'> & {
    readonly bad: ReadonlySet<string>;
    /** Checks of rules that some gold rollout evaluated. */
    readonly evaluated: ReadonlySet<string>;
    readonly isOfDomain: boolean;
    /** Whether a violation of the rule is reported, and a finding of the rule explains it and all others. */
    readonly isRepeated: (rule: string) => boolean;
  };

/**
 * Whether the gold path of a task is wrong. It is reported once: a tool that is wrong, or a task, explains what
 * follows.
 */
function isFaulty(
  replayed: Replayed,
  { loaded: { diagnostics, file: domain, parts }, bad, evaluated, isOfDomain, logged, isRepeated }: Known,
  note: Note,
): boolean {
  const { placed, first } = replayed;
  const open = undecided(first);
  // A draft says so where it is accepted.
  if (open !== null) return isOfDomain && noteUnscored(replayed, open, evaluated, note);
  if (noteUnfilled(replayed.placed, madeIn(replayed.first.arrived), note)) return true;
  if (callsWrongTool(replayed, bad, logged, note)) return true;
  const at = placeOf(placed);
  const own = diagnostics.filter(({ file, line }) => file === at.file && line >= at.line && line <= at.endLine);
  const isKnown = ({ line }: Location) => own.some((each) => each.code === 'task/gold-violates' && each.line === line);
  // What a rule says at the end often follows from an action that failed.
  if (!failsFirst(replayed) && noteViolations(replayed, parts, isKnown, isRepeated, note)) return true;
  const isExplained = own.some(({ code }) => explaining.includes(code));
  return noteFailures(replayed, domain, { isDraft: !isOfDomain, isExplained, logged }, note);
}

/** An agent that does nothing must not get reward 1, whichever basis counts. */
function noteIdle(placed: Placed<Task>, idle: Played['idle'], isKnown: (at: Location) => boolean, note: Note): void {
  const at = placeOf(placed, 'id');
  const passed = idle.filter((each) => each.placed === placed && each.closed.reward === 1).map(({ basis }) => basis);
  if (passed.length === 0 || isKnown(at)) return;
  const { communicate, train } = placed.value;
  const isUnused = communicate.length > 0 && !passed.includes('evaluate') && !train.includes('communicate');
  note(
    at,
    'warning',
    'task/nothing-to-do',
    `An agent that does nothing got reward 1 on this task (basis ${passed.join(' and ')}).`,
    isUnused
      ? `The training reward does not use \`communicate\`. Add train: [${[...train, 'communicate'].join(', ')}].`
      : 'Add actions: that change something, or requirements that only a working agent meets.',
  );
}

/** A pattern that matches no line of a state leaves an empty list, of which most assertions say nothing. */
function noteUnmatchedLines({ file, parts }: LoadedDomain, closed: readonly RolloutClosed[], note: Note): void {
  const read = closed.flatMap(({ arrived }) =>
    arrived.flatMap(({ event }) => (event.type === 'sourceRead' ? [event] : [])),
  );
  for (const [name, { reader }] of Object.entries(file.mcpServers)) {
    const states = read.flatMap(({ source, state }) => (source === name ? [state] : []));
    if (reader?.lines === undefined || states.length === 0) continue;
    if (states.some((state) => !Array.isArray(state) || state.length > 0)) continue;
    note(
      placeOf(parts.file, 'mcpServers', name),
      'warning',
      'domain/unmatched-lines',
      `The pattern reader.lines of the server ${name} matched no line of its state in any rollout.`,
      `Call ${reader.tool}, and correct the pattern so that it matches the lines of the result.`,
    );
  }
}
