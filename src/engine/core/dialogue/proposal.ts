import { plain, type Sentence, sentencesOf } from '../text/text.ts';
import { memo } from '../values/memo.ts';
import { isConfirmRequest } from './confirmRequest.ts';
import { isMisunderstanding } from './misunderstanding.ts';
import { isOffer } from './offer.ts';
import { lists, patterns } from './patterns.ts';
import { isSenseless } from './sense.ts';
import { invitesVerdict } from './verdict.ts';

const { openQuestion } = patterns.proposal;
const { isDeed } = patterns.consent;
const { proposals, askedProposals } = lists.proposal;

/** Reports whether an utterance asks for a yes to what the agent is about to do. */
export const proposesIn: (text: string) => boolean = memo(asksForAYes);

function asksForAYes(text: string): boolean {
  return !isSenseless(text) && sentencesOf(plain(text)).some((sentence) => isProposalSentence(sentence));
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
