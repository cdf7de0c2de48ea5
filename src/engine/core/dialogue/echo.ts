import { clausesOf, plain, type Sentence, sentencesOf } from '../text/text.ts';
import { answerOf } from './consent.ts';
import { hasAlternative, withoutContrast } from './contrast.ts';
import { patterns, words } from './patterns.ts';
import { isQuestion } from './userQuestion.ts';

const {
  leading,
  detailQuestion,
  tellings,
  companions,
  told,
  demanding,
  dayName,
  correcting,
  anyDeed,
  deedLead,
  taken,
  contrasted,
  suiting,
  correctingWord,
} = patterns.echo;
const { isDeed } = patterns.consent;

const noDetail = new Set(words.echo.noDetail);
/** Matches a question about something else after the yes: "Yes please. And when will my other order W1103 come?" */
const asideQuestion = /(?<=[.!]\s*)(?:and|also)\b[^.?!]*\?/gi;

/**
 * Reports whether a user's yes names a detail that the proposal did not: "Yes, switch it to white" after a proposal of
 * black is a change, not a yes. Numbers and words after a preposition count as details. They do not count in a
 * separate sentence that answers another question of the same utterance: "Yes, go ahead. It's 555 0134."
 */
export function departsFrom(proposal: string, answer: string): boolean {
  const asksMore = sentencesOf(plain(proposal)).some(({ text, question }) => question && detailQuestion.test(text));
  const all = answer.replace(asideQuestion, '').replace(tellings, ' ');
  if (contrasts(all, proposal)) return true;
  const said = withoutContrast(all);
  return names(asksMore ? agreeing(said) : said, new Set(wordsAsSaid(`${proposal} ${plain(proposal)}`)));
}

/**
 * Reports whether an answer rejects a proposed value and names another: "It's in Ashford, not Dunmore", after a
 * proposal of Dunmore.
 */
function contrasts(answer: string, proposal: string): boolean {
  const proposed = new Set(wordsAsSaid(proposal));
  return sentencesOf(plain(answer)).some(({ text }) => {
    const [, kept, dropped] = contrasted.exec(text) ?? [];
    const wanted = contentOf(kept ?? '').filter((word) => !isPlain(word));
    const [no = ''] = contentOf(dropped ?? '');
    return no.length > 3 && proposed.has(no) && wanted.length > 0 && !wanted.some((word) => proposed.has(word));
  });
}

/** Returns only the sentences that agree or order something. The others answer other questions. */
function agreeing(answer: string): string {
  const isAgreeing = ({ text }: Sentence) => clausesOf(text).some((clause) => answerOf(clause) !== 'other');
  return sentencesOf(plain(answer))
    .filter(isAgreeing)
    .map(({ text }) => text)
    .join('. ');
}

/** Reports whether a clause gives information, with its own subject: "we have no room for a lamp". */
export const isTold = (clause: string): boolean => told.test(clause);

/** Returns what an answer asks for, without its questions and without other information. */
export function demandsIn(answer: string): string {
  return sentencesOf(plain(answer))
    .filter(({ text, question }) => !isQuestion(text, question))
    .flatMap(({ text }) => clausesOf(text))
    .filter((clause) => !isTold(clause))
    .join(', ');
}

/** Reports whether a text has a word beyond those of a bare yes or order. */
export const saysMore = (text: string) => contentOf(text).some((word) => !noDetail.has(word) && !isDeed.test(word));

/** Reports whether a part of an answer names a detail that is not among the words of the proposal. */
function names(answer: string, proposed: ReadonlySet<string>): boolean {
  return answer.split(/(?<=[.!?;])\s+|,\s|\s-\s|\n+/).some((part) => {
    const clause = plain(part).replace(/[.!?;]+$/, '');
    const isDemand =
      !isTold(clause) && (demanding.test(clause) || /^(?:yes|consent|deed)$/.test(answerOf(clause)) || isOrder(clause));
    return namesDetail(part, isDemand, proposed);
  });
}

/** Reports whether a clause says what suits the user: "Saturday would be fine". */
const isOffered = (clause: string) => !isTold(clause) && suiting.test(clause);
const numbers = new Map(words.echo.numbers.map((pair) => pair.split(':') as [string, string]));

/**
 * Reports whether the proposal has a number of the answer, in the same form or in digits, with or without an ordinal
 * ending.
 */
function isProposed(word: string, proposed: ReadonlySet<string>): boolean {
  const digits = numbers.get(word) ?? word.replace(/(?<=\d)(?:st|nd|rd|th)$/, '');
  return [word, digits, `${digits}st`, `${digits}nd`, `${digits}rd`, `${digits}th`].some((each) => proposed.has(each));
}
/** Reports whether a clause starts with an order: "please cancel it". */
const isOrder = (clause: string) => isDeed.test(clause.replace(deedLead, '').split(' ')[0] ?? '');

