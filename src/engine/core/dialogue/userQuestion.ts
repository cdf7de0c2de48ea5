import { beforeQuestion } from './opener.ts';

const auxiliary = 'is|are|was|were|do|does|did|can|could|will|would|should|shall|may|might|must|have|has|had';
const subject =
  '(?:i|you|we|they|he|she|it|this|that|there|these|those|the|my|your|our|any|anyone|anybody|someone|somebody|nobody|all|both|delivery|shipping|returns?|refunds?|a|an|one)';
/** Matches a question with a question word: "when will it come", "how much is it". */
const whQuestion = new RegExp(
  `^${beforeQuestion}(?:(?:at|on|in|for|from|to|by|since|until|with|under) )?(?:(?:(?:what|which|who|whose|how)(?: (?:exactly|else|on earth))?(?: [\\w-]+){0,3}?|(?:where|when|why)(?: (?:exactly|else|on earth))?) (?:${auxiliary}|happens?|about|if|costs?|means?)\\b|who \\w+s\\b|how (?:much|many|long|far|soon|often|come|big|late|fast)\\b|what if\\b|why (?!not$|not )|which one\\b)`,
);
/** Matches a question for a yes or no: "is it free". */
const yesNoQuestion = new RegExp(`^${beforeQuestion}(?:${auxiliary})(?: not)? ${subject}\\b`);
/** Matches clauses that have the form of a question and ask nothing: "do it now", "when I ordered it". */
const notAsked =
  /(?:^|[ ,.])do (?:it|that|this|so)(?:$|,| (?:now|please|then|for|right|today|and|as|before))|(?:^|[ ,])do not\b|^(?:yes |ok |oh )*have (?:a|an|it|that|the)\b|^(?:yes |yeah |ok )*(?:is|are|was|will) (?:fine|good|ok)|^when (?:i|you|we|they|he|she|it|the|my) \b|^(?:what|which) (?:i|you|we) \w+ (?:is|was) |^(?:and )?may (?:the lord|god|heaven|it|he|she|your?)\b(?! (?:please|i))/;
/** Matches questions that expect no answer: "what choice have I got?", "who would say no?" */
const rhetorical =
  /(?:^|, )(?:and |so |but |well |honestly )*(?:what (?:other |else )?(?:choice|option|can|could|am|should) (?:have i|do i have|i do|i say|i to do)\b.*|what is not to like|what are you waiting for|how could (?:i|anyone) (?:say no|refuse|resist).*|who (?:would|could) (?:say no|refuse|resist|not).*|why (?:would|should) (?:i|we) not.*|(?:do|did) you (?:even |really )?(?:have|need) to ask|is the pope (?:a )?catholic)$/;
/** Matches an indirect question: "I was wondering", "tell me when". */
const indirect =
  /\b(?:i (?:was |am )?(?:just )?(?:wonder(?:ing)?|curious)|(?:i|we) (?:\w+ )?(?:want|like|love|need) to know|(?:can|could|would|will) (?:you|i|we) (?:please )?(?:tell|explain|say|check|know|ask)|tell me (?:what|which|when|where|why|who|how|if|whether)|let me know (?:what|which|when|where|why|who|how|whether)|any idea (?:when|what|how|why|where|if)|any (?:chance|news|update)|do not (?:understand|get|see) (?:why|what|how)|i (?:have|have got) (?:a|one|another|some|a few|a quick) (?:quick |more |last )?questions?)\b/;
/** Matches an answer of a few words, which is not a question even with a question mark: "Maybe?" */
const fragment =
  /^(?:(?:i (?:think|guess|suppose|believe|hope) so|yes|yeah|no|nope|ok|okay|maybe|perhaps|sure|right|fine|possibly|probably|not sure|i guess|hm+|um+|well|sounds good|good)[ ,.]*)+$/;

/**
 * Reports whether a sentence of a user asks something. The question mark may be missing.
 * @param marked whether there is a question mark
 */
export function isQuestion(text: string, marked: boolean): boolean {
  if (fragment.test(text) || rhetorical.test(text) || isTagged(text) || /^(?:\w+[ ,]+)?why not(?:$|[ ,])/.test(text))
    return false;
  if (marked) return true;
  if (/\b(?:i would|would) say (?:yes|no)\b/.test(text)) return false;
  if (indirect.test(text)) return true;
  return clauseHeads(text).some(
    (clause) =>
      clause.split(' ').length > 2 && !notAsked.test(clause) && (whQuestion.test(clause) || yesNoQuestion.test(clause)),
  );
}

/** Reports whether a text is a statement with a question tag: "that is the word, is it not". */
const isTagged = (text: string) =>
  /^(?!(?:and |so |but |then )*(?:what|which|where|when|who|why|how|is|are|does|do|did|can|could|will|would|shall|should)\b).+, (?:is|are|was|were|does|do|did|will|would|has|have|had|can|could)(?: not)? (?:it|they|he|she|we|i|there)(?: not)?$/.test(
    text,
  );

/** Returns the sentence itself, and what follows each comma, colon or dash in it, or begins with "but". */
function clauseHeads(text: string): readonly string[] {
  return [text, ...text.split(/[,:] |\s-\s| (?=but )/).slice(1)];
}

/** Reports whether a question only repeats that something may be done: "Can you do that please?" */
export function isTag(question: string): boolean {
  return /^(?:(?:and|so|then|yes|yeah|ok|okay|sure)[ ,]+)*(?:(?:(?:can|could|will|would) you (?:please |just |kindly )*(?:do (?:it|that|this|so)|go ahead|proceed|process (?:it|that|this))(?: please| now| for me)*$)|why not\b|ok(?:ay)?$|right$|please$|yes$|sure$)/.test(
    question,
  );
}

/**
 * Reports whether the answer to a question could make the user take a yes back: the question is about price, loss or
 * risk, and not about another matter.
 */
export function isWeighing(question: string): boolean {
  if (
    /^(?:and|also) .*\b(?:other|another) \w+|\b(?:afterwards|afterward|later on|next time|by the way|when (?:it|that|you) (?:is|are) done)\b/.test(
      question,
    )
  )
    return false;
  return /\b(?:cost|costs|fee|fees|charge[ds]?|price|extra|pay|lose|much|penalty|expensive|free|risk|refundable|right|correct|sure|mean|really|or)\b/.test(
    question,
  );
}
