import { type Sentence, sentencesOf, wordsOf } from '../text/text.ts';
import { kindsListedIn } from './kind.ts';
import { type Mention, mentionsIn, type Vocabulary } from './mention.ts';
import { patterns } from './patterns.ts';

const {
  anyRequest,
  request,
  whPlain,
  purpose,
  yesNoStart,
  finite,
  needless,
  answerWord,
  asking,
  auxiliary,
  reference,
  whichOne,
  startInProposal,
  factAndYes,
  requirement,
  whStart,
  referring,
} = patterns.request;

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
  if (proposes && !starts.some((start) => !startInProposal.test(text.slice(start)))) {
    return factAndYes.test(text) ? distinctFacts(mentions) : [];
  }
  if (starts.length > 0) return afterRequest(text, mentions, Math.min(...starts));
  if (proposes) return [];
  const isShort = words.length <= 7;
  if (question && !yesNoStart.test(text)) return distinctFacts(mentions);
  if (isShort && /\bplease$|^please\b|:$/.test(text)) return distinctFacts(mentions);
  if (words.length <= 14 && /\bplease(?:,? and (?:your|the)\b[\w ]*)?$/.test(text) && !finite.test(text))
    return distinctFacts(mentions);
  return requirement.test(text) ? distinctFacts(mentions) : [];
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
 * Returns a sentence without the parts that ask for nothing: "I do not need your phone number", "type CONFIRM to cancel
 * the order".
 */
export function withoutNeedless({ text, question }: Sentence): Sentence {
  return { text: text.replace(needless, '').replace(answerWord, ''), question };
}

/** Returns where requests begin, in characters. Question words count only where the sentence asks something. */
function requestStarts(text: string, question: boolean): readonly number[] {
  const asksPlainly = question || whPlain.test(text) || whStart.test(text);
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
      referring.test(text) && anyRequest.test(text) && mentionsIn(wordsOf(text), vocabulary).length === 0,
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
