import {
  basisText,
  brokenEndText,
  endedByPerson,
  endReasonText,
  isEndedByPerson,
  maskingText,
} from '../../engine/core/events/displayText.ts';
import type { RolloutEvent, RolloutStarted, Writes } from '../../engine/core/events/event.ts';
import type { ToolCall } from '../../engine/core/events/message.ts';
import type { CardItem, LayerName } from '../../engine/core/events/reportCard.ts';
import { showPath } from '../../engine/core/values/json.ts';
import type { Media } from '../../engine/core/values/media.ts';
import type { Numbered } from '../messages/protocol.ts';
import type { Trajectory } from './entries.ts';
import { nameOf } from './recordingName.ts';

/** One changed place of a side's database, as text. */
export type Change = {
  readonly side: 'agent' | 'user';
  readonly place: string;
  readonly before: string | null;
  readonly after: string | null;
};

/** One verdict as shown: what it is about, the verdict, and why. */
export type VerdictLine = {
  readonly name: string;
  readonly verdict: 'held' | 'violated' | 'unknown';
  readonly detail: string;
  /** Steps that decide it. */
  readonly evidence: readonly number[];
  /** The rule of the check; a verifier has none. */
  readonly rule?: string;
  /** A violation makes the reward 0. */
  readonly gate?: boolean;
};

/** A picture of a result: its address, and the words for it. */
export type Picture = { readonly source: string; readonly text: string };

/** One step of a recording as the view lists it. */
export type StepEntry = {
  readonly n: number;
  readonly speaker: 'agent' | 'user' | 'tool' | 'engine';
  readonly title: string;
  /** `bad` marks problems, `good` achievements. */
  readonly tone: 'plain' | 'good' | 'bad';
  readonly text?: string;
  readonly reasoning?: string;
  readonly code?: readonly { readonly label: string; readonly text: string }[];
  /** Pictures of a result, as addresses that hold them. */
  readonly pictures?: readonly Picture[];
  readonly changes?: readonly Change[];
  readonly verdicts?: readonly VerdictLine[];
};

/** The content of the heading above the steps. */
export type Heading = {
  readonly task: string;
  readonly facts: readonly string[];
  readonly forkOf: string | null;
  readonly reward: {
    readonly value: number | null;
    readonly reason: string;
    readonly isNobodys?: true;
  } | null;
};

/** The heading of a recording, as far as its events have been read. */
export function headingOf({ started, rewarded }: Pick<Trajectory, 'started' | 'rewarded'>): Heading | null {
  if (!started) return null;
  const { task, domain, seats, seed, trial, basis, parent, imported } = started;
  return {
    task: task.id,
    facts: imported
      ? importedFacts(domain.name, imported)
      : [
          domain.name,
          `${task.split} split`,
          `agent: ${seats.agent}`,
          `user: ${seats.user}`,
          `seed ${seed}, trial ${trial}`,
          basisText(basis),
        ],
    forkOf: parent ? `Fork of ${nameOf(parent.recording)} after step ${parent.event}: ${parent.edit}` : null,
    reward: rewarded && {
      value: rewarded.reward,
      reason: rewarded.reason,
      ...(isNobodys(rewarded) ? { isNobodys: true as const } : {}),
    },
  };
}

/** Whether there is no reward and no one to blame: a conversation that was not rehearsed gets none. */
export function isNobodys({ reward, failedBy }: Extract<RolloutEvent, { type: 'rewarded' }>): boolean {
  return reward === null && failedBy === null;
}

/** Returns what a conversation that was not rehearsed has in place of seats, seed and split. */
function importedFacts(domain: string, imported: NonNullable<RolloutStarted['imported']>): readonly string[] {
  const { file, line } = imported;
  return [domain, `a real conversation, from ${file}, line ${line}`, maskingText(imported), 'its database is unknown'];
}

/** The step that an event is in the view. */
export function stepEntry({ n, event }: Numbered): StepEntry {
  return { n, ...described(event) };
}

