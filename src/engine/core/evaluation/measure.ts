import { namesValue } from '../dialogue/dialogue.ts';
import type { Tool } from '../domain/tool.ts';
import { layerMark } from '../events/displayText.ts';
import type { Failure, RolloutEvent } from '../events/event.ts';
import { type Lapse, type LayerName, lapsesOf, type ReportCard } from '../events/reportCard.ts';
import type { Flaw } from '../simulator/guard.ts';
import { leavesOf } from '../text/value.ts';
import { type BrokenEnd, brokenEndOf, brokenEnds, unknownEndOf } from '../values/answerEnd.ts';
import { contentHash } from '../values/hash.ts';
import type { JsonObject } from '../values/json.ts';
import { goldWarning } from './goldWarning.ts';

/** The properties of a tool that the measures need. */
export type ToolKind = Pick<Tool, 'name' | 'effect' | 'generic' | 'handsOff'>;

/** The end of an answer, as its provider describes it and as the event records it. */
type AnswerEnd = {
  readonly finishReason?: string | undefined;
  readonly refusal?: string | undefined;
  readonly brokenEnd?: BrokenEnd | undefined;
};

/** The sidecar's data about one event. */
export type Timing = {
  readonly n: number;
  readonly ms?: number | undefined;
  /** Whose model was asked, where the event is the end of the rollout. */
  readonly role?: ModelRole | undefined;
  readonly usage?: { readonly input: number; readonly output: number } | undefined;
  /** Answers of a simulated user that its guard refused. */
  readonly flaws?: readonly Pick<Flaw, 'code'>[] | undefined;
  readonly withheld?: string | undefined;
  /** The provider's reason for the end of the answer. */
  readonly finishReason?: string | undefined;
  readonly refusal?: string | undefined;
  /** Describes how the answer ended if its provider does not. */
  readonly brokenEnd?: BrokenEnd | undefined;
  readonly provider?: string | undefined;
  /** The same of earlier answers for this event: a seat may ask its model more than once. */
  readonly earlierEnds?: readonly AnswerEnd[] | undefined;
  /** The fields that requests left out or renamed because their endpoint refuses them. */
  readonly adapted?: readonly string[] | undefined;
};

/** The roles that models play: the seats, the judge, and the simulated tools. */
export const modelRoles = ['agent', 'user', 'judge', 'tools'] as const;
export type ModelRole = (typeof modelRoles)[number];

/** Something of each role. */
export function byRole<T>(of: (role: ModelRole) => T): Record<ModelRole, T> {
  return Object.fromEntries(modelRoles.map((role) => [role, of(role)])) as Record<ModelRole, T>;
}

/**
 * Counts answers by how the provider reported their end: all of them, each kind that is not whole, and each
 * `finish_reason` that is not known.
 */
export type AnswerCounts = Readonly<Record<BrokenEnd, number>> & {
  readonly all: number;
  readonly unknownEnds: Readonly<Record<string, number>>;
  /** Answers whose endpoint did not report their tokens. */
  readonly uncounted: number;
};

export type Tokens = { readonly input: number; readonly output: number };

