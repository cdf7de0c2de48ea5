import { type Sentence, sentencesOf, wordsOf } from '../text/text.ts';
import { kindsListedIn } from './kind.ts';
import { type Mention, mentionsIn, type Vocabulary } from './mention.ts';

/** Verbs for what the user should do with a fact: "provide", "tell". */
const giving =
  'provide|give|tell|share|send|enter|specify|state|supply|type|write|let me know|remind|confirm|verify|say|name|choose|select|pick|indicate|clarify|spell|read|repeat|list|mention|describe|forward|pass|quote|post|key|dictate|drop|text|message|submit|include|reply|resend|re-enter|retype|check|look up|find|explain';
/** Words between "could you" and such a verb: "please", "also". */
const giver = '(?:please |also |kindly |just |maybe |possibly |perhaps |quickly |first |then |briefly )*';
/** Matches the start of a request for a fact: "please provide", "I need", "what". */
const requestPhrase = new RegExp(
  [
    `(?:please|kindly) (?:\\w+ ){0,2}?(?:${giving}|add|also|fill|have)`,
    `^(?:and |so |then |ok |okay |just |now |simply |first )*(?:tell|give|send|provide|type|enter|state|specify|share|quote|spell|name|pick|choose)`,
    `(?:could|can|may|might) (?:i|we) ${giver}(?:have|get|ask|know|take|see|trouble|request|grab|note)`,
    `(?:could|can|would|will|might) you ${giver}(?:be so kind (?:as )?to |be able to )?(?:${giving})`,
    '(?:would you|do you)? ?mind (?:\\w+ )?\\w+ing',
    '(?:i|we)(?: will| would| do| also| just| still| first| only| shall| am going to| have to| then)* (?:need(?! to (?:look|check|find|search|think|call|see|speak|talk|ask (?!you))\\b(?! (?:up )?your))|require|want to know|like to know|love to know|like to have|like to ask|must know|must ask|must have|am missing|am after|miss|ask you for|ask for)',
    '(?:give|tell|send) (?:me|us)',
    '(?:i|we) (?:\\w+ )?(?:have|need) to know',
    '(?:double.?check|re.?check|check again)',
    'is there (?:a|an|any|another|some)(?: other)? (?!thing)',
    '(?:just|only) your',
    'let us (?:\\w+ )?(?:start|begin|go)(?: off| on)? with (?:your|the)',
    'same(?= (?:\\w+ ){1,3}or (?:a |an )?(?:different|another|other))',
    '(?:just|only|still|also) need(?:ing)?(?: to (?:know|have|get))? (?:your|the|a|an)',
    '(?<!\\b(?:consent|permission|approval|okay|ok|me|us|i|we) to )(?:provide|share|enter|specify|state|supply|quote) (?:me |us )?(?:with )?(?:your|the|a|an)',
    'let me (?:have|know) (?:your|the|which|what|where|when|who|how|why)',
    '(?:missing|looking for|waiting (?:for|on)|asking for|left|lacks?|lacking|remaining)(?: is| are| to know is)? (?:your|the|a|an|which|what|when|why|where)',
    'do you (?:happen to |still |also |by any chance )?(?:have|know|remember|recall)',
    '(?:can|could|will|would)(?: also| then| still| instead| be able to)* (?:find|locate|identify|verify|authenticate|look up|look (?:you|it|that|this) up|pull (?:you|it|that|this) up)(?: \\w+){0,4}? (?:with|by|using|through|via|from) (?:your|the|its|a|an)',
    'have you got|are you able to (?:give|provide|tell)',
    '(?:without|as soon as (?:i|we) (?:have|know|get)|once (?:i|we) (?:have|know|get)|until (?:i|we) (?:have|know|get)|unless (?:i|we) (?:have|know|get)|when (?:i|we) (?:have|know))(?! (?:\\w+ed|been|done|made|sent|found|seen|put|set|gone|got|taken|spoken|heard)\\b)',
    '(?:if|once|as soon as|unless|until) you (?:could |can |would )?(?:give|tell|send|share|provide|let me know|type|enter|supply)',
    '(?:it )?(?:would|will) (?:really )?help(?: me| us)?(?: a lot)?(?: if you| to know| to have)',
    'all (?:that )?(?:i|we) (?:still )?need(?: now)? is|the (?:next|last|only) thing (?:i|we) need is',
    'what(?! an? )|which|where|when|why|who|whose|how',
  ].join('|'),
);
const anyRequest = new RegExp(`(?:^|[^\\w])(?:${requestPhrase.source})\\b`);
const request = new RegExp(anyRequest.source, 'g');
/** Matches an open question, even without a question mark: "and what is". */
const whPlain =
  /(?:(?:^|[ ,.:-])what|(?:^|[.:-] ?|\b(?:and|so|ok|okay|but|then|please|know|me|help|sure) )(?:which|where|who|whose|when)) (?:is|are|was|were|would|should|do|does|did|\w+ (?:is|are|would|do|does|did|should|shall|can)) /;
