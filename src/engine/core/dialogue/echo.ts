import { answerOf, isDeed } from './consent.ts';
import { clausesOf, plain as plainText, type Sentence, sentencesOf } from './text.ts';

/** Words after a preposition that name no detail: "go ahead with it", "thanks for your help". */
const plain = new Set(
  (
    'a all an and any anything asking be both checking course details doing everything fun go good help how i info it me ' +
    'mind mine my now once one our patience plan pleasure proceed real right sure that the them then these this those ' +
    'time today us what which yes you your order item request change changes update'
  ).split(' '),
);
const leading = /^(?:the|a|an|my|your|our|that|this|these|those|all|both|of)$/;

/** A question for a fact, beside the one for a yes: "Shall I send it today? And what is your postcode?" */
const factQuestion =
  /^(?:(?:and|also|then|so|but|please|before that)[ ,]+)*(?:what|which|where|when|who|whose|how (?:many|much)|(?:may|can|could) i (?:also )?(?:have|get|ask)|(?:can|could|would) you (?:also |please )*(?:tell|give|share|send|provide|name|remind))\b/;
/** A question about something else after the yes: "Yes please. And when will my other order W1103 come?" */
const asideQuestion = /(?<=[.!]\s*)(?:and|also)\b[^.?!]*\?/gi;

/**
 * Whether a user's yes names a detail that the proposal did not: "Yes, switch it to white" after a proposal of black
 * is a change, not a yes. Numbers and what follows a preposition count as details, unless they answer another question
 * of the same utterance in a sentence of their own: "Yes, go ahead. It's 555 0134."
 */
export function departsFrom(proposal: string, answer: string): boolean {
  const asksMore = sentencesOf(plainText(proposal)).some(({ text, question }) => question && factQuestion.test(text));
  const said = answer.replace(asideQuestion, '');
  return names(asksMore ? agreeing(said) : said, new Set(wordsOf(proposal)));
}

/** The sentences that say yes or what is to be done; others answer. */
function agreeing(answer: string): string {
  const isAgreeing = ({ text }: Sentence) => clausesOf(text).some((clause) => answerOf(clause) !== 'other');
  return sentencesOf(plainText(answer))
    .filter(isAgreeing)
    .map(({ text }) => text)
    .join('. ');
}

function names(answer: string, proposed: ReadonlySet<string>): boolean {
  const words = wordsOf(answer);
  return words.some((word, index) => {
    if (/\d/.test(word)) return !proposed.has(word);
    if (!/^(?:to|into|with|for|as)$/.test(word)) return false;
    const detail = words.slice(index + 1).find((each) => !leading.test(each));
    return detail !== undefined && !isPlain(detail) && !proposed.has(detail);
  });
}

function wordsOf(text: string): readonly string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
}

const isPlain = (word: string) => plain.has(word) || word.endsWith('ing') || isDeed.test(word);
