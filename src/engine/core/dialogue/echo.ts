import { clausesOf, plain, type Sentence, sentencesOf } from '../text/text.ts';
import { hasAlternative } from './alternative.ts';
import { answerOf, isDeed } from './consent.ts';
import { withoutContrast } from './contrast.ts';
import { isQuestion } from './userQuestion.ts';

/** Words after a preposition that are not a detail of the order: "go ahead with it", "thanks for your help". */
const noDetail = new Set(
  (
    'a all an and any anything asking be both checking course details doing everything fun go good help how i info it me ' +
    'mind mine my now once him her one our patience plan pleasure proceed real right sure that the them then these this those ' +
    'above agreed described discussed listed planned proposed said set soon stated usual ' +
    'time today us what which yes you your order item request change changes update'
  ).split(' '),
);
/** Matches words between a preposition and its noun: "to the red one". */
const leading = /^(?:the|a|an|my|your|our|that|this|these|those|all|both|of)$/;

/**
 * Matches a question for a fact in addition to the one for a yes: "Shall I send it today? And what is your postcode?"
 */
const detailQuestion =
  /^(?:(?:and|also|then|so|but|please|before that)[ ,]+)*(?:what|which|where|when|who|whose|how (?:many|much)|(?:may|can|could) i (?:also )?(?:have|get|ask)|(?:can|could|would) you (?:also |please )*(?:tell|give|share|send|provide|name|remind))\b/;
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
 * Matches numbers and phrases that give information and request nothing: "my 5 year old", "the two of them", "as my mum
 * would say".
 */
const tellings =
  /\b(?:\d+|[a-z]+ty(?:-\w+)?|[a-z]+teen)[ -]?(?:years?|months?|weeks?|days?|hours?|minutes?|times)(?:[ -]old| ago| straight| in a row| running)\b|\b\d+ times\b|\b\d+ \w+ (?:a|per|every|each) (?:day|week|month|year|hour)\b|\bsince \d{4}\b|\b(?:with |for |to )?the (?:two|three) of (?:them|these|those|us)\b|\bas [\w ]{1,20} (?:would |used to )?(?:say|says|said|put it)\b/gi;

/**
 * Reports whether an answer rejects a proposed value and names another: "It's in Ashford, not Dunmore", after a
 * proposal of Dunmore.
 */