/** The numbers of one rollout that the metrics of a run are made of. */
export type Measure = {
  readonly task: string;
  readonly split: 'train' | 'test';
  readonly trial: number;
  readonly reward: number | null;
  readonly reason: string;
  /** Why the reward says nothing, where a gold action failed. */
  readonly warning: string | null;
  readonly endReason: string;
  readonly failure: Failure | null;
  /** Null where it got its reward, or has not been rewarded at all. */
  readonly failedBy: Failure['who'] | null;
  /** Of the task's declared checks: how many were met, and how many there are. */
  readonly checks: { readonly met: number; readonly declared: number };
  /** The report card, by each layer in which something was checked. */
  readonly card: Readonly<Partial<Record<LayerName, ReportCard[number]['verdict']>>>;
  /** Violations on the report card that are not verdicts of a verifier or of a rule. */
  readonly lapses: readonly Pick<Lapse, 'layer' | 'reason'>[];
  readonly turns: number;
  /** Characters of each text the agent said to the user. */
  readonly said: readonly number[];
  readonly calls: readonly CallCount[];
  readonly isHandedOff: boolean;
  /** Share of the values it worked with that its summary names; null without a hand-off or without values. */
  readonly handOffSummary: number | null;
  /** Writes that a rule wants confirmed, and how many of them were. */
  readonly confirmations: { readonly held: number; readonly due: number };
  readonly violations: readonly { readonly rule: string; readonly gate: boolean; readonly step: number }[];
  /** Calls that repeat an earlier one, result and all, although nothing was written in between. */
  readonly unnecessary: number;
  /** The longest row of one call made again and again, with the same values and nothing between. */
  readonly longestRepeat: number;
  /** Milliseconds, of each answer of a seat and of each call; empty where no sidecar was read. */
  readonly latency: {
    readonly agent: readonly number[];
    readonly user: readonly number[];
    readonly tools: readonly number[];
  };
  readonly tokens: Readonly<Record<ModelRole, Tokens>>;
  readonly answers: Readonly<Record<ModelRole, AnswerCounts>>;
  /** The fields that requests left out or renamed because their endpoint refuses them. */
  readonly adapted: Readonly<Record<ModelRole, readonly string[]>>;
  /** Answers by the provider that a router names. */
  readonly providers: Readonly<Record<string, number>>;
  readonly simulator: {
    /** The kinds of flaws that its guard refused. Each was requested again, or ended the rollout. */
    readonly flaws: readonly string[];
    /** Stops that the engine took from a message, because the agent still had to act on it. */
    readonly withheld: number;
  };
};

export type CallCount = {
  readonly tool: string;
  readonly calls: number;
  readonly errors: number;
  readonly isGeneric: boolean;
};

/**
 * Measures one recorded rollout. Pure; throws on an empty list.
 * @param tools what the domain's tools are; a tool that is not among them counts as an ordinary one
 */
export function measureOf(
  events: readonly RolloutEvent[],
  tools: readonly ToolKind[],
  timings: readonly Timing[] = [],
): Measure {
  const [started] = events;
  if (started?.type !== 'rolloutStarted') throw new Error('a recording begins with rolloutStarted');
  const ended = events.findLast((event) => event.type === 'rolloutEnded');
  const rewarded = events.findLast((event) => event.type === 'rewarded');
  const verdicts = events.flatMap((event, step) =>
    event.type === 'rulesChecked' ? event.verdicts.map((verdict) => ({ ...verdict, step })) : [],
  );
  const confirmed = verdicts.filter(({ check }) => check === 'confirmed');
  const allCalls = callsIn(events);
  const calls = allCalls.filter(({ isAgents }) => isAgents);
  const reward = rewarded?.reward ?? null;
  const failure = (ended?.failure as Failure | undefined) ?? null;
  const blamed = rewarded?.failedBy ?? failure?.who ?? (reward === null ? 'environment' : 'agent');
  return {
    task: started.task.id,
    split: started.task.split,
    trial: started.trial,
    reward,
    reason: rewarded?.reason ?? '',
    warning: goldWarning(events),
    endReason: ended?.reason ?? 'cancelled',
    failure,
    failedBy: reward === 1 || ended === undefined || started.imported ? null : blamed,
    checks: { met: rewarded?.completion?.met ?? 0, declared: rewarded?.completion?.of ?? 0 },
    card: Object.fromEntries(
      (rewarded?.card ?? []).flatMap(({ layer, verdict, items }) => {
        const mark = layerMark(verdict, items);
        return mark === null ? [] : [[layer, mark]];
      }),
    ),
    lapses: lapsesOf(rewarded?.card ?? []).map(({ layer, reason }) => ({ layer, reason })),
    turns: events.filter(({ type }) => type === 'agentReplied').length,
    said: spokenBy(events).map((text) => text.length),
    calls: countsOf(calls, tools),
    isHandedOff: ended?.reason === 'handedOff',
    handOffSummary: ended?.reason === 'handedOff' ? summaryQuality(calls, tools) : null,
    confirmations: { held: confirmed.filter(({ verdict }) => verdict === 'held').length, due: confirmed.length },
    violations: verdicts
      .filter(({ verdict }) => verdict === 'violated')
      .map(({ rule, gate, step }) => ({ rule, gate, step })),
    unnecessary: unnecessaryOf(allCalls),
    longestRepeat: longestRepeatOf(calls),
    ...timesOf(events, timings),
    providers: countedBy(timings.flatMap(({ provider }) => provider ?? [])),
    simulator: {
      flaws: timings.flatMap(({ flaws = [] }) => flaws.map(({ code }) => code)),
      withheld: timings.filter(({ withheld }) => withheld !== undefined).length,
    },
  };
}

