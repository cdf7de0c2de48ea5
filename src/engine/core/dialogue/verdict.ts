import { clausesOf, plain, type Sentence, sentencesOf } from '../text/text.ts';
import { hasAlternative } from './alternative.ts';
import { isReport } from './report.ts';

/** Words for a yes or no, and for a settled matter: "Is that your final decision?" */
const verdictNouns =
  'yes|yeah|ok|okay|answer|decision|decide|verdict|choice|choose|chosen|wish|want|wanted|word|say|call|deal|plan|idea|intention|intend|agreement|approval|consent|confirmation|go-ahead|permission|authorisation|authorization|blessing|nod|final|proposal|suggestion|objections|objection|thumbs|signal|vote';
/** Words for agreement: "Is that settled?", "Does it suit you?" */
const verdictStates =
  'alright|all right|right|correct|fine|good|great|agreed|agree|agreeable|approve|approved|confirm|confirmed|settled|suit|suits|work|works|sound|sounds|acceptable|accept|happy|content|comfortable|glad|certain|sure|accurate|proceed|proceeding|continue|ready|welcome|convenient|go';
/** Words for what the agent would do: "Are you happy with the change?" */
const deedNouns =
  'change|changes|swap|switch|cancellation|return|refund|exchange|booking|order|update|upgrade|transfer|redirection|delivery|payment';
/** Words that refer to what was said. */
const deictics = 'that|this|it|so|these|those|both|all|everything|one|either|the same';
const functionWords =
  'i|me|my|we|us|our|you|your|yours|is|are|am|was|be|been|being|do|does|did|done|doing|have|has|had|get|got|may|shall|should|would|will|can|could|might|like|to|of|with|for|by|from|in|on|at|as|about|the|a|an|and|then|now|still|really|just|please|quite|also|too|or|not|if|well|sir|madam|there|here|way|what|how|such|thing|today|mr|mrs|ms|dr|an?|proper|explicit|clear|simple|definite|ahead|off|through|up';
const anyOf = (words: string) => new Set(words.split('|'));
const [nouns, states, deeds] = [anyOf(verdictNouns), anyOf(verdictStates), anyOf(deedNouns)];
/** All words that a question for a verdict can have. */
const known = new Set([...nouns, ...states, ...anyOf(deictics), ...anyOf(functionWords)]);
/**
 * Matches an open question for a verdict: "What do you say?" Others ask for a thing: "What do you want?", "Which is
 * your choice?"
 */
const openVerdict =
  /\b(?:what|how) (?:do|would|will) (?:you|we) (?:say|think|feel|decide|answer)\b|\bwhat (?:is|will be|would be|shall be) (?:your|the) (?:answer|decision|verdict|word|call|say)\b|\bhow (?:does|do|would|is) (?:that|this|it|these)\b/;
/** Matches a question that starts with a question word. */
const openWord = /^(?:and |so |then |but |or )*(?:what|which|where|when|who|whose|how|why)\b/;

/**
 * Reports whether a question asks only for a verdict on what was said: every word of its last clause is a function
 * word, refers to what was said, or is a word of agreement. "Is that your final word?", "Your answer?", "Are we
 * agreed?"
 */
export function asksForVerdict(question: string): boolean {
  const clauses = clausesOf(question);
  const last = clauses.at(-1) ?? '';
  const clause = /^(?:then|please|sir|madam|mr \w+|now|so)$/.test(last) ? (clauses.at(-2) ?? last) : last;
  if (openWord.test(clause)) return openVerdict.test(clause) && isOfVerdict(clause);
  if (hasAlternative(clause)) return false;
  return isOfVerdict(clause);
}

/** Reports whether a clause has only words of a question for a verdict, and asks for one. */
function isOfVerdict(clause: string): boolean {
  const words = clause.match(/[a-z]+(?:-[a-z]+)*/g) ?? [];
  const isKnown = (word: string, at: number) =>
    known.has(word) ||
    (word === 'order' && words[at - 1] === 'in') ||
    (deeds.has(word) && /^(?:the|this|that|such)$/.test(words[at - 1] ?? ''));
  // Other words are not allowed, so "is that all right Boris" is not a question for a verdict.
  if (words.length === 0 || words.length > 14 || !words.every(isKnown)) return false;
  const isVerdict = words.some((word) => nouns.has(word) || states.has(word)) || /\bin order\b/.test(clause);
  const isWilled =
    /\b(?:would|do) you (?:still |really )?(?:like|want|wish)(?: to have| for)? (?:that|this|it|the|me to do)\b/.test(
      clause,
    ) || /\b(?:shall|should|may|can|could|will) (?:i|we)\b/.test(clause);
  return isVerdict ? !/\b(?:you|i|we) (?:have|had|got) (?:the|a|an)\b/.test(clause) : isWilled;
}

/**
 * Matches a statement that waits for a verdict: "I only need your go-ahead", "with your approval", "I wait for your
 * word".
 */