function described(event: RolloutEvent): Omit<StepEntry, 'n'> {
  switch (event.type) {
    case 'rolloutStarted':
      return {
        speaker: 'engine',
        title: 'Rollout started',
        tone: 'plain',
        code: [
          { label: 'System prompt', text: event.system },
          { label: `${event.tools.length} tools`, text: pretty(event.tools) },
          ...(event.userTools
            ? [{ label: `${event.userTools.length} tools of the user`, text: pretty(event.userTools) }]
            : []),
        ],
      };
    case 'worldPrepared':
      return { speaker: 'engine', title: 'Initial state of the task', tone: 'plain', changes: changesOf(event.writes) };
    case 'worldSynced':
      return {
        speaker: 'engine',
        title:
          event.writes.length > 0
            ? 'Databases of agent and user synced'
            : 'Databases of agent and user already in sync',
        tone: 'plain',
        changes: changesOf(event.writes),
      };
    case 'worldEdited':
      return {
        speaker: 'engine',
        title: 'Database edited in the debugger',
        tone: 'plain',
        changes: changesOf(event.writes),
      };
    case 'userReplied':
      return {
        speaker: 'user',
        ...titleOf(event.stop === null ? 'User' : `User, ends: ${event.stop}`, event),
        ...(event.content && { text: event.content }),
        ...(event.reasoning && { reasoning: event.reasoning }),
        ...(event.toolCalls && { code: callsOf(event.toolCalls) }),
      };
    case 'agentReplied':
      return agentEntry(event);
    case 'rulesChecked':
      return rulesEntry(event);
    case 'toolCalled':
      return {
        speaker: 'tool',
        title: `${event.by ? 'The user called' : 'Called'} ${event.call.name}`,
        tone: 'plain',
        code: [{ label: 'Arguments', text: argumentsOf(event.call) }],
      };
    case 'faultInjected':
      return {
        speaker: 'engine',
        title: `Seeded fault: ${event.fault.type}`,
        tone: 'plain',
        code: [{ label: 'Fault', text: pretty(event.fault) }],
      };
    case 'sourceSaved':
      return {
        speaker: 'engine',
        title: `Snapshot of ${event.source}`,
        tone: 'plain',
        code: [{ label: 'Snapshot', text: pretty(event.snapshot) }],
      };
    case 'databaseWritten':
      return { speaker: 'engine', title: 'Database written', tone: 'plain', changes: changesOf(event.writes) };
    case 'toolReturned':
      return {
        speaker: 'tool',
        title: `${event.isError ? 'Tool returned an error' : 'Tool returned'}${event.by ? ' to the user' : ''}`,
        tone: event.isError ? 'bad' : 'plain',
        code: [{ label: 'Result', text: prettyText(event.content) }],
        ...(event.media && { pictures: picturesOf(event.media) }),
      };
    case 'rolloutEnded':
      return {
        speaker: 'engine',
        title: `Rollout ended: ${endReasonText(event.reason)}`,
        tone: event.failure ? 'bad' : 'plain',
        ...(event.failure && { text: event.failure.message }),
      };
    case 'sourceRead':
      return {
        speaker: 'engine',
        title: `State of ${event.source} read`,
        tone: 'plain',
        code: [{ label: 'State', text: pretty(event.state) }],
      };
    case 'judged':
      return {
        speaker: 'engine',
        title: `Judge: ${event.holds === null ? 'no answer' : event.holds ? 'yes' : 'no'}`,
        tone: event.holds === false ? 'bad' : 'plain',
        text: `${event.question} ${event.reason}`,
      };
    case 'verdictReached': {
      const { verifier, held, unknown, detail, of } = event.verdict;
      if (of === 0) return { speaker: 'engine', title: `Verifier ${verifier} requires nothing`, tone: 'plain' };
      const verdict = held ? 'held' : unknown ? 'unknown' : 'violated';
      return {
        speaker: 'engine',
        title: `Verifier ${verifier}`,
        tone: ({ held: 'good', unknown: 'plain', violated: 'bad' } as const)[verdict],
        verdicts: [{ name: verifier, verdict, detail, evidence: event.verdict.evidence }],
      };
    }
    case 'rewarded':
      return {
        speaker: 'engine',
        title: event.reward === null ? 'No reward' : `Reward ${event.reward}`,
        tone: event.reward === 1 ? 'good' : isNobodys(event) ? 'plain' : 'bad',
        text: event.reason,
      };
    default: {
      const unknown: never = event;
      return {
        speaker: 'engine',
        title: String((unknown as { type: string }).type),
        tone: 'plain',
        code: [{ label: 'Event', text: pretty(unknown) }],
      };
    }
  }
}

