import { recogniseAgent } from './agentActs.ts';
import { lexiconSchema } from './lexicon.ts';
import { vocabularyOf } from './mention.ts';
import { replyTo } from './reply.ts';
import { recogniseUser } from './userActs.ts';

/**
 * Utterances to run the patterns on. A pattern is compiled at its first use and again at its next one, for which the
 * text has to differ.
 */
const said = [
  ['What is your order number? I can cancel it for you.', 'It is W1001, and please cancel the lamp.'],
  ['I would change the lamp to the black one for $5.00. Shall I go ahead? (yes/no)', 'Yes, please go ahead.'],
  ["I'm sorry, I can't refund that. Would you like me to hand you over?", "No, don't do that; what does it cost?"],
] as const;

/**
 * Compiles the patterns that recognise dialogue acts, which takes as long as a rollout up to its first stop. It yields
 * after each step, so that the caller can stop it early.
 */
export function* warmDialogue(): Generator<void> {
  const vocabulary = vocabularyOf(lexiconSchema.parse({}), ['order']);
  for (const [agent, user] of said) {
    recogniseAgent(agent, vocabulary);
    yield;
    recogniseUser(user);
    yield;
    replyTo(agent, user);
    yield;
  }
}
