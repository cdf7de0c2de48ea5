import { namesValue } from '../dialogue/dialogue.ts';
import { factOf } from '../domain/task.ts';
import { factsOf } from '../events/facts.ts';
import { messagesOf } from '../events/message.ts';
import { disagreementWith } from '../seats/disagreement.ts';
import type { UserView } from '../seats/seat.ts';
import { plain } from '../text/text.ts';
import { standingOf } from './direction.ts';
import { quoted } from './roleFlip.ts';
import { turnsOf } from './turns.ts';

/** Matches identifiers of one thing of the world: a code, an address, a long number. */
const identifiers =
  /[\w.+-]+@[\w-]+(?:\.[\w-]+)+|(?<![\w@.-])#?[A-Z]{1,5}-?\d+[A-Z0-9]*(?![\w@-])|(?<![\w@.-])#?[A-Za-z]{1,5}-?\d{2,}(?![\w@-])|(?<![\w.,-])\d{5,}(?![\w.,-]\d)/g;

/** Whether the user mentions a thing or a value that it was not given and that was not named. */
export function inventedGoal(view: UserView, content: string): string | null {
  const given = givenTo(view);
  const strange = [...content.matchAll(identifiers)].map(([found]) => found).find((found) => !isGiven(found, given));
  if (strange !== undefined) return `it speaks of ${strange}, which is nothing that it knows of`;
  const { direction, isChanged } = standingOf(view);
  if (direction?.type === 'attack') return null;
  if (direction?.type === 'behaviour' || content.includes('?')) return null;
  const facts = factsOf(view.task, isChanged);
  // Without the database: its false alarms were measured with the facts of tasks alone.
  const { domain, task } = view;
  const wrong = disagreementWith(content, { domain, task }, facts, given);
  return wrong?.type === 'wrongValue' && !isNegated(content)
    ? `it says another ${wrong.fact} than it knows: "${quoted(content)}"`
    : null;
}

/** Returns everything that the user may mention: its task, its persona, what was said, and what its own tools showed. */
export function givenTo({ task, persona, messages, started }: UserView): string {
  const { goal, opening, known, change, insist } = task.user;
  const facts = [...Object.values(known), ...Object.values(change?.known ?? {})].map(factOf);
  return [
    goal,
    opening ?? '',
    change?.say ?? '',
    insist?.say ?? '',
    persona.description,
    ...persona.attacks.flatMap(({ aim, say }) => [aim, ...say]),
    started.now,
    ...facts.flatMap(({ value, say }) => [String(value), say]),
    ...turnsOf(messages).map(({ content }) => content),
    ...messagesOf('user', messages).flatMap((message) => (message.role === 'tool' ? [message.content] : [])),
  ].join(' , ');
}

const bare = (text: string) => text.toLowerCase().replace(/[#-]/g, '');

function isGiven(found: string, given: string): boolean {
  return namesValue(given, found) || bare(given).includes(bare(found));
}

/** "Not the red one": a value that it names in order to say no to it. */
const isNegated = (content: string) => /\b(?:not|no|never|instead of|rather than|other than)\b/.test(plain(content));
