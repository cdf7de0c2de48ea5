import { literal } from '../text/literal.ts';
import { clausesOf, plain, type Sentence, sentencesOf } from '../text/text.ts';
import { marksChange } from './change.ts';
import { answerOf } from './consent.ts';
import { hasAlternative, withoutContrast } from './contrast.ts';
import { departsFrom, echoes, isDeedOf, isTold, ordersOther } from './echo.ts';
import { withoutOtherMatters } from './otherMatter.ts';
import { patterns } from './patterns.ts';
import { isDenial } from './refusal.ts';
import { recogniseUser } from './userActs.ts';
import { isQuestion, isTag, isWeighing } from './userQuestion.ts';
import { isInverted } from './verdict.ts';

const {
  waiting,
  pondering,
  postponed,
  putOff,
  conditional,
  noCondition,
  hedge,
  harmlessBut,
  counter,
  exception,
  unwanted,
  noDenial,
  takenBack,
  declinesKindly,
  openingNo,
  secondNo,
  openingYes,
  openAfterYes,
  emptyNo,
  noReason,
  retraction,
  politeTag,
  leadingWords,
  noVerb,
  afterVerb,
  aroundWord,
  noEnd,
  concluding,
} = patterns.reply;
const { approval, assents, elliptic, nods, thumbs } = patterns.assent;
const { reported } = patterns.userActs;
const { agreeing, holding, litotes } = patterns.tone;

/**
 * The meaning of an answer to a proposal. `yes` is explicit. `assent` only goes along ("fine", "lovely"), which counts
 * as a yes if the agent asked for one. The others are not a yes.
 */
export type Reply = 'yes' | 'assent' | 'no' | 'change' | 'condition' | 'delay' | 'doubt' | 'question' | 'unclear';

/**
 * The meaning of a clause. Besides a reply, it can be only polite (`courtesy`) or irrelevant to the proposal (`aside`).
 */
type Kind = Reply | 'courtesy' | 'aside';

/** Returns the meaning of an answer to this proposal. */
export function replyTo(proposal: string, said: string): Reply {
  if (nods.test(said) && /\p{Extended_Pictographic}/u.test(said)) return 'yes';
  const answer = withoutOtherMatters(proposal, said.replace(thumbs, ' yes. '));
  const asked = sentencesOf(plain(proposal)).filter(({ question }) => question);
  if (asked.some(isInverted)) return invertedReply(proposal, answer, asked);
  return plainReply(proposal, answer, asked);
}

/** Returns the meaning of an answer to a proposal that a yes accepts. */
function plainReply(proposal: string, answer: string, asked: readonly Sentence[]): Reply {
  const isPutOff = sentencesOf(plain(answer)).some(({ text }) => clausesOf(text).some((each) => putOff.test(each)));
  if (recogniseUser(answer).confirms && !isPutOff && !departsFrom(proposal, answer)) return gradeOf(answer);
  if (declinesKindly.test(plain(answer))) return 'no';
  const spoken = lastVersion(sentencesOf(wordedPlainly(answer))).flatMap(partsOf);
  const statements = spoken.filter(({ question }) => !question).map(({ text }) => text);
  const kindOf = (clause: string) => kindIn(clause, proposal, asked);
  const kinds = statements.map((text): Kind[] => (text === 'please' ? ['yes'] : clausesOf(text).map(kindOf)));
  const all = kinds.flat();
  if (isFinalWord(kinds, spoken)) return departsFrom(proposal, statements.join('. ')) ? 'change' : 'yes';
  const against = (['no', 'change', 'condition', 'delay', 'doubt'] as const).find((kind) => all.includes(kind));
  if (against) return against;
  if (isChanged(proposal, statements)) return 'change';
  const questions = spoken.filter(({ question }) => question).map(({ text }) => text);
  const closes = recogniseUser(answer).closes;
  const said = all.includes('yes')
    ? 'yes'
    : all[0] === 'assent' && !closes && isGoingAlong(statements)
      ? 'assent'
      : null;
  if (questions.length > 0) return said === 'yes' && !questions.some(isOpen) ? 'yes' : 'question';
  if (said !== null) return said;
  const isAgreed = !closes && !reported.test(plain(answer)) && soundsAgreed(statements.join('. '));
  return isAgreed ? 'assent' : 'unclear';
}

/**
 * Returns the meaning of an answer to a question that a no accepts, such as "Would you mind if I cancelled it?" The no
 * counts as a yes, unless the rest of the answer means something else. A bare yes is unclear.
 */
