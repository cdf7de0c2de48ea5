import { factOf, type Task } from '../../core/domain/task.ts';
import { saysPhrase } from '../../core/verifiers/spokenPhrase.ts';
import { type Placed, placeOf } from '../source/items.ts';
import type { Note } from '../source/note.ts';
import { madeIn, type Replayed } from './goldReplay.ts';

/** Words up to which a text that the user says too is taken for one that matches by accident. */
const fewWords = 3;
/** Letters and digits up to which a text is short enough to be found in what has nothing to do with it. */
const fewLetters = 3;

/**
 * Notes texts under `communicate` that an agent says without telling what they are about: words that it repeats of the
 * user, and short ones that are in the policy or in what most rollouts see.
 */
export function noteLoosePhrases(replayed: readonly Replayed[], policy: string, note: Note): void {
  const seen = new Map(replayed.map((each) => [each.placed, resultsOf(each)]));
  for (const { placed } of replayed) {
    const { communicate, communicateBy, evaluate, train } = placed.value;
    // Imports are as their benchmark has them.
    if (communicateBy !== undefined || !(evaluate.includes('communicate') || train.includes('communicate'))) continue;
    for (const [index, text] of communicate.entries()) {
      const where = accidentOf(text, placed, policy, seen);
      if (where === null) continue;
      note(
        placeOf(placed, 'communicate', index),
        'warning',
        'task/loose-phrase',
        `An agent can say "${text}" by accident: ${where}.`,
        'Write a longer text that only the right answer contains, such as a number with its unit.',
      );
    }
  }
}

/** Returns where an agent has a text from that it says by accident, in words; null where nothing suggests that. */
function accidentOf(
  text: string,
  placed: Placed<Task>,
  policy: string,
  seen: ReadonlyMap<Placed<Task>, readonly string[]>,
): string | null {
  const isFew = text.trim().split(/\s+/).length <= fewWords;
  const said = isFew ? wordsOfUser(placed.value).find(({ words }) => saysPhrase(words, text)) : undefined;
  if (said) return `the user says it (${said.key})`;
  if ((text.match(/[\p{L}\p{N}]/gu) ?? []).length > fewLetters) return null;
  if (saysPhrase(policy, text)) return 'it is in the policy';
  const others = [...seen].filter(([other]) => !other.value.communicate.includes(text));
  const found = others.filter(([, results]) => results.some((result) => saysPhrase(result, text))).length;
  return found > 1 && found * 2 >= others.length
    ? `tools return it in ${found} of ${others.length} gold rollouts of other tasks`
    : null;
}

/** Returns the texts of a task that the user says in its own words, by key. The user never says the goal. */
function wordsOfUser({ user }: Task): readonly { readonly key: string; readonly words: string }[] {
  const factsIn = (key: string, facts: Task['user']['known'] = {}) =>
    Object.fromEntries(Object.entries(facts).map(([name, fact]) => [`${key}.${name}`, factOf(fact).say]));
  const texts = {
    'user.opening': user.opening,
    'user.change.say': user.change?.say,
    'user.insist.say': user.insist?.say,
    ...factsIn('user.known', user.known),
    ...factsIn('user.change.known', user.change?.known),
  };
  return Object.entries(texts).flatMap(([key, words]) => (words === undefined ? [] : [{ key, words }]));
}

const resultsOf = ({ first }: Replayed): readonly string[] => madeIn(first.arrived).map(({ content }) => content);
