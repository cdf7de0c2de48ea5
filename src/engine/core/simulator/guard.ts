import { brokenEndText } from '../events/displayText.ts';
import type { UserReply, UserView } from '../seats/seat.ts';
import { earlyStop } from './earlyStop.ts';
import { inventedGoal } from './inventedGoal.ts';
import { leakedInstructions } from './leakedInstructions.ts';
import { repetition } from './repetition.ts';
import { roleFlip } from './roleFlip.ts';

export const flawCodes = [
  'empty',
  'refused',
  'unparsed-call',
  'role-flip',
  'leaked-instructions',
  'repeated',
  'early-stop',
  'invented-goal',
] as const;
export type FlawCode = (typeof flawCodes)[number];

/** A flaw in a message of a simulated user: no person with this task would have written it. */
export type Flaw = {
  readonly code: FlawCode;
  /** A clause for people and for the model: "it ...". */
  readonly message: string;
};

/**
 * The guard against a broken simulator. It decides from the text, the conversation and the task alone, so that its
 * word is the same in every replay. Where it is in doubt it says nothing: a rollout that ends here says nothing about
 * the agent either.
 */
export function flawOf(view: UserView, reply: UserReply): Flaw | null {
  const { content, stop, brokenEnd } = reply;
  if (brokenEnd === 'refusal' || brokenEnd === 'filter')
    return { code: 'refused', message: `it does not speak as the user: its answer was ${brokenEndText[brokenEnd]}` };
  if (brokenEnd === 'unparsed')
    return { code: 'unparsed-call', message: 'it has a call of a tool in its text, which was not made' };
  if (!/[\p{L}\p{N}]/u.test(content) && stop === null) return { code: 'empty', message: 'it says nothing' };
  for (const [code, problem] of problems) {
    const message = problem(view, reply);
    if (message !== null) return { code, message };
  }
  return null;
}

const problems: readonly (readonly [FlawCode, (view: UserView, reply: UserReply) => string | null])[] = [
  ['role-flip', (view, { content }) => roleFlip(view, content)],
  ['leaked-instructions', leakedInstructions],
  ['repeated', (view, { content }) => repetition(view, content)],
  ['early-stop', earlyStop],
  ['invented-goal', (view, { content }) => inventedGoal(view, content)],
];
