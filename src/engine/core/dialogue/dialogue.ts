import { memo } from '../values/memo.ts';
import { type AgentActs, recogniseAgent } from './agentActs.ts';
import { demandsIn, saysMore } from './echo.ts';
import type { Lexicon } from './lexicon.ts';
import { labelOf, type Vocabulary, vocabularyOf } from './mention.ts';
import { withoutOtherMatters } from './otherMatter.ts';
import { declaredProposals } from './phrase.ts';
import { hasProposal, proposesIn } from './proposal.ts';
import { type Reply, replyTo } from './reply.ts';
import { recogniseUser, type UserActs } from './userActs.ts';

export { namesValue } from '../text/value.ts';
export { hasAlternative, withoutContrast } from './contrast.ts';
export { announces, closedQuestionOf } from './verdict.ts';
export type { AgentActs, UserActs };
export { demandsIn, type Reply, replyTo, saysMore, withoutOtherMatters };

/**
 * The only recogniser of dialogue acts. The agenda user understands the agent with it, the gold seat understands the
 * user with it, and the `confirmed` check uses it. It is pure, and works by rules and a lexicon, without a model. Its
 * patterns match plain text (see `plain`): in lower case and without contractions.
 */
export type Recogniser = {
  readonly agent: (text: string) => AgentActs;
  readonly user: (text: string) => UserActs;
  readonly labelOf: (fact: string) => string;
  readonly vocabulary: Vocabulary;
};

/** Returns the recogniser for a domain's lexicon and the facts of these names. */
export function recogniser(lexicon: Lexicon, facts: readonly string[]): Recogniser {
  const vocabulary = vocabularyOf(lexicon, facts);
  return {
    agent: memo((text) => recogniseAgent(text, vocabulary), 200),
    user: recogniseUser,
    labelOf: (fact) => labelOf(lexicon, fact),
    vocabulary,
  };
}

/** Reports whether the user's answer is a clear yes to the proposal (see `replyTo`). */
export function isConfirmation(answer: string, proposal: string): boolean {
  const reply = replyTo(proposal, answer);
  return reply === 'yes' || reply === 'assent';
}

/**
 * Reports whether the agent's text asks for a yes to something that it is about to do, in the words of a lexicon or of
 * any domain.
 */
export function isProposal(text: string, lexicon?: Lexicon): boolean {
  return proposesIn(text) || (lexicon !== undefined && hasProposal(text, declaredProposals(lexicon)));
}
