import type { ToolCall } from '../events/message.ts';
import type { AgentReply } from '../seats/seat.ts';
import { canonicalJson, type Json } from '../values/json.ts';

/** The ways in which a proposal relates to what was done in the same place. */
export const shadowKinds = [
  'sameCall',
  'sameTool',
  'otherTool',
  'bothSpeak',
  'speaksInstead',
  'callsInstead',
  /** The agent failed in its turn. */
  'failed',
  /** There was no answer, and that says nothing about the agent. */
  'unanswered',
] as const;
export type ShadowKind = (typeof shadowKinds)[number];

/** An agent's action in a turn: it calls tools, or it speaks. */
export type Action = Pick<AgentReply, 'content' | 'toolCalls'>;

/** One turn of recorded traffic, and what another agent proposed in its place. */
export type ShadowTurn = {
  /** Number of the agent's turn in the conversation, from 1. */
  readonly turn: number;
  /** The position in its source: the event of a recording, or the message of a chat (from 1). */
  readonly place: number;
  readonly kind: ShadowKind;
  readonly done: Action;
  readonly proposed: Action | null;
  /** Calls of reads that the agent made first, and that were executed. */
  readonly reads: number;
  /** Why there is no proposal. */
  readonly problem?: string;
};

export type ShadowedRollout = {
  readonly name: string;
  readonly task: string | null;
  readonly turns: readonly ShadowTurn[];
};

export type Agreement = {
  readonly turns: number;
  readonly kinds: Readonly<Record<ShadowKind, number>>;
  /** Turns in which the agent would have called the same with the same arguments, or spoken as was spoken. */
  readonly agreeing: number;
  /** Of the turns that were answered; null when none was. */
  readonly share: number | null;
  /** Of the turns in which both speak: how many have the same words. */
  readonly sameWords: number;
  /** Calls of write tools: how many were made, how many of them were proposed alike, and how many more were proposed. */
  readonly writes: { readonly made: number; readonly alike: number; readonly others: number };
};

/** Returns how a proposal relates to what was done. The order of calls in one message and of keys does not matter. */
export function kindOf(done: Action, proposed: Action): ShadowKind {
  const [made, wanted] = [done.toolCalls, proposed.toolCalls];
  if (made.length === 0) return wanted.length === 0 ? 'bothSpeak' : 'callsInstead';
  if (wanted.length === 0) return 'speaksInstead';
  if (isSameList(made.map(callText), wanted.map(callText))) return 'sameCall';
  const name = (call: ToolCall) => call.name;
  return isSameList(made.map(name), wanted.map(name)) ? 'sameTool' : 'otherTool';
}

export function isAgreeing(kind: ShadowKind): boolean {
  return kind === 'sameCall' || kind === 'bothSpeak';
}

/** The first turn in which an agent would have done something else; null if it does the same in all. */
export function shadowDivergence({ turns }: ShadowedRollout): ShadowTurn | null {
  return turns.find(({ kind }) => !isAgreeing(kind) && kind !== 'unanswered') ?? null;
}

/** @param isWrite whether a tool of this name changes something */
export function agreementOf(rollouts: readonly ShadowedRollout[], isWrite: (tool: string) => boolean): Agreement {
  const turns = rollouts.flatMap((rollout) => rollout.turns);
  const count = (of: (turn: ShadowTurn) => boolean) => turns.filter(of).length;
  const kinds = Object.fromEntries(shadowKinds.map((kind) => [kind, count((turn) => turn.kind === kind)]));
  const agreeing = count(({ kind }) => isAgreeing(kind));
  const answered = turns.length - (kinds['unanswered'] ?? 0);
  return {
    turns: turns.length,
    kinds: kinds as Record<ShadowKind, number>,
    agreeing,
    share: answered === 0 ? null : agreeing / answered,
    sameWords: count(({ kind, done, proposed }) => kind === 'bothSpeak' && done.content === proposed?.content),
    writes: turns
      .map(({ done, proposed }) => writesOf(done, proposed, isWrite))
      .reduce(
        (sum, { made, alike, others }) => ({
          made: sum.made + made,
          alike: sum.alike + alike,
          others: sum.others + others,
        }),
        { made: 0, alike: 0, others: 0 },
      ),
  };
}

function writesOf(done: Action, proposed: Action | null, isWrite: (tool: string) => boolean): Agreement['writes'] {
  const texts = (action: Action | null) => (action?.toolCalls ?? []).filter(({ name }) => isWrite(name)).map(callText);
  const left = texts(proposed);
  const made = texts(done);
  const alike = made.filter((text) => {
    const at = left.indexOf(text);
    if (at >= 0) left.splice(at, 1);
    return at >= 0;
  });
  return { made: made.length, alike: alike.length, others: left.length };
}

function callText({ name, arguments: given }: ToolCall): string {
  return `${name} ${canonicalJson(given as Json)}`;
}

function isSameList(one: readonly string[], other: readonly string[]): boolean {
  const sorted = other.toSorted();
  return one.length === other.length && one.toSorted().every((text, index) => text === sorted[index]);
}
