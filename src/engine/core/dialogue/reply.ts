import { literal } from '../text/literal.ts';
import { clausesOf, plain, type Sentence, sentencesOf } from '../text/text.ts';
import { hasAlternative } from './alternative.ts';
import { approval, assents, elliptic, nods, thumbs } from './assent.ts';
import { marksChange } from './change.ts';
import { answerOf } from './consent.ts';
import { withoutContrast } from './contrast.ts';
import { departsFrom, echoes, isDeedOf, isTold, ordersOther } from './echo.ts';
import { beforeAssent } from './opener.ts';
import { withoutOtherMatters } from './otherMatter.ts';
import { isDenial } from './refusal.ts';
import { soundsAgreed } from './tone.ts';
import { recogniseUser, reported } from './userActs.ts';
import { isQuestion, isTag, isWeighing } from './userQuestion.ts';
import { isInverted } from './verdict.ts';

/**
 * The meaning of an answer to a proposal. `yes` is explicit. `assent` only goes along ("fine", "lovely"), which counts
 * as a yes if the agent asked for one. The others are not a yes.
 */
export type Reply = 'yes' | 'assent' | 'no' | 'change' | 'condition' | 'delay' | 'doubt' | 'question' | 'unclear';

/**
 * The meaning of a clause. Besides a reply, it can be only polite (`courtesy`) or irrelevant to the proposal (`aside`).
 */
type Kind = Reply | 'courtesy' | 'aside';

/** Matches a clause that asks the agent to wait: "hold on", "let me check". */
const waiting =
  /^(?:(?:no|oh|um+|uh+|hm+|ah|but|so|and|please|just|sorry|well|ok|okay|yes|actually|erm?) )*(?:wait(?! no (?:longer|more))|hold on|hang on|hold off|hold it|not (?:yet|now|today|so fast|quite yet|just yet)|(?:just )?(?:one|a) (?:more )?(?:sec|second|moment|minute|thing)|(?:give|gimme) (?:me|us) (?:a|an|one|some|two|five|until)|let me (?:just |quickly |first |still )?(?:think|check|ask|see|look|talk|speak|get back|sleep|find|read|consider|measure|count|know (?:first|what|how|whether|if)))\b(?! for (?:it|that|this) to (?:arrive|come))/;
/** Matches a clause of a user who is undecided: "I need to think about it", "I'll get back to you". */
const pondering =
  /\b(?:(?:need|have|want|would like|like|got|must|should|had better|would better|better) (?:to )?(?:first |still |just |quickly )?(?:think|check|ask|sleep|consult|measure|consider|talk|speak|discuss|compare|look)|(?:will|going to|have to) (?:have to |need to |just |first )*(?:think|ask|sleep on|consult|measure|consider|discuss|talk it|get back|come back|let you know|decide|see what)|sleep on (?:it|that|this)|think(?:ing)? (?:about|it over)|(?:get|come) back to (?:you|this|that)|make up my mind|(?:not|have not) (?:yet )?(?:decided|made up)|cannot (?:really |quite )?(?:decide|choose)|undecided|still (?:thinking|deciding|looking|unsure|not|wondering|comparing)|do not know (?:yet|if|whether)|let you know|another (?:day|time)|some other time)\b|\bfirst(?: please)?$/;
/** Matches a clause that postpones what was proposed: "after the weekend", "before you cancel it". */
const postponed =
  /^(?:(?:yes|yeah|ok|okay|sure|fine|please|do (?:it|that)|go ahead|but|and|only|just|right|cancel it|change it|send it|proceed)[ ,]+)*(?:(?:before|after|once|until|till|as soon as|when) (?!(?:you (?:can|get|have (?:a|the)|are (?:ready|able)|please|like)|possible)\b)(?:you|we|i|my|that|doing|the|he|she|they)\b|later$|(?:tomorrow|next (?:week|month|time)|in a (?:week|day|month))$|first\b)|\bbefore you (?:do|cancel|change|process|book|proceed|go ahead|start|return|send)\b/;