/** Matches the purpose at the end of a request, in which facts are not asked for: "so that I can find your order". */
const purpose =
  /\b(?:so that|so i|so we|in order to|before (?:i|we)|then (?:i|we)|and (?:then )?(?:i|we) (?:will|can)|because|since|(?<!like |want |wish |prefer |going |able |need |you |have )to (?!know|have|be|get|provide|me|the|your)[a-z]+ (?:your|the|this|that|it|you|a|an|up)\b|for your (?:request|account)|for (?:the|your) (?:return|refund|exchange|cancellation|change|lookup))/;
/** Matches the start of a question for a yes or no: "is it". */
const yesNoStart =
  /^(?:(?:ok(?:ay)?|so|and|but|then|well|alright|great|sure|thanks|thank you|sorry|also|just)[ ,.-]+)*(?:is|are|was|were|do|does|did|have|has|had|would|will|should|shall|can|could|may)\b/;

/**
 * Returns the facts that a sentence asks for. In a proposal, only those count that it asks for in addition to the yes.
 */
export function factsAskedIn(
  { text, question }: Sentence,
  vocabulary: Vocabulary,
  proposes: boolean,
): readonly string[] {
  const words = wordsOf(text);
  const mentions = mentionsAsked(words, vocabulary, question || anyRequest.test(text));
  const choices = question && !proposes ? givenChoices(words, vocabulary) : [];
  if (mentions.length === 0) return choices;
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
  if (starts.length > 0) return afterRequest(text, mentions, Math.min(...starts));
  if (proposes) return [];
  const isShort = words.length <= 7;
  if (question && !yesNoStart.test(text)) return distinctFacts(mentions);
  if (isShort && /\bplease$|^please\b|:$/.test(text)) return distinctFacts(mentions);
  if (words.length <= 14 && /\bplease(?:,? and (?:your|the)\b[\w ]*)?$/.test(text) && !finite.test(text))
    return distinctFacts(mentions);
  return /\b(?:is|are|will be|would be) (?:still |also )?(?:required|needed|missing|necessary|enough|sufficient|essential|all (?:i|we) need)\b|\b(?:will|would)(?: \w+)? help\b|^(?:i|we) still (?:do not|have not) (?:have|got|see|received) (?:your|the|a|an|any)\b|^(?:i|we) (?:do not|did not|have not)(?: yet| still)? (?:have|got|see|find) (?:your|the|a|an|any) .*(?:yet|on file|so far)$|\b(?:will|would)(?: also)? (?:do|work|suffice|be (?:enough|fine|sufficient|ideal|great|best|perfect|good|nice|useful|helpful|handy|appreciated|needed))\b/.test(
    text,
  )
    ? distinctFacts(mentions)
    : [];
}

/** Returns the facts of which a question offers two values: "locker L2 or locker L4?" */
function givenChoices(words: readonly string[], vocabulary: Vocabulary): readonly string[] {
  const isValue = (word: string | undefined) => /\d/.test(word ?? '');
  return distinctFacts(
    words.flatMap((word, at) =>
      isValue(words[at + 1]) && words[at + 2] === 'or' && words.slice(at + 3, at + 6).some(isValue)
        ? [...mentionsIn([word], vocabulary), ...mentionsIn(['which', word], vocabulary)]
        : [],
    ),
  );
}