type MadeCall = {
  readonly name: string;
  readonly values: JsonObject | string;
  readonly result: string | null;
  readonly isError: boolean;
  readonly hasWritten: boolean;
  readonly isAgents: boolean;
};

function callsIn(events: readonly RolloutEvent[]): readonly MadeCall[] {
  return events.flatMap((event, at): MadeCall[] => {
    if (event.type !== 'toolCalled') return [];
    const rest = events.slice(at + 1);
    const end = rest.findIndex(({ type }) => type === 'toolReturned' || type === 'toolCalled');
    const returned = rest[end];
    return [
      {
        name: event.call.name,
        values: event.call.arguments as JsonObject | string,
        result: returned?.type === 'toolReturned' ? returned.content : null,
        isError: returned?.type === 'toolReturned' && returned.isError,
        hasWritten:
          rest.slice(0, Math.max(end, 0)).some(({ type }) => type === 'databaseWritten' || type === 'sourceSaved') ||
          isSyncWrite(rest[end + 1]),
        isAgents: event.by === undefined,
      },
    ];
  });
}

function isSyncWrite(event: RolloutEvent | undefined): boolean {
  return event?.type === 'worldSynced' && event.writes.length > 0;
}

function countsOf(calls: readonly MadeCall[], tools: readonly ToolKind[]): readonly CallCount[] {
  return [...Map.groupBy(calls, ({ name }) => name)].map(([tool, made]) => ({
    tool,
    calls: made.length,
    errors: made.filter(({ isError }) => isError).length,
    isGeneric: tools.some(({ name, generic }) => name === tool && generic === true),
  }));
}

function unnecessaryOf(calls: readonly MadeCall[]): number {
  const seen = new Set<string>();
  let repeated = 0;
  for (const { name, values, result, isError, hasWritten, isAgents } of calls) {
    if (hasWritten) seen.clear();
    else if (!isError && isAgents) {
      const key = contentHash([name, values, result]);
      if (seen.has(key)) repeated += 1;
      seen.add(key);
    }
  }
  return repeated;
}

function longestRepeatOf(calls: readonly MadeCall[]): number {
  let last: string | undefined;
  let length = 0;
  let longest = 0;
  for (const { name, values } of calls) {
    const key = contentHash([name, values]);
    length = key === last ? length + 1 : 1;
    last = key;
    longest = Math.max(longest, length);
  }
  return longest;
}

/** Returns how much of what it found out and did the agent passes on to the person who takes over. */
function summaryQuality(calls: readonly MadeCall[], tools: readonly ToolKind[]): number | null {
  const kindOf = (tool: string) => tools.find(({ name }) => name === tool);
  const handOff = calls.findLast(({ name }) => kindOf(name)?.handsOff) ?? calls.at(-1);
  if (!handOff || typeof handOff.values === 'string') return null;
  const summary = Object.values(handOff.values)
    .filter((value) => typeof value === 'string')
    .join(' ');
  const values = calls
    .filter((call) => call !== handOff && !call.isError && !kindOf(call.name)?.generic)
    .flatMap((call) => (typeof call.values === 'string' ? [] : leavesOf(call.values)));
  const distinct = [...new Set(values)];
  if (distinct.length === 0) return null;
  return distinct.filter((value) => namesValue(summary, value)).length / distinct.length;
}