function invertedReply(proposal: string, answer: string, asked: readonly Sentence[]): Reply {
  const bare = plain(answer);
  const rest = bare.replace(openingNo, '');
  const closing = rest.replace(secondNo, '');
  if (rest !== bare) {
    if (closing === '') return 'yes';
    const reply = plainReply(proposal, closing, asked);
    return reply === 'unclear' && !/\b(?:no|not|never|stop)\b/.test(closing) ? 'yes' : reply;
  }
  const afterYes = bare.replace(openingYes, '');
  if (afterYes === '' || /\bi (?:do|would) (?:mind|object)\b/.test(afterYes)) return 'unclear';
  return plainReply(proposal, afterYes, asked);
}

/**
 * Reports whether a question next to a yes leaves the yes open: it weighs the proposal ("what does it cost?"), objects
 * ("but is it new?"), or asks for another way ("can it also be blue?").
 */
const isOpen = (question: string) => isWeighing(question) || openAfterYes.test(question);

/** Returns whether a recognised yes is explicit or only goes along. */
function gradeOf(answer: string): 'yes' | 'assent' {
  const clauses = sentencesOf(plain(answer)).flatMap(({ text }) => clausesOf(text));
  return clauses.some((clause) => /^(?:yes|consent|deed)$/.test(answerOf(clause))) ? 'yes' : 'assent';
}

/**
 * Returns an answer in plain text without a no that does not refuse ("no, no problem, do it"), and with "why not" in
 * place of "I can't see why not".
 */
const wordedPlainly = (answer: string) => plain(answer).replace(emptyNo, '').replace(noReason, 'why not');

/** Returns the sentences from the last "I mean yes" on, which takes back those before it. */
function lastVersion(sentences: readonly Sentence[]): readonly Sentence[] {
  const at = sentences.findLastIndex(({ text }) => retraction.test(text));
  return at < 0 ? sentences : [{ text: 'yes', question: false }, ...sentences.slice(at + 1)];
}

/** Splits a sentence that opens with a yes and then asks something: "yes please" and "when is it sent?" */
function partsOf(sentence: Sentence): readonly Sentence[] {
  const { text } = sentence;
  if (isTag(text) || politeTag.test(text)) return [{ text, question: false }];
  const isOrdered = !sentence.question && /^do (?:that|this|the|both|all)\b(?!.*\byou\b)/.test(text);
  if (isOrdered || !isQuestion(text, sentence.question)) return [{ text, question: false }];
  const clauses = clausesOf(text);
  const isSaid = (clause: string) => /^(?:yes|consent|weak)$/.test(answerOf(clause)) || waiting.test(clause);
  const asks = clauses.findIndex((clause) => !isSaid(clause));
  if (asks < 1) return [{ text, question: true }];
  return [
    { text: clauses.slice(0, asks).join(', '), question: false },
    { text: clauses.slice(asks).join(', '), question: true },
  ];
}

/** Returns the meaning of one clause as an answer to the proposal. */
function kindIn(clause: string, proposal: string, asked: readonly Sentence[]): Kind {
  if (conditional.test(clause) && !noCondition.test(clause)) {
    const condition = clause.slice(clause.search(conditional));
    if (!echoes(condition, proposal)) return 'condition';
  }
  if (waiting.test(clause)) return 'delay';
  if (noDenial.test(clause)) return 'aside';
  if (isAskedDeed(clause, asked)) return 'yes';
  if (unwanted.test(clause) && takenBack.test(plain(proposal))) return 'aside';
  if (isDenial(clause) || /^(?:yes|yeah|ok|okay|sure|fine|well) no+$/.test(clause)) return 'no';
  if (pondering.test(clause) || postponed.test(clause)) return echoes(clause, proposal) ? 'aside' : 'delay';
  if (harmlessBut.test(clause)) return 'aside';
  if (exception.test(clause) && isPartOf(clause, proposal)) return 'change';
  if (exception.test(clause) || (counter.test(clause) && !isTold(clause)))
    return echoes(clause, proposal) ? 'aside' : 'change';
  const own = withoutContrast(clause);
  if (own !== clause && echoes(own, proposal)) return kindIn(own, proposal, asked);
  if (marksChange(clause.replace(/\binstead of \w+ing\b/, ''), false))
    return isDeedOf(clause, proposal) ? 'yes' : 'change';
  if (ordersOther(clause, proposal)) return 'change';
  const agrees = agreementOf(clause, proposal, asked);
  if (agrees !== null) return hedge.test(clause) ? 'doubt' : agrees;
  const isHedged = hedge.test(clause) && clause.split(' ').length <= 5;
  if (isHedged) return 'doubt';
  return answerOf(clause) === 'courtesy' ? 'courtesy' : 'aside';
}