/** Matches a clause that only names a later time: "tomorrow". */
const putOff = /^(?:later|tomorrow|next (?:week|month|time)|in a (?:week|day|month))$/;
/** Matches a condition: "only if it is free". */
const conditional =
  /\b(?:if|unless|provided|providing|as long as|so long as|assuming|supposing|on condition|on the condition|subject to|depend(?:s|ing)?|conditional(?:ly)?|only (?:if|when|with|where|once (?:i|we|you|it|they|he|she|the|my|that|this))|in case|otherwise)\b/;
/** Matches phrases with "if" that are not a condition: "if you would", "if need be". */
const noCondition =
  /\b(?:if (?:you (?:would|could|can|please|like|want|wish|may|say so|must|do not mind|have to|insist)\b(?! not)|(?:it|that) (?:must|has to|needs to) be|possible|i may(?: say)?|i am honest|only (?:i|you)|not (?:more|sooner|better)|need be|anything|so$|that is (?:ok|okay|fine|all right|alright|what (?:you|it|is)|possible|it))|(?:even|as|what) if)\b/;
/** Matches words of doubt: "maybe", "I guess so", "not entirely sure". */
const hedge =
  /\b(?:maybe|perhaps|possibly|probably|presumably|likely|i (?:think|guess|suppose|believe|assume|reckon|hope) ?(?:so)?$|not (?:\d+ ?%? |entirely |totally |quite |completely |so |too |very |really |all that )?(?:sure|certain|convinced)|unsure|sort of|kind of|more or less|(?<!\b(?:i|we|it|he|she|they) )(?:almost|nearly)|leaning|tempted|in principle|in theory|half|hesitant|reluctant|wonder|doubt(?!\s*about)|i guess|might|could be(?! worse)|(?<!\bi |\bwe )should be)\b/;
/** Matches a "but" that changes nothing: "but please hurry". */
const harmlessBut =
  /^(?:but|however|though|although) (?:please |kindly |do |just |then |also |now )*(?:hurry|be (?:quick|fast|careful|gentle)|quick|quickly|fast|soon|make (?:it )?(?:quick|fast|snappy|sure)|thanks|thank you|no (?:hurry|rush)|let me know|tell me (?:when|once)|honestly|to be honest|still|anyway|never mind)\b/;
/** Matches a "but" with another demand: "but send it to Bonn", "but without the lamp". */
const counter =
  /^(?:but|however|though|although|yet|only(?! (?:once|one|to))) (?:(?:please|then|also|now|still|maybe|just) )*(?:can you|could you|would you|can it|can we|i (?:want|need|would like|would rather|prefer|insist|still want|would want|meant|mean)|we (?:want|need|would like|prefer)|(?:i|we) (?:am |are |will )?(?:keep|leave|take)(?:ing)?\b|no (?!problem|worries|hurry|rush|matter|doubt|need|more|longer|offen[cs]e|one\b)|not\b|do not|without|with|to|in|on|at|from|for|make|use|send|take|put|keep|leave|change|charge|refund|pay|cancel|return|book|add|my|first|when|once|after|before|only|(?:it|that|this|the [\w ]+) (?:should|must|has to|have to|needs? to|ought to)\b|it (?:has|needs|should|must)|you (?:have to|need to|must|should|cannot)|(?:the|that|this|these|those) (?!.*\b(?:is|are|was|were|has|have|had|will|would|does|did|looks?|seems?|feels?|hurts?)\b))/;
/** Matches an exception to the proposal: "except the lamp", "only the kettle". */
const exception =
  /\b(?:except|excluding|apart from|other than|aside from|besides|everything but|all but)\b|^(?:but )?(?:only|just) (?:the|that|this|one|my|to|on|in|with)\b/;