/**
 * Reports whether a clause names a detail that was not proposed: a number or a day anywhere, and in a demand an email
 * address or a word after a preposition.
 */
function namesDetail(clause: string, isDemand: boolean, proposed: ReadonlySet<string>): boolean {
  const emails = clause.toLowerCase().match(/[\w.+-]+@[\w-]+(?:\.[\w-]+)+/g) ?? [];
  if (isDemand && emails.some((email) => !wordsAsSaid(email).every((word) => proposed.has(word)))) return true;
  const isOfProposal = isDemand || !isTold(plain(clause)) || correcting.test(plain(clause));
  const words = wordsAsSaid(plain(clause).replace(/\b(?:100 ?%|1000 thanks|24\/7|10\/10)/g, ''));
  return words.some((word, index) => {
    if (/\d/.test(word) || numbers.has(word)) return isOfProposal && !isProposed(word, proposed);
    if (dayName.test(word) && isOffered(clause))
      return !proposed.has(word) && [...proposed].some((each) => dayName.test(each));
    if (!isDemand || !/^(?:to|into|with|for|as)$/.test(word)) return false;
    const detail = words.slice(index + 1).find((each) => !leading.test(each));
    return detail !== undefined && !isPlain(detail) && !companions.test(detail) && !proposed.has(detail);
  });
}

/** Returns the words of a text, with each sum in one form: 15.90 becomes 15.9. */
function wordsAsSaid(text: string): readonly string[] {
  const sums = text
    .toLowerCase()
    .replace(/(\d+\.\d*?)0+(?!\d)/g, '$1')
    .replace(/(\d)\.(?!\d)/g, '$1 ');
  return sums.match(/\d+\.\d+|[\p{L}\p{N}]+/gu) ?? [];
}

/** Reports whether a word after a preposition is not a detail. */
const isPlain = (word: string) => noDetail.has(word) || word.endsWith('ing') || isDeed.test(word);

const empty = new Set(words.echo.empty);
/** Returns a rough stem of a word: "returned" and "returns" become the same. */
const stem = (word: string) => word.replace(/(?:ing|ed|es|s|e)$/, '').slice(0, 6);

/** Reports whether every meaningful word of a clause is in the proposal, so that the clause asks for nothing new. */
export function echoes(clause: string, proposal: string): boolean {
  const said = contentOf(clause);
  const proposed = new Set(wordsAsSaid(plain(proposal)).map(stem));
  return said.length > 0 && said.every((word) => proposed.has(stem(word)));
}

const contentOf = (clause: string) => wordsAsSaid(clause).filter((word) => !empty.has(word));

const deedGroups = words.echo.deedGroups.map((group) => group.split('|'));

/**
 * Reports whether a clause orders or takes exactly what the proposal named: "cancel it", "swap it for the red one",
 * "oak it is".
 */
export function isDeedOf(clause: string, proposal: string): boolean {
  const bare = clause
    .replace(deedLead, '')
    .replace(/^get rid of\b/, 'remove')
    .replace(/^(?!go )(\w+) away\b/, '$1');
  if (correctingWord.test(bare)) return false;
  const proposed = plain(proposal);
  const [verb = '', ...rest] = bare.split(' ');
  const noun = taken.exec(bare)?.[1];
  const isChoice = sentencesOf(proposed).some(({ text, question }) => question && hasAlternative(text));
  if (noun !== undefined && !isChoice && !isDeed.test(verb) && echoes(noun, proposal)) return true;
  if (!isDeed.test(verb) && !deedGroups.some((group) => group.includes(verb))) return false;
  const named = contentOf(rest.join(' ')).filter((word) => !noDetail.has(word));
  if (isChoice && named.length > 0) return false;
  return isRelated(verb, proposed) && (named.length === 0 || echoes(named.join(' '), proposal));
}

/** Reports whether a verb can mean the deed that was proposed. */
function isRelated(verb: string, proposed: string): boolean {
  const verbs = wordsAsSaid(proposed).map(stem);
  const group = [verb, ...deedGroups.filter((each) => each.includes(verb)).flat()];
  return (
    anyDeed.test(verb) || (!/^(?:leave|keep|hold|stop)$/.test(verb) && group.some((each) => verbs.includes(stem(each))))
  );
}

/** Matches a verb that chooses the means: "use my Mastercard". */
const means = /^(?:use|take|charge|make|put|bill|debit|pay|choose|pick)$/;

/**
 * Reports whether a clause orders other means than the proposal named: "use my Mastercard", after a proposal to pay by
 * voucher.
 */
export function ordersOther(clause: string, proposal: string): boolean {
  const [verb = '', ...rest] = clause.replace(deedLead, '').split(' ');
  const named = contentOf(rest.join(' ')).filter((word) => !noDetail.has(word) && !companions.test(word));
  return (
    means.test(verb) &&
    named.length > 0 &&
    !/^(?:care|sure|quick|place|your time)/.test(rest.join(' ')) &&
    !echoes(named.join(' '), proposal)
  );
}