const awaited =
  /\b(?:need|needs|want|wait|waiting|await|awaiting|require|ask|asking|before|until|once|with|give|only|just|please|pending)\b[\w ,]{0,24}\b(?:your|a|an) (?:\w+ )?(?:yes|ok|okay|go.?ahead|agreement|approval|consent|permission|blessing|nod|green light|thumbs up)\b|\byour (?:word|confirmation)(?= for| to|$)/;

/** Reports whether a sentence invites a verdict on what is about to be done. */
export function invitesVerdict({ text, question }: Sentence): boolean {
  return question ? asksForVerdict(text) : awaited.test(text);
}

/** Verbs that announce a deed: "I will change it", "I am about to change it". */
const will =
  '(?:would|will|can|could|shall|should|may|might|am going to|are going to|am about to|am happy to|am ready to|propose to|suggest to|intend to|plan to|want to|would like to)';
/**
 * Matches a statement that something changes: "The address changes to Bonn." It can announce the change or report it.
 */
const movement =
  /\b(?:goes|go|moves|changes|switches|becomes|turns|is \w+ed|are \w+ed) (?:from .+ )?(?:to|into|back to)\b/;
/** Excludes verbs that do not announce a deed: "I will check". */
const noDeed =
  '(?!(?:not|never|only|need|have|be|ask|look|check|help|assist|see|find|tell|explain|know|think|say|understand|like|love|require|suggest|recommend|appreciate|offer you no)\\b)';
/** Sentences that announce a deed: "I would change it to black", "It will be refunded", "The plan is to cancel it". */
const announcements: readonly RegExp[] = [
  new RegExp(
    `\\b(?:i|we) (?:(?:then|now|also|just|so|therefore|gladly|next) )*${will} (?:(?:then|now|also|just|therefore|gladly|go ahead and|instead|at once) )*${noDeed}[a-z]+`,
  ),
  new RegExp(
    `^(?:[\\w ]{0,20}, )?(?:(?:ok|okay|so|then|now|and|next|fine|all right|alright|good|great|very well)[, ]+)+(?:i|we) (?:(?:then|now|also) )*${noDeed}(?!am\\b|are\\b|can\\b|could\\b|was\\b|were\\b|had\\b|did\\b|do\\b)[a-z]+(?!ed\\b)\\b`,
  ),
  /\b(?:will|would|can|could|shall|should|is going to|are going to|is to|are to|may) (?:then |now |also |all )?be (?!not\b)(?:\w+ed|sent|put|paid|made|set|brought|taken|moved|done)\b/,
  /\b(?:my|the|this) (?:proposal|suggestion|plan|change|cancellation|return|exchange|refund|booking|offer) (?:is|would|will|:)/,
];

/**
 * Reports whether an utterance says what the agent is about to do, in any form, and does not only ask for something.
 */
export function announces(text: string): boolean {
  const sentences = sentencesOf(plain(text)).map((sentence) => sentence.text);
  if (sentences.some((sentence) => announcements.some((pattern) => pattern.test(sentence)))) return true;
  return sentences.some((sentence) => movement.test(sentence)) && !sentences.some(isReport);
}

/**
 * Returns the last question of an utterance if it can be a question for a yes without any of the usual words: it does
 * not ask for a fact and does not offer a choice. "And the boots of W1047, 139 to mastercard 1481 as well?"
 */
export function closedQuestionOf(text: string): string | null {
  const last = sentencesOf(plain(text)).findLast((each) => each.question);
  const isClosed = last && !factQuestion.test(last.text) && !hasAlternative(last.text);
  return isClosed ? last.text : null;
}

/** Matches a question for a fact: "Where do you live?", "Do you have the number?" */
const factQuestion =
  /(?:^|[,:] )(?:(?:and|so|then|but|also|ok|okay|right|well)[ ,]+)*(?:(?:is|are|was|were|does|do) (?:it|he|she|they|there|the|your|my|any|anything|something|someone|anyone)\b|was|were|am|did|have|has|had|what|which|where|when|who|whose|how|why|do you (?:have|know|need|remember|see|mean|still|use|own|live|also|happen|prefer)|would you (?:rather|prefer)|(?:could|can|would|will|may|might|can|could|may) (?:you|i (?:have|ask|get|know|see|help))|are you (?:the|a|an|still|in|at|on (?!board)|calling|writing|looking|mr|mrs|ms))\b/;

/** Reports whether a question is one that a no accepts: "Would you mind if I cancelled it?", "Any objections?" */
export function isInverted({ text, question }: Sentence): boolean {
  return (
    question &&
    /\bmind (?:if|my|me)\b|\bobjections?\b|\bobject\b|\b(?:anything|something) (?:wrong|missing|against|to (?:correct|change|add|object)|(?:that )?you (?:would|want) (?:like )?to (?:correct|change|add))\b|\b(?:reason|reasons) not to\b|\bgot (?:that|anything|something|it) wrong\b/.test(
      text,
    )
  );
}