function agentEntry(event: Extract<RolloutEvent, { type: 'agentReplied' }>): Omit<StepEntry, 'n'> {
  const { content, reasoning, toolCalls } = event;
  return {
    speaker: 'agent',
    ...titleOf('Agent', event),
    ...(content && { text: content }),
    ...(reasoning && { reasoning }),
    ...(toolCalls.length > 0 && { code: callsOf(toolCalls) }),
  };
}

/** The longest picture that is shown, in characters of base64. */
const longestPicture = 14_000_000;

/** Types that every browser draws and that run no script. */
const pictureTypes: ReadonlySet<string> = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp']);

/** Returns the pictures that can be shown. Others stay a line of the result. */
function picturesOf(media: readonly Media[]): readonly Picture[] {
  return media.flatMap(({ mimeType, data, problem }) => {
    const isPicture = pictureTypes.has(mimeType) && problem === undefined;
    const isShown = isPicture && data.length <= longestPicture && /^[A-Za-z0-9+/]+={0,2}$/.test(data);
    return isShown ? [{ source: `data:${mimeType};base64,${data}`, text: `A picture of the type ${mimeType}` }] : [];
  });
}

function callsOf(calls: Extract<RolloutEvent, { type: 'agentReplied' }>['toolCalls']) {
  return calls.map((call) => ({ label: `Calls ${call.name}`, text: argumentsOf(call) }));
}

function rulesEntry({ verdicts }: Extract<RolloutEvent, { type: 'rulesChecked' }>): Omit<StepEntry, 'n'> {
  const rulesThat = (wanted: 'violated' | 'unknown') => [
    ...new Set(verdicts.flatMap(({ rule, verdict }) => (verdict === wanted ? [rule] : []))),
  ];
  const violated = rulesThat('violated');
  const unknown = rulesThat('unknown');
  const isAnyHeld = verdicts.some(({ rule }) => !unknown.includes(rule));
  const held = unknown.length === 0 ? 'Rules held' : `Rules held, except ${unknown.join(', ')} (unknown)`;
  return {
    speaker: 'engine',
    title: violated.length > 0 ? `Violated: ${violated.join(', ')}` : isAnyHeld ? held : 'Rules unknown',
    tone: violated.length === 0 ? 'plain' : 'bad',
    verdicts: verdicts.map(({ rule, verdict, reason, evidence, gate }) => ({
      name: rule,
      verdict,
      detail: reason,
      evidence,
      rule,
      gate,
    })),
  };
}

type Reply = Extract<RolloutEvent, { type: 'agentReplied' | 'userReplied' }>;

/** Returns the title of a reply, with what a person did to it and why it is not whole. */
function titleOf(title: string, { origin, brokenEnd }: Reply): Pick<StepEntry, 'title' | 'tone'> {
  const notes = [origin, brokenEnd && brokenEndText[brokenEnd]].filter((note) => note !== undefined);
  return {
    title: notes.length === 0 ? title : `${title} (${notes.join(', ')})`,
    tone: brokenEnd === undefined ? 'plain' : 'bad',
  };
}