function spokenBy(events: readonly RolloutEvent[]): readonly string[] {
  return events.flatMap((event) =>
    event.type === 'agentReplied' && event.toolCalls.length === 0 && event.content ? [event.content] : [],
  );
}

/** Returns how often each name occurs. */
function countedBy(names: readonly string[]): Readonly<Record<string, number>> {
  return Object.fromEntries([...Map.groupBy(names, (name) => name)].map(([name, same]) => [name, same.length]));
}

const eventOf: Readonly<Record<ModelRole, RolloutEvent['type']>> = {
  agent: 'agentReplied',
  user: 'userReplied',
  judge: 'judged',
  tools: 'toolReturned',
};

function answerCounts(events: readonly RolloutEvent[], timings: readonly Timing[]): AnswerCounts {
  const described = timings
    .flatMap((timing): readonly AnswerEnd[] => [
      ...(timing.earlierEnds ?? []),
      { ...timing, brokenEnd: brokenEndIn(events[timing.n]) ?? timing.brokenEnd },
    ])
    .filter((end) => end.finishReason !== undefined || end.refusal !== undefined || end.brokenEnd !== undefined);
  const ends = described.map(
    ({ finishReason, refusal, brokenEnd }) =>
      brokenEnd ?? (refusal === undefined ? brokenEndOf(finishReason ?? null) : 'refusal'),
  );
  const counts = brokenEnds.map((end) => [end, ends.filter((each) => each === end).length]);
  const unknownEnds = countedBy(described.flatMap(({ finishReason = '' }) => unknownEndOf(finishReason) ?? []));
  const uncounted = timings.filter((timing) => isAnswered(timing) && !timing.usage).length;
  return {
    all: described.length,
    ...(Object.fromEntries(counts) as Record<BrokenEnd, number>),
    unknownEnds,
    uncounted,
  };
}

/** Whether a model answered: what is noted of a failure or an end can be a request that failed. */
export const isAnswered = (timing: Omit<Timing, 'n'>): boolean => {
  const { usage, finishReason, refusal, brokenEnd, flaws, earlierEnds } = timing;
  return Boolean(usage || finishReason || refusal || brokenEnd || flaws || earlierEnds);
};

/** Returns how the answer of a seat ended: some ends are seen in the answer alone, and not in its `finish_reason`. */
function brokenEndIn(event: RolloutEvent | undefined): BrokenEnd | undefined {
  return event?.type === 'agentReplied' || event?.type === 'userReplied' ? event.brokenEnd : undefined;
}

function timesOf(
  events: readonly RolloutEvent[],
  timings: readonly Timing[],
): Pick<Measure, 'latency' | 'tokens' | 'answers' | 'adapted'> {
  const typeOf = (timing: Timing) =>
    timing.role && isAnswered(timing) ? eventOf[timing.role] : events[timing.n]?.type;
  const times = (type: RolloutEvent['type']) =>
    timings.flatMap((timing) => (typeOf(timing) === type && timing.ms !== undefined ? [timing.ms] : []));
  const tokens = (type: RolloutEvent['type']) =>
    timings
      .filter((timing) => typeOf(timing) === type)
      .reduce(
        ({ input, output }, { usage }) => ({
          input: input + (usage?.input ?? 0),
          output: output + (usage?.output ?? 0),
        }),
        { input: 0, output: 0 },
      );
  return {
    latency: { agent: times('agentReplied'), user: times('userReplied'), tools: times('toolReturned') },
    tokens: byRole((role) => tokens(eventOf[role])),
    adapted: byRole((role) => [
      ...new Set(timings.flatMap((timing) => (typeOf(timing) === eventOf[role] ? (timing.adapted ?? []) : []))),
    ]),
    answers: byRole((role) =>
      answerCounts(
        events,
        timings.filter((timing) => typeOf(timing) === eventOf[role]),
      ),
    ),
  };
}