function contrasts(answer: string, proposal: string): boolean {
  const proposed = new Set(wordsAsSaid(proposal));
  return sentencesOf(plain(answer)).some(({ text }) => {
    const [, kept, dropped] = /([^,;]*),? (?:and )?not (?:the |in |to |on |my |at )*([^,;]+)$/.exec(text) ?? [];
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

/**
 * Matches people, times and manners after a preposition, which are not details of the proposal: "yes, it's for my mum",
 * "yes, with pleasure".
 */
const companions =
  /^(?:mum|mom|mother|dad|father|wife|husband|partner|son|daughter|kid|kids|child|children|family|friend|sister|brother|boss|colleague|work|birthday|christmas|holiday|trip|party|sure|certain|real|pleasure|joy|gusto|thanks|gratitude|relief|being|taking|heaven|goodness|god|honest|fair|clear|fire|someone|somebody|good|ages|now|ever|always|once|then|long|weeks|days|months|years|christ)$/;
/** Matches a clause that gives information, with its own subject: "We have no room for a lamp". */
const told =
  /^(?:because |as |since |and |so |but |then |for |well )*(?:(?:at|after|in|for|since|with|on|over|by) [\w ]{1,30}? (?=(?:i|we|it|he|she|they|you)\b))?(?:i|we|it|he|she|they|there|(?:that|this|my \w+|my \w+s(?= (?!please|instead|too)\w+ )|the \w+|nobody|everybody)(?= (?:is|are|was|were|has|have|had|will|would|does|did|never|just|keeps?|broke|works?|goes|\w+ed)\b))(?: \w+ly| just| really| only| also| already| have| has| had)? (?!(?:would(?! not)|want|need(?! to)|prefer|meant|mean|said|should|must|has to|needs to|keep|leave|take|am keeping|will (?:keep|take|manage|wait))\b)\w+/;

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

/**
 * Matches a clause that can ask for a detail: one that starts with a preposition ("to the red one"), or a demand ("it
 * should be red").
 */
const demanding =
  /^(?:(?:and|but|so|then|ok|okay|please|just) )*(?:to|into|with|for|as)\b|\b(?:should|must|has to|have to|needs? to|ought to|want|would like|prefer)\b/;

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

/** Matches a day of the week or a month. */
const dayName =
  /^(?:(?:mon|tues|wednes|thurs|fri|satur|sun)days?|january|february|april|june|july|august|september|october|november|december)$/;
/** Reports whether a clause says what suits the user: "Saturday would be fine". */
const isOffered = (clause: string) =>
  !isTold(clause) && /\b(?:is|would be|will be|suits?|works?|will do|then|please)\b/.test(clause);
/**
 * Number words that are amounts or dates, with their digits. Small numbers such as "one" and "two" are left out,
 * because they are often idioms.
 */
const numbers: ReadonlyMap<string, string> = new Map(
  (
    'thirteen:13 fourteen:14 fifteen:15 sixteen:16 seventeen:17 eighteen:18 nineteen:19 twenty:20 thirty:30 forty:40 fifty:50 ' +
    'sixty:60 seventy:70 eighty:80 ninety:90 hundred:100 thirteenth:13 fourteenth:14 fifteenth:15 sixteenth:16 seventeenth:17 ' +
    'eighteenth:18 nineteenth:19 twentieth:20 thirtieth:30'
  )
    .split(' ')
    .map((pair) => pair.split(':') as [string, string]),
);
/**
 * Reports whether the proposal has a number of the answer, in the same form or in digits, with or without an ordinal
 * ending.
 */
function isProposed(word: string, proposed: ReadonlySet<string>): boolean {
  const digits = numbers.get(word) ?? word.replace(/(?<=\d)(?:st|nd|rd|th)$/, '');
  return [word, digits, `${digits}st`, `${digits}nd`, `${digits}rd`, `${digits}th`].some((each) => proposed.has(each));
}
/** Matches a statement that corrects a detail: "my house number is 65", "it is 65". */
const correcting =
  /^(?:because |and |but |so )*(?:it|that|this|these|those|(?:my|the|our) (?:\w+ )?(?:number|house|street|road|address|card|postcode|zip|flat|apartment|door|date|day|time|size|price|amount|sum|name|order|email|phone)) (?:is|was|are|were|should|must|has|will)\b/;
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

/** Function words, which are ignored when an answer is compared with a proposal. */
const empty = new Set(
  (
    'i me my mine we us our you your it its he she they them this that these those the a an one ones of to in on at for from by with as and or then ' +
    'out up off away over down through now so is are am was were be been do does did have has had will would can could shall should may might please just only really very also too if ' +
    'unless provided providing long assuming supposing condition when once where case but however though although yet still same like want wish need ' +
    'get got go goes going there here thanks yes ok okay well let us'
  ).split(' '),
);
/** Returns a rough stem of a word: "returned" and "returns" become the same. */
const stem = (word: string) => word.replace(/(?:ing|ed|es|s|e)$/, '').slice(0, 6);

/** Reports whether every meaningful word of a clause is in the proposal, so that the clause asks for nothing new. */
export function echoes(clause: string, proposal: string): boolean {
  const said = contentOf(clause);
  const proposed = new Set(wordsAsSaid(plain(proposal)).map(stem));
  return said.length > 0 && said.every((word) => proposed.has(stem(word)));
}

const contentOf = (clause: string) => wordsAsSaid(clause).filter((word) => !empty.has(word));

/** Groups of verbs for the same deed: a user says "swap" where the agent said "exchange". */
const deedGroups: readonly (readonly string[])[] = [
  ['exchange', 'swap', 'switch', 'change', 'replace', 'trade', 'make', 'take'],
  ['return', 'refund', 'send', 'take', 'give', 'credit', 'ship'],
  ['cancel', 'drop', 'scrap', 'remove', 'delete', 'kill', 'bin', 'stop', 'get rid of'],
  ['send', 'redirect', 'deliver', 'ship', 'forward', 'move', 'readdress', 'bring', 'reroute', 'resend', 'change'],
  ['put', 'pop', 'stick', 'enter', 'note', 'write', 'pencil', 'add', 'sign', 'set'],
  ['turn', 'switch', 'deactivate', 'disable', 'block', 'stop', 'suspend', 'end'],
  ['charge', 'pay', 'use', 'bill', 'debit', 'put', 'switch', 'change'],
  ['book', 'reserve', 'schedule', 'reschedule', 'postpone', 'move', 'rebook', 'arrange'],
  ['transfer', 'hand', 'connect', 'pass', 'forward'],
];
/** Matches a verb that can mean any deed: "do", "go", "process". */
const anyDeed =
  /^(?:do|go|try|process|proceed|book|submit|complete|finish|start|confirm|arrange|sort|file|execute|register|apply|save)$/;
/** Matches the words before an order: "yes please just cancel it". */
const deedLead =
  /^(?:(?:and|so|then|please|just|kindly|now|ok|okay|fine|right|well|yes|yeah|sure|great|go ahead and|let us|you (?:can|may|should)|i (?:want|would like) you to|oh|all right|alright)[ ,]+)+/;
/** Matches an answer that takes a proposed thing: "Oak it is", "the gift card please". */
const taken =
  /^(.+?) (?:it is(?: then)?|it shall be|please|then please|will do|it will be|for me(?: please)?|is (?:fine|good|perfect|great|ok|okay|right|lovely|the one)|would be (?:great|lovely|perfect|good|nice)|then)$/;

/**
 * Reports whether a clause orders or takes exactly what the proposal named: "cancel it", "swap it for the red one",
 * "oak it is".
 */
export function isDeedOf(clause: string, proposal: string): boolean {
  const bare = clause
    .replace(deedLead, '')
    .replace(/^get rid of\b/, 'remove')
    .replace(/^(?!go )(\w+) away\b/, '$1');
  if (/\b(?:instead|rather|second thoughts?|mind|scratch|correction|not|never|no|meant|mean|prefer)\b/.test(bare))
    return false;
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