/** The titles of the layers of a report card. */
export const layerTitles: Readonly<Record<LayerName, string>> = {
  outcome: 'Outcome',
  policy: 'Policy',
  communication: 'Communication',
  safety: 'Safety',
  recovery: 'Recovery',
};

/** Returns how many items of a layer of the report card have each verdict. */
export function layerText(items: readonly Pick<VerdictLine, 'verdict'>[]): string {
  const counts = (['violated', 'held', 'unknown'] as const).flatMap((verdict) => {
    const count = items.filter((item) => item.verdict === verdict).length;
    return count === 0 ? [] : [`${count} ${verdict}`];
  });
  return counts.join(', ') || 'nothing to check';
}

/** Returns the steps of an item of the report card: that of a rule's verdict is the last, after its evidence. */
export function stepsOf({ evidence, line }: Pick<CardItem, 'evidence' | 'line'>): {
  readonly steps: readonly number[];
  readonly evidence: readonly number[];
} {
  return line === undefined
    ? { steps: evidence, evidence: [] }
    : { steps: evidence.slice(-1), evidence: evidence.slice(0, -1) };
}

/** Returns a text such as "(step 16; evidence: step 2)" with its numbers apart; empty without a step. */
export function stepParts(steps: readonly number[], evidence: readonly number[]): readonly (string | number)[] {
  const listed = (numbers: readonly number[], lead: string): readonly (string | number)[] =>
    numbers.flatMap((step, index) => [index > 0 ? ', ' : `${lead}${numbers.length > 1 ? 'steps' : 'step'} `, step]);
  const parts = [...listed(steps, ''), ...listed(evidence, steps.length > 0 ? '; evidence: ' : 'evidence: ')];
  return parts.length === 0 ? [] : ['(', ...parts, ')'];
}

/** Returns who or what kept a rollout from the reward 1; null where nothing is known to have. */
export function failedText({
  started,
  ended,
  rewarded,
}: Pick<Trajectory, 'started' | 'ended' | 'rewarded'>): string | null {
  if (!rewarded?.failedBy) return null;
  const ending = { user: started?.seats.user ?? '', endReason: ended?.reason ?? '', ...rewarded };
  return isEndedByPerson(ending) ? `Not completed: ${endedByPerson}` : `Failed by: ${rewarded.failedBy}`;
}

/** Returns why a recording has no reward. */
export function noRewardText({ ended }: Pick<Trajectory, 'ended'>, isWritten: boolean): string {
  if (ended === null && isWritten) return 'No reward yet: the rollout is still running.';
  return `No reward: the rollout was stopped before ${ended === null || ended.reason === 'cancelled' ? 'it ended' : 'it was evaluated'}.`;
}

/** Returns the name of an item of the report card as a heading; a rule keeps its id. */
export function cardTitle({ name, line }: Pick<CardItem, 'name' | 'line'>): string {
  return line === undefined && name === 'end' ? 'end of the conversation' : name;
}

/** Returns what writes change, as a person reads it. */
export function changesOf(writes: Writes): readonly Change[] {
  return writes.flatMap(({ side, patches }) =>
    patches.map(({ op, path, value, old }) => ({
      side,
      place: showPath(path),
      before: op === 'add' ? null : old === undefined ? '…' : JSON.stringify(old),
      after: op === 'remove' ? null : JSON.stringify(value),
    })),
  );
}

function argumentsOf(call: Pick<ToolCall, 'name'> & { readonly arguments: unknown }): string {
  return typeof call.arguments === 'string' ? call.arguments : pretty(call.arguments);
}

function prettyText(text: string): string {
  try {
    return pretty(JSON.parse(text));
  } catch {
    return text;
  }
}

/** Formats JSON as a person would: on one line if it is short. */
function pretty(value: unknown): string {
  const whole = JSON.stringify(value, null, 2);
  const line = whole.replace(/\n\s*/g, ' ');
  return line.length <= 80 ? line : whole;
}
