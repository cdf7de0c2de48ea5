import { type Mention, mentionsIn, type Vocabulary } from './mention.ts';
import { type Sentence, sentencesOf, wordsOf } from './text.ts';

const requestPhrase = new RegExp(
  [
    '(?:please|kindly) (?:\\w+ ){0,2}?(?:provide|give|tell|share|send|enter|specify|state|supply|type|write|confirm|verify|let me know|reply with|include|say|name|choose|select|pick|indicate|submit|add|also|fill)',
    '(?:could|can|may|might) (?:i|we) (?:please |also |just |kindly )*(?:have|get|ask|know|take|see|trouble|request)',
    '(?:could|can|would|will) you (?:please |also |kindly |just |maybe |possibly )*(?:provide|give|tell|share|send|enter|specify|state|supply|type|write|let me know|remind|confirm|verify|say|name|choose|select|indicate|clarify)',
    'would you mind (?:\\w+ )?(?:providing|giving|telling|sharing|sending)',
    '(?:i|we)(?: will| would| do| also| just| still| first| only| shall| am going to| have to)* (?:need|require|want to know|like to know|like to have|must know|must ask|am missing|miss)',
    '(?:give|tell|send) (?:me|us)',
    '(?:i|we) (?:\\w+ )?(?:have|need) to know',
    '(?:double.?check|re.?check|check again)',
    'is there (?:a|an|any|another|some)(?: other)? (?!thing)',
    '(?:just|only) your',
    '(?:provide|share|enter|specify|state|supply) (?:me |us )?(?:with )?(?:your|the|a|an)',
    'let me know (?:your|the|which|what|where|when|who|how|why)',
    '(?:missing|looking for)(?: is| are)? (?:your|the)',
    'do you (?:happen to |still |also )?(?:have|know|remember|recall)',
    'have you got|are you able to (?:give|provide|tell)',
    'what|which|where|when|why|who|whose|how',
  ].join('|'),
);
const anyRequest = new RegExp(`(?:^|[^\\w])(?:${requestPhrase.source})\\b`);
const request = new RegExp(anyRequest.source, 'g');
const whPlain =
  /(?:^|[ ,.:-])(?:what|which|where|who|whose|when) (?:is|are|was|were|would|should|do|does|did|\w+ (?:is|are|would|do|does|did|should|shall|can)) /;
const purpose =
  /\b(?:so that|so i|so we|in order to|before (?:i|we)|then (?:i|we)|and (?:then )?(?:i|we) (?:will|can)|because|since|to (?!know|have|be|get|provide|me|the|your)[a-z]+ (?:your|the|this|that|it|you|a|an|up)\b|for your (?:request|account)|for (?:the|your) (?:return|refund|exchange|cancellation|change|lookup))/;
const yesNoStart =
  /^(?:(?:ok(?:ay)?|so|and|but|then|well|alright|great|sure|thanks|thank you|sorry|also|just)[ ,.-]+)*(?:is|are|was|were|do|does|did|have|has|had|would|will|should|shall|can|could|may)\b/;

/** The facts that a sentence asks for. In a proposal only what is asked beside it counts. */
export function factsAskedIn(
  { text, question }: Sentence,
  vocabulary: Vocabulary,
  proposes: boolean,
): readonly string[] {
  const words = wordsOf(text);
  const mentions = mentionsIn(words, vocabulary).filter(({ end }) => !isGiven(words, end));
  if (mentions.length === 0) return [];
  const starts = requestStarts(text, question);
  if (
    proposes &&
    !starts.some(
      (start) =>
        !/^\W*(?:what|which|where|when|why|who|whose|how|(?:please |kindly |could you |can you |would you |will you )*(?:confirm|verify|let me know))/.test(
          text.slice(start),
        ),
    )
  ) {
    return /\b(?:your|the) \w+(?: \w+)? (?:and|,) (?:confirm|shall|should|is that)/.test(text)
      ? distinctFacts(mentions)
      : [];
  }
  if (starts.length > 0) return afterRequest(text, mentions, Math.min(...starts), vocabulary);
  if (proposes) return [];
  const isShort = words.length <= 7;
  if (question && !yesNoStart.test(text)) return distinctFacts(mentions);
  if (isShort && /\bplease$|^please\b|:$/.test(text)) return distinctFacts(mentions);
  return /\b(?:is|are|will be|would be) (?:still |also )?(?:required|needed|missing|necessary)\b|\b(?:will|would)(?: also)? (?:do|work|suffice|be (?:enough|fine|sufficient))\b/.test(
    text,
  )
    ? distinctFacts(mentions)
    : [];
}

