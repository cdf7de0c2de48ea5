import { clausesOf, plain, type Sentence, sentencesOf } from '../text/text.ts';
import { marksChange } from './change.ts';

/** A name with digits, such as the number of an order. */
const code = /\b(?=[a-z]*\d)(?=\d*[a-z])[a-z\d]{4,}\b/g;
const otherThing = /\b(?:my|the|any) other (?:orders?|items?|parcels?|bookings?|reservations?|tickets?|things?)\b/;
/** A request beside an answer, or left as it is beside it. */
const beside =
  /^(?:and|also|then|next|plus|besides|after that|afterwards|one more thing|another thing|second|secondly|ps)\b|\b(?:also|as well|too|next|another|later|while (?:you are|we are) at it|in addition|leave|keep|not)\b/;
/** The head of the next matter of a list: "on to number 2". */
const nextMatter =
  /^(?:(?:and|so|then|now|ok|okay) )*(?:on ?to|over to|next (?:is|up|comes|one|thing)|(?:let us )?(?:move|go) on to|now (?:for|to)) (?!(?:it|that|this)$)/;
const idioms = /\bwhile (?:you are|we are) at it\b/g;

/**
 * An answer without what is after its head and is about another thing than the proposal: "Yes. And please take back the
 * stove of W1163 as well." To name that thing instead is part of the answer: "No, W1163."
 */
export function withoutOtherMatters(proposal: string, answer: string): string {
  const known = new Set(plain(proposal).match(code));
  const isOther = (text: string) => {
    const named = text.match(code) ?? [];
    return named.length > 0 ? named.every((each) => !known.has(each)) : otherThing.test(text);
  };
  const isBeside = ({ text, question }: Sentence) =>
    isOther(text) && (question || beside.test(text)) && !marksChange(text.replace(idioms, ''), false);
  const sentences = sentencesOf(plain(answer));
  if (!sentences.some(({ text }, at) => isOther(text) || (at > 0 && nextMatter.test(text)))) return answer;
  const kept = sentences.map((sentence, at) => {
    if (at > 0 && (isBeside(sentence) || nextMatter.test(sentence.text))) return '';
    const clauses = clausesOf(sentence.text);
    const own = clauses.filter((text, index) => index === 0 || !isBeside({ text, question: false }));
    const text = own.length === clauses.length ? sentence.text : own.join(', ');
    return `${text}${sentence.question ? '?' : '.'}`;
  });
  return kept.filter((text) => text !== '').join(' ');
}