/**
 * Matches a word that makes a short text a statement or another order, and not the bare name of a fact: "Your order
 * number, please."
 */
const finite =
  /\b(?:i|we|he|she|they|it|is|are|was|were|am|will|would|can|cannot|could|has|have|had|do|does|did|not|hold|wait|stay|check|look|note|remember|keep|bear|allow|let)\b/;

/** Matches what a sentence says is not needed: "I do not need your phone number". */
const needless =
  /\b(?:(?:do not|no longer|will not|would not|need not|not) (?:need(?! (?:it|them|this|that)\b)|require|have to|necessary)|no need (?:to|for)|(?:never|not) ask|(?:do not|never) (?:\w+ )?(?:share|send|give|tell|post|type|enter|provide|write|include)|forget(?: about)?|ignore|skip|never mind|without needing|regardless of|not interested in|rather than|instead of(?= your| the))\b[^,;]*/g;

/** Matches the word that the user should answer as a yes: "type CONFIRM to cancel the order". */
const answerWord =
  /\b(?:please |kindly |just |simply )*(?:say|reply|answer|respond|type|write|enter|send)(?: with| back)? ["'(]?(?:yes|confirm|ok|okay|agree|go ahead|proceed|accept)\b["')]?(?: to [^.,;]*)?/g;

/**
 * Returns a sentence without the parts that ask for nothing: "I do not need your phone number", "type CONFIRM to cancel
 * the order".
 */
export function withoutNeedless({ text, question }: Sentence): Sentence {
  return { text: text.replace(needless, '').replace(answerWord, ''), question };
}

/** Returns where requests begin, in characters. Question words count only where the sentence asks something. */
function requestStarts(text: string, question: boolean): readonly number[] {
  const asksPlainly =
    question ||
    whPlain.test(text) ||
    /^(?:and |so |ok |okay |then |sure )*(?:what|which|where|when(?= (?:is|are|do|does|did|would|will|can|could|should|shall|may|was|were)\b)|why|who|whose|how)\b/.test(
      text,
    );
  return [...text.matchAll(request)]
    .filter(({ 0: found }) => asksPlainly || !/\W?(?:what|which|where|when|why|who|whose|how)$/.test(found))
    .map(({ index }) => index);
}

/** Returns the facts that are mentioned after the start of a request and before its purpose. */
function afterRequest(text: string, mentions: readonly Mention[], start: number): readonly string[] {
  const tail = text.slice(start);
  const first = wordsOf(text.slice(0, start)).length;
  const inTail = mentions.filter((mention) => mention.end > first);
  if (inTail.length === 0) {
    const isAside = yesNoStart.test(text) && /^\W?(?:when|where|why|who|how|what|which)\b/.test(tail);
    return isAside ? [] : distinctFacts(mentions);
  }
  const cut = purpose.exec(tail.slice(8));
  const last = cut ? wordsOf(text.slice(0, start + cut.index + 8)).length : Number.POSITIVE_INFINITY;
  const beforePurpose = inTail.filter((mention) => mention.end <= last);
  return distinctFacts(beforePurpose.length > 0 ? beforePurpose : inTail);
}

/** Words before a noun that make it the name of a thing: "the order". */
const bare = new Set(['the', 'your', 'this', 'that', 'a', 'an', 'my', 'another']);
const identifying = /^(?:id|number|code|no|identifier|reference|ref|nr)$/;
/** Matches a word before a question word that makes it ask: "tell me when". */
const asking =
  /^(?:know|tell|me|us|say|and|or|about|specify|exactly|until|for|from|by|since|on|is|confirm|so|also|please|ok|okay|but|then|explain|ask|with|to)$/;
/** Matches a word after a question word that makes it ask: "when is". */
const auxiliary =
  /^(?:is|are|was|were|do|doe|does|did|would|will|should|shall|can|could|may|might|have|has|had|suit|work|exactly|else|to|in|on|not)$/;

/**
 * Returns the mentions that a request can be for. Left out are facts whose value is given, things that another fact
 * belongs to ("the postcode of the order"), and question words that do not ask.
 */
function mentionsAsked(words: readonly string[], vocabulary: Vocabulary, question: boolean): readonly Mention[] {
  const all = mentionsIn(words, vocabulary).filter(({ end }) => !isGiven(words, end));
  const kept = all
    .filter(
      ({ start, end }) =>
        !all.some((other) => other.start <= start && other.end >= end && other.end - other.start > end - start),
    )
    .filter((mention) => isAsking(words, mention, question));
  return kept.filter((mention) => {
    const before = words[mention.start - 1] ?? '';
    const isThing =
      bare.has(before) &&
      !words.slice(mention.start, mention.end).some((word) => identifying.test(word) || word === 'which');
    if (!isThing) return true;
    const link = words[mention.start - 2] ?? '';
    const belongs =
      /^(?:of|for|on|in|with|to|from|under|at)$/.test(link) &&
      !/^(?:along|together)$/.test(words[mention.start - 3] ?? '') &&
      kept.some(
        (other) => other.fact !== mention.fact && other.end <= mention.start - 2 && mention.start - other.end <= 6,
      );
    const isObject =
      mention.end - mention.start === 1 &&
      !/^(?:of|and|or)$/.test(link) &&
      question &&
      kept.some(
        (other) =>
          other.start < mention.start &&
          (/^(?:when|where|why|who|how)$/.test(words[other.start] ?? '') ||
            (other.fact !== mention.fact && /^(?:which|what)$/.test(words[other.start - 1] ?? ''))),
      );
    return !(belongs || isObject);
  });
}

/**
 * Reports whether a mention can be what is asked, and is not a verb ("you order"), a duration ("3 days") or a question
 * word that does not ask ("the day when it came").
 */
function isAsking(words: readonly string[], { start, end }: Mention, question: boolean): boolean {
  const [first, before, next] = [words[start] ?? '', words[start - 1], words[end] ?? ''];
  if (
    end - start === 1 &&
    /^(?:order|phone|mail|email|name|size)$/.test(first) &&
    /^(?:you|i|we|they|to)$/.test(before ?? '')
  )
    return false;
  if (/^(?:day|hour|week)$/.test(first) && end - start === 1 && /^\d+$/.test(before ?? '')) return false;
  if (!/^(?:when|where|why|who)$/.test(first) || end - start > 1) return true;
  if (before === 'is' && /^(?:which|that|this)$/.test(words[start - 2] ?? '')) return false;
  if (before === undefined)
    return first === 'why' || words.length <= 4 || auxiliary.test(next) || (question && first === 'who');
  return asking.test(before) || auxiliary.test(next);
}

/** Returns the facts of the sentence before, if a request only refers to them: "Could you read it out to me?" */
export function referredTo(
  before: Sentence | undefined,
  { text }: Sentence,
  vocabulary: Vocabulary,
): readonly string[] {
  if (!before || before.question || mentionsIn(wordsOf(text), vocabulary).length > 0) return [];
  if (!reference.test(text)) return [];
  const words = wordsOf(withoutNeedless(before).text);
  const facts = distinctFacts(mentionsIn(words, vocabulary).filter(({ end }) => !isGiven(words, end)));
  return /\b(?:them|those|these|they|both|all)\b/.test(text) ? facts : facts.slice(0, 1);
}

/** Matches a request that refers to a fact by a pronoun: "Please send it to me". */
const reference =
  /\b(?:please|kindly|could you|can you|would you|will you|mind|just)\b.*\b(?:read|send|give|tell|type|share|spell|copy|provide|paste|quote|giving|sending|reading|sharing|typing|telling|enter|repeat|check|recheck|double.?check|correct)\b(?: \w+)? (?:it|them|that one|those|both|all (?:of (?:them|these|those)|two|three)|that (?:to|in|for|out|here)|that$)\b|\bwhat (?:does|do) (?:it|that|they|those) (?:say|read)\b|\b(?:is there|do you have|have you got|could (?:there|it) be|did you (?:maybe |perhaps )?use) (?:maybe |perhaps )?(?:another|a different|any other) one\b|\b(?:please|could you|can you|would you|mind)\b.*\b(?:(?:have|having|take|taking) (?:another|a second|a closer) look|try(?:ing)?(?: it| that| them)? again)\b/;

/** Matches a question for a choice among things that were named before: "Which one?", "Any preference?" */
const whichOne =
  /(?:^|[ ,:-])which(?: ones?\b| of (?:these|those|them|the (?:\d+|two|three|four))\b|(?= (?:is|are|was|were|would|will|should|shall|do|does|did|can|could|may|might|suits?|works?|fits?|appl(?:y|ies)|sounds?|looks?)\b|,|$))|\bwhat (?:is|would be|will be|shall be) (?:your|the one) (?:choice|preference|pick|favou?rite)\b|\b(?:any|your|a) preference\b|\btake your pick\b|\bthe (?:first|former|\w+ one)(?: one)?,? or (?:is it |the |rather )*(?:second|latter|other|\w+ one)\b|\b(?:all|both) of them,? or (?:just |only )*(?:one|some|part)\b/;

/**
 * Returns the facts that a "which one?" chooses from: those that were named in the plural, or as a list of values, just
 * before.
 */
export function chosenFrom(
  before: readonly Sentence[],
  { text, question }: Sentence,
  vocabulary: Vocabulary,
): readonly string[] {
  const found = whichOne.exec(text);
  if (!found || !(question || found.index === 0)) return [];
  const above = [text.slice(0, found.index), ...before.map((sentence) => sentence.text).reverse()];
  for (const candidate of above.filter((each) => each !== '').slice(0, 2)) {
    const facts = [...pluralsIn(candidate, vocabulary), ...kindsListedIn(candidate, text, vocabulary)];
    if (facts.length > 0) return [...new Set(facts)];
  }
  return [];
}

/**
 * Returns the facts that a text last mentions in the plural ("We have lockers L2 and L4"), or else with an indefinite
 * article ("a phone number").
 */
function pluralsIn(text: string, vocabulary: Vocabulary): readonly string[] {
  const nouns = (text.match(/[a-z]{3,}/g) ?? []).filter((noun) => wordsOf(noun)[0] !== noun && !/ss$/.test(noun));
  const facts = nouns.map((noun) => [
    ...mentionsIn(wordsOf(noun), vocabulary),
    ...mentionsIn(['which', ...wordsOf(noun)], vocabulary),
  ]);
  const words = wordsOf(text);
  const anyOne = mentionsIn(words, vocabulary).filter(({ start }) => /^(?:a|an|another)$/.test(words[start - 1] ?? ''));
  return distinctFacts(facts.findLast((mentions) => mentions.length > 0) ?? anyOne);
}

/** Reports whether the value of a mention follows it: "order number W1004" tells the number and does not ask for it. */
function isGiven(words: readonly string[], end: number): boolean {
  const next = words[end] ?? '';
  const value = ['is', 'of', 'no', 'number', 'id', 'to'].includes(next) ? (words[end + 1] ?? '') : next;
  return /\d/.test(value);
}

/** Returns the facts whose question in the lexicon is in the text word for word. */
export function exactQuestions(all: string, vocabulary: Vocabulary): readonly string[] {
  const said = wordsOf(all).join(' ');
  return vocabulary.questions
    .filter(({ words }) => ` ${said} `.includes(` ${words.join(' ')} `))
    .map(({ fact }) => fact);
}

/**
 * Returns the facts that a text lists where another sentence asks for all of them: "Order number, reason. Please send
 * me these details."
 */
export function listedAbove(all: string, vocabulary: Vocabulary): readonly string[] {
  const sentences = sentencesOf(all);
  const refers = sentences.some(
    ({ text }) =>
      // The cheap pattern first: few sentences refer to anything, and the other one is large.
      /\b(?:these|those|following|the above|this information|(?:all|both) of (?:them|these|those))\b/.test(text) &&
      anyRequest.test(text) &&
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