/** "I do not need your phone number" asks for nothing. */
export function withoutNeedless({ text, question }: Sentence): Sentence {
  return { text: text.replace(/\b(?:do not|no longer|will not) (?:need|require)\b[^,;]*/g, ''), question };
}

/** Where requests begin, in characters. Question words count only where the sentence asks something. */
function requestStarts(text: string, question: boolean): readonly number[] {
  const asksPlainly =
    question ||
    whPlain.test(text) ||
    /^(?:and |so |ok |okay |then |sure )*(?:what|which|where|when|why|who|whose|how)\b/.test(text);
  return [...text.matchAll(request)]
    .filter(({ 0: found }) => asksPlainly || !/\W?(?:what|which|where|when|why|who|whose|how)$/.test(found))
    .map(({ index }) => index);
}

function afterRequest(
  text: string,
  mentions: readonly Mention[],
  start: number,
  vocabulary: Vocabulary,
): readonly string[] {
  const tail = text.slice(start);
  const inTail = mentionsIn(wordsOf(tail), vocabulary).filter(({ end }) => !isGiven(wordsOf(tail), end));
  if (inTail.length === 0) return distinctFacts(mentions);
  const cut = purpose.exec(tail.slice(8));
  const beforePurpose = cut ? mentionsIn(wordsOf(tail.slice(0, cut.index + 8)), vocabulary) : inTail;
  return distinctFacts(
    beforePurpose.length > 0 ? beforePurpose.filter(({ end }) => !isGiven(wordsOf(tail), end)) : inTail,
  );
}

/** "order number W1004" tells the number and does not ask for it. */
function isGiven(words: readonly string[], end: number): boolean {
  const next = words[end] ?? '';
  const value = ['is', 'of', 'no', 'number', 'id'].includes(next) ? (words[end + 1] ?? '') : next;
  return /\d/.test(value);
}

/** Facts whose question in the lexicon stands in the text word for word. */
export function exactQuestions(all: string, vocabulary: Vocabulary): readonly string[] {
  const said = wordsOf(all).join(' ');
  return vocabulary.questions
    .filter(({ words }) => ` ${said} `.includes(` ${words.join(' ')} `))
    .map(({ fact }) => fact);
}

/** "Order number, reason. Please send me these details." */
export function listedAbove(all: string, vocabulary: Vocabulary): readonly string[] {
  const sentences = sentencesOf(all);
  const refers = sentences.some(
    ({ text }) =>
      anyRequest.test(text) &&
      /\b(?:these|those|following|the above|this information|(?:all|both) of (?:them|these|those))\b/.test(text) &&
      mentionsIn(wordsOf(text), vocabulary).length === 0,
  );
  if (!refers) return [];
  return distinctFacts(
    sentences
      .map(({ text }) => wordsOf(text))
      .filter((words) => words.length <= 14 && !words.some((word) => /^(?:i|we|shall|found)$/.test(word)))
      .flatMap((words) => mentionsIn(words, vocabulary).filter(({ end }) => !isGiven(words, end))),
  );
}

function distinctFacts(mentions: readonly { readonly fact: string }[]): readonly string[] {
  return [...new Set(mentions.map(({ fact }) => fact))];
}
