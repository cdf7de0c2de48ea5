import { plain, type Sentence, sentencesOf } from '../text/text.ts';
import { memo } from '../values/memo.ts';
import { isMisunderstanding, isOffer } from './agentSentence.ts';
import { lists, patterns } from './patterns.ts';
import type { IsDeclared } from './phrase.ts';
import { isSenseless } from './sense.ts';
import { invitesVerdict } from './verdict.ts';

const { openQuestion } = patterns.proposal;
const { isDeed } = patterns.consent;
const { proposals, askedProposals } = lists.proposal;
const { confirmSubject, confirmStatement, confirmDeeds, ownConfirmation, userConfirms, factToConfirm } =
  patterns.confirmRequest;

const confirmVerb = /\b(?:confirm|verify)\b/;

/** Reports whether an utterance asks for a yes to what the agent is about to do, in words that any domain has. */
export const proposesIn: (text: string) => boolean = memo(asksForAYes);

function asksForAYes(text: string): boolean {
  return hasProposal(text, isProposalSentence);
}

/** Reports whether an utterance makes sense and has a sentence that asks for a yes. */
export function hasProposal(text: string, asks: IsDeclared): boolean {
  return !isSenseless(text) && sentencesOf(plain(text)).some((sentence) => asks(sentence));
}

/** Reports whether a sentence asks for a yes: "Shall I cancel it?" */
export function isProposalSentence({ text, question }: Sentence): boolean {
  if (isOffer(text, question) || isMisunderstanding(text)) return false;
  if (proposals.some((pattern) => asksForYes(pattern.exec(text)))) return true;
  if (question && askedProposals.some((pattern) => asksForYes(pattern.exec(text)))) return true;
  if (question && isDeed.test(text)) return true;
  if (invitesVerdict({ text, question })) return true;
  return isConfirmRequest(text, question);
}

/** Reports whether a wording was found, and not in an open question. */
function asksForYes(match: RegExpExecArray | null): boolean {
  if (!match) return false;
  return !openQuestion.test(match.input.slice(0, match.index)) || /^how does/.test(match[0]);
}

/**
 * Reports whether a sentence asks the user to confirm what the agent is about to do: "Please confirm." It does not if
 * it asks for a fact without naming its value: "Please confirm your postcode."
 */
function isConfirmRequest(whole: string, question: boolean): boolean {
  const text = whole.replace(/^(?:.*\b)?to (?:confirm|verify) (?:your|who) [^,:]*, ?/, '').replace(ownConfirmation, '');
  if (!confirmVerb.test(text)) return false;
  if (confirmStatement.test(text) && !/\byou\b.*\b(?:confirm|verify)\b/.test(text))
    return /^(?:\w+ )?(?:just )?(?:i )?.*\b(?:confirm|verify)[,:]/.test(text) && question;
  if (!confirmSubject.test(text)) return false;
  if (/\bto (?:confirm|verify)\b[,:]?/.test(text) && !userConfirms.test(text)) return question;
  if (confirmDeeds.test(text)) return true;
  const object = text.replace(/^.*\b(?:confirm|verify)\b/, '');
  if (factToConfirm.test(object)) return /[:"]|\bis\b .*\w|\d/.test(object) && /\b(?:is|are|as)\b|:/.test(object);
  return true;
}
