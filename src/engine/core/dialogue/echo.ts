import { isDeed } from './consent.ts';

/** Words after a preposition that name no detail: "go ahead with it", "thanks for your help". */
const plain = new Set(
  (
    'a all an and any anything asking be both checking course details doing everything fun go good help how i info it me ' +
    'mind mine my now once one our patience plan pleasure proceed real right sure that the them then these this those ' +
    'time today us what which yes you your order item request change changes update'
  ).split(' '),
);
const leading = /^(?:the|a|an|my|your|our|that|this|these|those|all|both|of)$/;

/** A question about something else after the yes: "Yes please. And when will my other order W1103 come?" */
const asideQuestion = /(?<=[.!]\s*)(?:and|also)\b[^.?!]*\?/gi;

/**
 * Whether a user's yes names a detail that the proposal did not: "Yes, switch it to white" after a proposal of black
 * is a change, not a yes. Numbers and what follows a preposition count as details.
 */
export function departsFrom(proposal: string, answer: string): boolean {
  const proposed = new Set(wordsOf(proposal));
  const words = wordsOf(answer.replace(asideQuestion, ''));
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
