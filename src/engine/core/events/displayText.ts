import type { MaskingMark } from '../text/maskingMark.ts';
import type { BrokenEnd } from '../values/answerEnd.ts';
import type { EndReason } from './event.ts';
import type { ReportCard } from './reportCard.ts';

const endReasons: Readonly<Record<EndReason, string>> = {
  userStopped: 'the user ended the conversation',
  handedOff: 'the agent handed the conversation over',
  turnCap: 'the limit of turns was reached',
  messageCap: 'the limit of messages was reached',
  toolErrorCap: 'the limit of tool errors was reached',
  agentFailed: 'the agent failed',
  userFailed: 'the simulated user failed',
  userInvalid: 'the simulated user sent an invalid message',
  environmentFailed: 'the environment failed',
  infrastructureFailed: 'the infrastructure failed',
  cancelled: 'the rollout was stopped before it ended',
};

/** Returns in words how a rollout ended; a reason that this version does not know is returned as it is. */
export function endReasonText(reason: string): string {
  return (endReasons as Readonly<Record<string, string>>)[reason] ?? reason;
}

/** Returns a reward in words, as in "reward 1", "reward 0.333" and "no reward". */
export function rewardText(reward: number | null): string {
  return reward === null ? 'no reward' : `reward ${Number(reward.toFixed(3))}`;
}

/** The facts about an end that decide whether the agent is to blame. */
type Ending = {
  readonly user: string;
  readonly endReason: string;
  readonly reward: number | null;
  readonly reason: string;
};

/**
 * Whether a person in the user's seat ended a conversation whose work was not done: the agent may not have failed. A
 * rule that was violated is the agent's failure all the same.
 */
export function isEndedByPerson({ user, endReason, reward, reason }: Ending): boolean {
  const isLost = reward !== null && reward < 1 && !reason.startsWith('rule ');
  return user === 'human' && endReason === 'userStopped' && isLost;
}

export const endedByPerson = "the person in the user's seat ended the conversation, and the work was not done";

/** Returns in words which basis of a task decides a reward. */
export function basisText(basis: string): string {
  return `scored for ${basis === 'train' ? 'training' : 'evaluation'}`;
}

/**
 * Returns the verdict that a layer of a report card is marked and counted with: held only where each of its items held.
 * A layer with nothing to check has none.
 */
export function layerMark(
  verdict: ReportCard[number]['verdict'],
  items: readonly Pick<ReportCard[number]['items'][number], 'verdict'>[],
): ReportCard[number]['verdict'] | null {
  if (items.length === 0) return null;
  return verdict === 'held' && items.some((item) => item.verdict !== 'held') ? 'unknown' : verdict;
}

/** Returns what happened to an answer that is not whole, as in "2 answers were ...". */
export const brokenEndText: Readonly<Record<BrokenEnd, string>> = {
  length: 'cut off at the token limit',
  filter: 'withheld by a filter',
  refusal: 'refused',
  call: 'ended by a call that cannot be read',
  unparsed: 'sent with a call in the text',
  empty: 'empty',
};

/** A question that points to the likely cause of `unparsed` answers. */
export const parserQuestion = "Is the server's tool-call parser switched on?";

/** Returns how far personal data is masked, as people read it. */
export function maskingText({ masked, recogniser }: MaskingMark): string {
  if (!masked) return 'personal data NOT masked';
  return recogniser === undefined
    ? 'personal data masked in part, without a recogniser of names'
    : `personal data masked, names found by ${recogniser}`;
}

/** Returns a difference with its sign, to three decimals. */
export const signed = (difference: number): string => `${difference > 0 ? '+' : ''}${difference.toFixed(3)}`;

/** The point where two related recordings part, as far as a text about it needs it. */
type Parted = {
  readonly event: number;
  readonly edits: readonly [string | null, string | null];
  readonly origin: string;
  readonly between: readonly [readonly string[], readonly string[]];
};

/**
 * Returns a sentence on how two recordings are related.
 * @param files the names of their files
 * @param labels the names that the reader knows them by
 */
export function forkText(
  { event, edits: [left, right], origin, between: [before, behind] }: Parted,
  [file, other]: readonly [string, string],
  [one, two]: readonly [string, string],
): string {
  if (left === null && file === origin) return descentText(two, [...behind, one], event, right);
  if (right === null && other === origin) return descentText(one, [...before, two], event, left);
  const edited = [left && `${one}: ${left}`, right && `${two}: ${right}`].filter(Boolean).join('; ');
  return `${one} and ${two} are forks of ${origin}, and all share the steps up to ${event}${edited && ` (${edited})`}.`;
}

/** @param parents the recordings that a fork comes from, the nearest first */
function descentText(fork: string, parents: readonly string[], event: number, edit: string | null): string {
  const edited = edit === null ? '' : `: ${edit}`;
  if (parents.length === 1) return `${fork} is a fork of ${parents[0]} after step ${event}${edited}.`;
  const line = `${fork} is a fork of ${parents.join(', which is a fork of ')}`;
  return `${line}. They share the steps up to ${event}${edited}.`;
}

/** Returns why a rollout has no reward, after the words that it has none. */
export const unscoredText = (reason: string): string =>
  reason.startsWith('not scored: ') ? reason : `not scored: ${reason}`;