/**
 * Matches a clause in which the user does not want a thing: "I never wanted it". If the agent proposes to take the
 * thing back, this is a reason for it and not a no.
 */
const unwanted =
  /\b(?:i|we) (?:really |just |simply |certainly )*(?:do not|did not|never|no longer) (?:ever )?want(?:ed)?(?! you\b)\b/;
/** Matches negative clauses that do not take a yes back: "no need to wait", "I won't change it again". */
const noDenial =
  /^(?:and |so |but |because )*(?:no (?:need|point|use|reason)\b|i (?:will|would) not (?:(?:want|like) (?:it|that|them|this|anything) to|change (?:it|that|my mind|anything)|ask|bother|regret|miss|need|complain|be needing|forget)\b|(?:(?:please |and )*do not |never |nothing to )(?:change|touch|alter|add) (?:a (?:letter|thing|word|comma|hair|bit)|anything|another thing)\b|(?:(?:please )?do (?:it|that|so) |quick(?:ly)? )?before (?:i change|he|she|they|it (?:is too|ships|leaves|goes)))/;
/** Matches a proposal to take something back: "I can cancel it", "Shall I refund it?" */
const takenBack =
  /\b(?:cancel|return|refund|send(?:ing)? (?:\w+ )*back|tak(?:e|ing) (?:\w+ )*back|remove|delete|close)/;

/** Matches a polite refusal: "That is very kind, but we will manage." */
const declinesKindly =
  /^(?:oh |ah |well )*(?:(?:that|this|it) is |how |thank you,? (?:that is )?|thanks,? (?:that is )?)(?:very |so |really |most |too )?(?:kind|sweet|nice|good|generous|thoughtful)(?: of you)?,? (?:but|however|though)\b(?!.*\b(?:yes|go ahead|please do|do it)\b)/;

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
  const rest = bare.replace(
    /^(?:(?:oh|ah|well|um+|ok|okay)[ ,.]*)*(?:no+|nope|nah|none(?: at all| whatsoever)?|not (?:at all|in the least|a bit|really)|of course not|certainly not|absolutely not|nothing(?: at all)?|never)\b[ ,.!;-]*/,
    '',
  );
  const closing = rest.replace(
    /^(?:not at all|none|nothing|i (?:do not|would not)(?: mind| object)?(?: at all)?|go ahead)\b[ ,.!]*/,
    '',
  );
  if (rest !== bare) {
    if (closing === '') return 'yes';
    const reply = plainReply(proposal, closing, asked);
    return reply === 'unclear' && !/\b(?:no|not|never|stop)\b/.test(closing) ? 'yes' : reply;
  }
  const afterYes = bare.replace(
    /^(?:(?:oh|ah|well|um+|ok|okay)[ ,.]*)*(?:yes+|yeah|yep|i (?:do|would)(?: mind)?|a bit)\b[ ,.!;-]*/,
    '',
  );
  if (afterYes === '' || /\bi (?:do|would) (?:mind|object)\b/.test(afterYes)) return 'unclear';
  return plainReply(proposal, afterYes, asked);
}

/**
 * Reports whether a question next to a yes leaves the yes open: it weighs the proposal ("what does it cost?"), objects
 * ("but is it new?"), or asks for another way ("can it also be blue?").
 */
const isOpen = (question: string) =>
  isWeighing(question) ||
  /^(?:but|although|though)\b(?! i (?:will|can|could) (?!it\b))|^(?:and |or )?(?:can|could|would|might|may) (?:it|that|this|we) (?:also |then |maybe |still )*(?!take\b|help\b|arrive\b|come\b)|\b(?:can|could|may) i (?:(?:please|maybe|just) )*(?:tell you|let you know|answer|get back|come back|call (?:you )?back|write|think|decide|confirm|say (?:so|yes))\b/.test(
    question,
  );