/** Returns how a clause agrees, or null if it does not. */
function agreementOf(clause: string, proposal: string, asked: readonly Sentence[]): 'yes' | 'assent' | null {
  if (reported.test(clause)) return null;
  const answer = answerOf(clause.replace(/^(?:but|and|so|then|though|although|because) /, ''));
  if (answer === 'yes' || answer === 'consent' || assents.test(clause) || elliptic.test(clause)) return 'yes';
  if (approval.test(clause)) return answer === 'weak' ? 'assent' : 'yes';
  if (answer === 'weak') return 'assent';
  if (isDeedOf(clause, proposal)) return 'yes';
  return isAskedWord(clause, asked) ? 'yes' : null;
}

/**
 * Reports whether a clause orders the deed of the question: "stop it" after "should I stop it?", "activate" after
 * "activate it?"
 */
function isAskedDeed(clause: string, asked: readonly Sentence[]): boolean {
  const question = asked.at(-1)?.text ?? '';
  const [verb = '', ...rest] = clause.replace(leadingWords, '').split(' ');
  const isVerb = new RegExp(`(?:^|\\b(?:i|we|to|and|then|you) |, )${literal(verb)}\\b`).test(question);
  return (
    isVerb &&
    /^[a-z]{3,}$/.test(verb) &&
    !noVerb.test(verb) &&
    !hasAlternative(question) &&
    rest.every((word) => afterVerb.test(word))
  );
}

/** Reports whether a clause repeats the end of the question: "final word" after "is that your final word?" */
function isAskedWord(clause: string, asked: readonly Sentence[]): boolean {
  const last = asked.at(-1)?.text ?? '';
  const said = clause.replace(aroundWord, '');
  const isEnd = ` ${clausesOf(last).at(-1) ?? ''}`.replace(/ (?:then|please)$/, '').endsWith(` ${said}`);
  return isEnd && !hasAlternative(last) && !noEnd.test(said);
}

/**
 * Reports whether the last sentence that is not only polite is a clear yes, and everything before it only hesitated.
 */
function isFinalWord(kinds: readonly (readonly Kind[])[], spoken: readonly Sentence[]): boolean {
  if (spoken.at(-1)?.question) return false;
  const last = kinds.findLastIndex((sentence) => sentence.some((kind) => kind !== 'courtesy'));
  const word = kinds[last] ?? [];
  const isYes = word.includes('yes') && word.every((kind) => /^(?:yes|assent|courtesy)$/.test(kind));
  const isBare = word[0] === 'yes' && /^(?:yes|yeah|yep)\b/.test(spoken[last]?.text ?? '');
  const before = kinds.slice(0, last).flat();
  const against = isBare ? /^(?:no|change)$/ : /^(?:no|change|condition)$/;
  return (
    last > 0 &&
    (isYes || isBare) &&
    before.every((kind) => !against.test(kind)) &&
    word.every((kind) => !/^(?:no|change|condition|delay|doubt)$/.test(kind))
  );
}

/** Reports whether a clause keeps only one of several things that the proposal names together: "only the kettle". */
function isPartOf(clause: string, proposal: string): boolean {
  const noun = clause.split(' ').at(-1) ?? '';
  if (!/^[a-z]+$/.test(noun)) return false;
  return new RegExp(`(?:,| and)(?: \\w+){0,2} ${noun}\\b|\\b${noun}(?: \\w+)?(?:,| and) (?:an?|the|your)\\b`).test(
    plain(proposal),
  );
}

/**
 * Reports whether statements name a value that the proposal did not, or word a change that runs over several clauses.
 */
function isChanged(proposal: string, statements: readonly string[]): boolean {
  if (departsFrom(proposal, statements.join('. '))) return true;
  return statements.some(
    (text) =>
      clausesOf(text).length > 1 &&
      marksChange(withoutContrast(text), false) &&
      ![text, clausesOf(text).at(-1) ?? ''].some((each) => isDeedOf(each, proposal)),
  );
}

/**
 * Reports whether the words next to a bare "fine" or "great" only go along, without a conclusion or a sum: "OK, so that
 * is 5 more" has one.
 */
function isGoingAlong(statements: readonly string[]): boolean {
  return !statements.some((text) => concluding.test(text));
}

/**
 * Reports whether an answer of at most 16 words agrees by its words alone, in a wording that no pattern has: it has a
 * word of agreement and none that can hold something back.
 */
function soundsAgreed(plainText: string): boolean {
  const rest = plainText.replace(litotes, ' fine ');
  return rest.split(/\s+/).length <= 16 && agreeing.test(rest) && !holding.test(rest);
}
