import { factOf, type Task } from '../../core/domain/task.ts';
import type { Tool } from '../../core/domain/tool.ts';
import { clockTimesIn } from '../../core/text/clockTime.ts';
import { literal } from '../../core/text/literal.ts';
import { withDigits } from '../../core/text/text.ts';
import { saysPhrase } from '../../core/verifiers/spokenPhrase.ts';
import { placeOf } from '../source/items.ts';
import type { Note } from '../source/note.ts';
import { madeIn, type Replayed, undecided } from './goldReplay.ts';

/** The texts that an agent of a domain reads beside the conversation. */
export type AgentTexts = { readonly policy: string; readonly tools: readonly Tool[]; readonly now: string };

/**
 * Notes texts under `communicate` with a number or a value of the database that an agent has nowhere from: no result of the
 * gold rollout has it, nor do the policy, the tools or the task.
 * @param isValue whether the database has a text as a value
 */
export function noteSourcelessTexts(
  replayed: readonly Replayed[],
  { policy, tools, now }: AgentTexts,
  isValue: (text: string) => boolean,
  note: Note,
): void {
  const described = [policy, now, ...tools.flatMap((tool) => [tool.description, JSON.stringify(tool.parameters)])];
  for (const { placed, first } of replayed) {
    const { communicate, communicateBy, evaluate, train, now: own = '' } = placed.value;
    // Imports are as their benchmark has them.
    if (communicateBy !== undefined || !(evaluate.includes('communicate') || train.includes('communicate'))) continue;
    if (communicate.length === 0 || undecided(first) !== null) continue;
    const results = madeIn(first.arrived).map(({ content }) => content);
    const sources = [...results, ...textsOfTask(placed.value), own, ...described];
    for (const [index, text] of communicate.entries()) {
      const missing = sourceless(text, sources, isValue);
      if (missing === null) continue;
      note(
        placeOf(placed, 'communicate', index),
        'warning',
        'task/sourceless-text',
        `The agent must tell the user ${missing}${missing === text ? '' : ` ("${text}")`}, but it has no source for it: no tool returned it in the gold rollout, and neither the policy nor the user's texts contain it.`,
        'Correct it, or add the action whose result contains it.',
      );
    }
  }
}

function textsOfTask({ user: { goal, opening, known, change, insist } }: Task): readonly string[] {
  const facts = [known, change?.known ?? {}].flatMap((each) => Object.values(each).map(factOf));
  return [
    goal,
    ...[opening, change?.say, insist?.say].filter((text) => text !== undefined),
    ...facts.flatMap(({ value, say }) => [String(value), say]),
  ];
}

/** Returns the part of a text that no source has: a number, or all of it where it is a value; null without one. */
function sourceless(text: string, sources: readonly string[], isValue: (text: string) => boolean): string | null {
  const isSaid = (part: string) => sources.some((source) => saysPhrase(source, part));
  if (isSaid(text) || hasTime(text, sources)) return null;
  const numbers = withDigits(text).match(/\d+(?:[.,:]\d+)*/g) ?? [];
  const missing = numbers.find((number) => !isSaid(number) && !isWritten(number, sources));
  return missing ?? (numbers.length === 0 && isValue(text) ? text : null);
}

/** Whether a source has the digits of a number, also within a date or an id. */
function isWritten(number: string, sources: readonly string[]): boolean {
  const pattern = new RegExp(`(?<!\\d|\\d[.,])0*${literal(number)}(?!\\d|[.,]\\d)`);
  return sources.some((source) => pattern.test(source));
}

/** Whether a source has a time of day of a text, which can be in another form: 2 pm is 14:00. */
function hasTime(text: string, sources: readonly string[]): boolean {
  const times = clockTimesIn(text);
  return times.length > 0 && sources.some((source) => clockTimesIn(source).some((time) => times.includes(time)));
}
