import { existsSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { decisiveVerdict } from '../../engine/core/domain/decisiveVerdict.ts';
import type { World } from '../../engine/core/domain/domain.ts';
import { type AlignedRow, alignedSteps } from '../../engine/core/evaluation/alignment.ts';
import { type Divergence, firstDivergence } from '../../engine/core/evaluation/comparison.ts';
import { type Measure, measureOf } from '../../engine/core/evaluation/measure.ts';
import {
  isDemanding,
  type Recorded,
  type RolloutEvent,
  type RolloutStarted,
  verdictWord,
} from '../../engine/core/events/event.ts';
import { baseHash } from '../../engine/core/events/world.ts';
import { excerpt } from '../../engine/core/text/excerpt.ts';
import { type Json, showPath } from '../../engine/core/values/json.ts';
import { diffDatabases } from '../../engine/core/world/database.ts';
import { domainBeside } from '../../engine/shell/domain/domainBeside.ts';
import type { LoadedDomain } from '../../engine/shell/domain/loadDomain.ts';
import { eventInWords } from '../../engine/shell/domain/reasonInWords.ts';
import { messageOf } from '../../engine/shell/files/fault.ts';
import { type ForkPoint, forkPointOf } from '../../engine/shell/records/forkPoint.ts';
import {
  noStart,
  type ReadRecording,
  readRecording,
  readSidecar,
  sidecarPath,
} from '../../engine/shell/records/recording.ts';
import { isRunLocked } from '../../engine/shell/records/runLock.ts';
import { replayed, settingOf } from '../../engine/shell/replay.ts';
import { openDomainAt } from '../options/rolloutOptions.ts';
import { UsageError } from '../terminal/io.ts';
import { domainDifferences } from './domainDifferences.ts';

/** One verdict of a verifier, or a violated rule, with the step that decides it, as in the report card. */
export type ComparedVerdict = {
  readonly name: string;
  readonly verdict: 'held' | 'violated' | 'unknown';
  readonly detail: string;
  readonly step: number;
};

/** The facts shown about each recording in a comparison. */
export type ComparedRecording = {
  readonly path: string;
  readonly started: Pick<RolloutStarted, 'seed' | 'trial' | 'basis' | 'policyHash'> & {
    readonly task: string;
    readonly domain: string;
    readonly agent: string;
    readonly user: string;
  };
  readonly events: number;
  /** Whether its run is still writing it. */
  readonly isRunning: boolean;
  readonly measure: Pick<
    Measure,
    'reward' | 'reason' | 'endReason' | 'failedBy' | 'failure' | 'turns' | 'calls' | 'latency' | 'tokens'
  >;
  /** The tools that the agent had called when the rollout was stopped, and that had not run yet. */
  readonly stoppedCalls: readonly string[];
  readonly verdicts: readonly ComparedVerdict[];
  readonly problems: readonly string[];
};

/** A place of the database at which the two rollouts ended otherwise; null where there is nothing. */
export type EndDifference = {
  readonly place: string;
  readonly first: string | null;
  readonly second: string | null;
};

/** Two recordings side by side. */
export type RecordingsCompared = {
  readonly type: 'recordings';
  readonly recordings: readonly [ComparedRecording, ComparedRecording];
  /** The differences in settings, apart from what was said and done. */
  readonly settings: readonly string[];
  /** The point at which the recordings forked, according to their parents; null if they are not related. */
  readonly fork: ForkPoint | null;
  readonly divergence: Divergence | null;
  readonly rows: readonly AlignedRow[];
  readonly database: {
    readonly differences: readonly EndDifference[];
    /** Places that differ and are not listed. */
    readonly more: number;
    /** Why the end states can't be set side by side; null where they are. */
    readonly problem: string | null;
  };
};

const listedDifferences = 300;
const longestValue = 2000;

/**
 * Sets two recordings side by side. Throws a `UsageError` for what is not a recording.
 * @param paths absolute
 * @param named folder of their domain, where a person named it
 */
export function recordingsCompared(paths: readonly [string, string], named: string | undefined): RecordingsCompared {
  const [one, other] = [opened(paths[0]), opened(paths[1])];
  const [first, second] = [eventsIn(one), eventsIn(other)];
  const domains = openDomains([one, other], named);
  const wordsOf = ({ started }: Opened) => domains.find((each) => each.domain.name === started.domain.name) ?? null;
  const violated = new Set([one, other].flatMap(({ lines }) => ruleVerdictsIn(lines).filter(isViolated).map(ruleOf)));
  return {
    type: 'recordings',
    recordings: [described(one, violated, wordsOf(one)), described(other, violated, wordsOf(other))],
    settings: settingsOf(one.started, other.started),
    fork: forkPointOf(one, other),
    divergence: firstDivergence(first, second),
    rows: alignedSteps(first, second),
    database: endStates(one, other, named),
  };
}

/** Returns the domains of recordings whose folders are known and can be read; the others have no words for a rule. */
function openDomains(recordings: readonly Opened[], named: string | undefined): readonly LoadedDomain[] {
  const folders = recordings.map(({ path }) => named ?? domainBeside(path) ?? '');
  return [...new Set(folders.filter(Boolean))].flatMap((folder) => {
    try {
      return [openDomainAt(folder)];
    } catch {
      return [];
    }
  });
}

type Opened = ReadRecording & { readonly started: RolloutStarted };

function opened(path: string): Opened {
  if (!existsSync(path)) throw new UsageError(`${path}: there is no such recording`);
  const read = readRecording(path);
  const started = read.lines[0]?.event;
  const [{ line, message } = noStart] = read.problems;
  if (started?.type !== 'rolloutStarted')
    throw new UsageError(`${path}:${line}: ${message}. The recording cannot be compared`);
  return { ...read, started };
}

const eventsIn = ({ lines }: ReadRecording): readonly RolloutEvent[] => lines.map(({ event }) => event);

function described(recording: Opened, violated: ReadonlySet<string>, words: LoadedDomain | null): ComparedRecording {
  const { path, problems, started } = recording;
  const lines = words
    ? recording.lines.map((line) => ({ ...line, event: eventInWords(words, line.event) }))
    : recording.lines;
  const { reward, reason, endReason, failedBy, failure, turns, calls, latency, tokens } = measureOf(
    lines.map(({ event }) => event),
    [],
    readSidecar(sidecarPath(path)).lines,
  );
  const { task, domain, seats, seed, trial, basis, policyHash } = started;
  return {
    path,
    started: {
      task: task.id,
      domain: domain.name,
      agent: seats.agent,
      user: seats.user,
      seed,
      trial,
      basis,
      policyHash,
    },
    events: lines.length,
    isRunning: !lines.some(({ event }) => event.type === 'rolloutEnded') && isRunLocked(dirname(path)),
    measure: { reward, reason, endReason, failedBy, failure, turns, calls, latency, tokens },
    stoppedCalls: stoppedCallsIn(eventsIn(recording)),
    verdicts: verdictsIn(lines, violated),
    problems: problems.map(({ line, message }) => `${basename(path)}, line ${line}: ${message}`),
  };
}

function stoppedCallsIn(events: readonly RolloutEvent[]): readonly string[] {
  const at = events.findLastIndex(({ type }) => type === 'agentReplied' || type === 'rolloutEnded');
  const reply = events[at];
  if (reply?.type !== 'agentReplied') return [];
  const run = events.slice(at + 1).filter(({ type }) => type === 'toolCalled').length;
  return reply.toolCalls.slice(run).map(({ name }) => name);
}

type RuleVerdict = Extract<RolloutEvent, { readonly type: 'rulesChecked' }>['verdicts'][number] & {
  readonly n: number;
};

const isViolated = ({ verdict }: RuleVerdict) => verdict === 'violated';
const ruleOf = ({ rule }: RuleVerdict) => rule;

const ruleVerdictsIn = (lines: readonly Recorded[]): readonly RuleVerdict[] =>
  lines.flatMap(({ n, event }) =>
    event.type === 'rulesChecked' ? event.verdicts.map((each) => ({ ...each, n })) : [],
  );

/**
 * Returns what the verifiers decided, and of each rule that is violated in one of the recordings: its violations, or
 * else the verdict that decides it.
 */
function verdictsIn(lines: readonly Recorded[], violated: ReadonlySet<string>): readonly ComparedVerdict[] {
  const verifiers = lines.flatMap(({ n, event }): ComparedVerdict[] => {
    if (event.type !== 'verdictReached' || !isDemanding(event.verdict)) return [];
    const { verifier, detail, evidence } = event.verdict;
    return [{ name: verifier, verdict: verdictWord(event.verdict), detail, step: evidence.at(-1) ?? n }];
  });
  const checked = ruleVerdictsIn(lines);
  const rules = [...violated].flatMap((rule) => {
    const own = checked.filter((each) => each.rule === rule);
    return own.some(isViolated) ? own.filter(isViolated) : (decisiveVerdict(own) ?? []);
  });
  return [
    ...rules.map(({ rule, verdict, reason, n }) => ({ name: `rule ${rule}`, verdict, detail: reason, step: n })),
    ...verifiers,
  ].toSorted((a, b) => a.step - b.step);
}

function settingsOf(one: RolloutStarted, other: RolloutStarted): readonly string[] {
  const rows: readonly (readonly [string, string, string])[] = [
    ['domain', one.domain.name, other.domain.name],
    ['task', one.task.id, other.task.id],
    ['trial', String(one.trial), String(other.trial)],
    ['seed', one.seed, other.seed],
    ['basis', one.basis, other.basis],
    // An imported conversation has a cap that never ends it.
    ...(one.imported || other.imported ? [] : [['turn cap', String(one.turnCap), String(other.turnCap)] as const]),
    ["agent's seat", one.seats.agent, other.seats.agent],
    ["user's seat", one.seats.user, other.seats.user],
  ];
  const differences = rows
    .filter(([, left, right]) => left !== right)
    .map(([label, left, right]) => `${label}: ${left} → ${right}`);
  const isTaskChanged = one.task.id === other.task.id && one.task.hash !== other.task.hash;
  const settings = [
    ...differences,
    ...(isTaskChanged ? ['text of the task'] : []),
    ...(one.policyHash === other.policyHash ? [] : ['text of the policy']),
  ];
  return one.domain.name === other.domain.name ? [...settings, ...domainDifferences(one, other)] : settings;
}

/** Folds both on the domain's database; a domain that is gone, or has another database now, is reported. */
function endStates(one: Opened, other: Opened, named: string | undefined): RecordingsCompared['database'] {
  const without = (problem: string) => ({ differences: [], more: 0, problem });
  if (one.started.database !== other.started.database)
    return without('The two were recorded on different databases, so their end states cannot be compared.');
  const folder = named ?? domainBeside(one.path) ?? domainBeside(other.path);
  if (folder === undefined)
    return without('The folder of their domain is unknown. On the command line, name it with --domain.');
  try {
    const domain = openDomainAt(folder);
    const setting = settingOf(domain);
    if (baseHash(setting.world) !== one.started.database)
      return without(`They were recorded on a different database from the current one of ${folder}.`);
    const [first, second] = [endOf(setting, one), endOf(setting, other)];
    if (typeof first === 'string') return without(first);
    if (typeof second === 'string') return without(second);
    const differences = (['agent', 'user'] as const).flatMap((side) =>
      diffDatabases(first[side], second[side]).map(({ path, before, after }) => ({
        place: `${side === 'user' ? 'user: ' : ''}${showPath(path)}`,
        first: valueText(before),
        second: valueText(after),
      })),
    );
    const shown = differences.slice(0, listedDifferences);
    return { differences: shown, more: differences.length - shown.length, problem: null };
  } catch (error) {
    return without(messageOf(error));
  }
}

function endOf(setting: ReturnType<typeof settingOf>, { path, lines }: Opened): World | string {
  let end: World | null = null;
  for (const { step, problem } of replayed(setting, lines)) {
    if (problem) return `${basename(path)}, line ${problem.line}: ${problem.message}`;
    end = step?.after.world ?? end;
  }
  return end ?? `${basename(path)} holds nothing`;
}

function valueText(value: Json | undefined): string | null {
  return value === undefined ? null : excerpt(JSON.stringify(value), longestValue, '…');
}