/** Returns whether a recognised yes is explicit or only goes along. */
function gradeOf(answer: string): 'yes' | 'assent' {
  const clauses = sentencesOf(plain(answer)).flatMap(({ text }) => clausesOf(text));
  return clauses.some((clause) => /^(?:yes|consent|deed)$/.test(answerOf(clause))) ? 'yes' : 'assent';
}

/**
 * Returns an answer in plain text without a no that does not refuse ("no, no problem, do it"), and with "why not" in
 * place of "I can't see why not".
 */
const wordedPlainly = (answer: string) =>
  plain(answer)
    .replace(
      /^(?:(?:oh|ah|well) )?no+[,.!]* (?=(?:no|not an?) (?:problem|objections?|worries|issue|complaints?|bother|trouble)\b|(?:it is )?fine\b|go ahead\b|please do\b)/,
      '',
    )
    .replace(
      /\b(?:i )?(?:do not|cannot|could not) see (?:a |any )?(?:reason )?why (?:not|(?:we|i|you) should not)\b/g,
      'why not',
    );

/** Returns the sentences from the last "I mean yes" on, which takes back those before it. */
function lastVersion(sentences: readonly Sentence[]): readonly Sentence[] {
  const at = sentences.findLastIndex(({ text }) =>
    /^(?:(?:sorry|no|oops|oh|argh)[ ,]+)*i (?:mean|meant)(?: to say)?,? (?:yes|yeah|go ahead|do it)\b/.test(text),
  );
  return at < 0 ? sentences : [{ text: 'yes', question: false }, ...sentences.slice(at + 1)];
}

/** Splits a sentence that opens with a yes and then asks something: "yes please" and "when is it sent?" */
function partsOf(sentence: Sentence): readonly Sentence[] {
  const { text } = sentence;
  if (isTag(text) || new RegExp(`^${beforeAssent}(?:would|could|can|will) you(?: please| kindly)*$`).test(text))
    return [{ text, question: false }];
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
  const [verb = '', ...rest] = clause.replace(new RegExp(`^${beforeAssent}`), '').split(' ');
  const isVerb = new RegExp(`(?:^|\\b(?:i|we|to|and|then|you) |, )${literal(verb)}\\b`).test(question);
  return (
    isVerb &&
    /^[a-z]{3,}$/.test(verb) &&
    !/^(?:you|are|not|have|like|want|need|does|would|could|that|this|also|the|interested)$/.test(verb) &&
    !hasAlternative(question) &&
    rest.every((word) =>
      /^(?:it|that|this|these|them|him|her|one|both|please|now|then|so|for|me|us|all|at|once|in|on|up|off|out|down|away|through|over|back|my|friend|mate|bro|dear)$/.test(
        word,
      ),
    )
  );
}

/** Reports whether a clause repeats the end of the question: "final word" after "is that your final word?" */
function isAskedWord(clause: string, asked: readonly Sentence[]): boolean {
  const last = asked.at(-1)?.text ?? '';
  const said = clause.replace(
    /^(?:(?:yes|it is|that is|indeed|so|and|my|the|a|an|very) )+|(?: (?:please|indeed))+$/g,
    '',
  );
  const isEnd = ` ${clausesOf(last).at(-1) ?? ''}`.replace(/ (?:then|please)$/, '').endsWith(` ${said}`);
  return isEnd && !hasAlternative(last) && !/^(?:you|me|i|it|that|this|not|no|yet|now|today|interested)$/.test(said);
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
  const among = new RegExp(`(?:,| and)(?: \\w+){0,2} ${noun}\\b|\\b${noun}(?: \\w+)?(?:,| and) (?:an?|the|your)\\b`);
  return /^[a-z]+$/.test(noun) && among.test(plain(proposal));
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
  return !statements.some((text) =>
    /\bso (?:it|that|this|i|we|you|the)\b|^(?:right|exactly|good|i see|ok|okay|k)\b(?=.*\b(?:is|are|was|costs?)\b)/.test(
      text,
    ),
  );
}
