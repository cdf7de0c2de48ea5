import { clausesOf, plain, sentencesOf } from '../text/text.ts';
import { memo } from '../values/memo.ts';
import { isChange } from './change.ts';
import { answerOf } from './consent.ts';
import { isDenial, opensWithNo } from './refusal.ts';
import { isQuestion, isTag, isWeighing } from './userQuestion.ts';

/** The dialogue acts of a user's utterance: what the user does by saying it. */
export type UserActs = {
  /** Whether it is a clear yes to what was proposed, without conditions, changes or open questions. */
  readonly confirms: boolean;
  readonly denies: boolean;
  /** Whether it asks for something other than what was said before: "the blue one instead". */
  readonly changes: boolean;
  readonly asks: boolean;
  /** Whether it says that nothing is left to do: "no, that is all", "thanks, bye". */
  readonly closes: boolean;
  readonly thanks: boolean;
};

/** Matches conditions, hedges and delays, with which nothing is a clear yes: "but", "not yet", "maybe". */
const reserve =
  /\b(?:but|however|except|excluding|besides|instead|actually(?! (?:yes|yeah|that is (?:fine|ok|okay|right)|go ahead|sure))|wait|hold on|hang on|not yet|rather|although|though|unless|as long as|so long as|provided|providing|assuming|supposing|suppose|presumably|depend(?:s|ing)?|subject to|on condition|conditional\w*|on second thoughts?|changed? my mind|one (?:more )?(?:thing|question|moment|sec|second|minute)|(?:a|one) (?:few )?questions?|whether|(?<!at )once|as soon as|before (?:you|we|i|that|doing|it)|until|till|not (?:\d+ ?%? |entirely |totally |quite |completely )?sure|unsure|maybe|perhaps|possibly|probably|likely|might|could be|i (?:think|guess|suppose|believe|assume|reckon) so|i (?:guess|suppose|reckon|assume)|kind of|sort of|more or less|almost|nearly|mostly|partly|partially|leaning|tempted|in principle|in theory|half|let me|need to (?:think|check|ask|see|look|talk)|have to (?:think|check|ask|see|look|talk)|think (?:about|it over)|sleep on|later|(?<!what )i meant|scratch that|never ?mind|other than|apart from|prefer|hmm+|would (?:say|have|go)|should be|if so|wonder(?:ing)?|doubt|hesitant|reluctant|hope(?:fully)?|first|only (?:if|when|with|for|the|after|on|in|to|one)|when (?:you|i|we|it|my|the)|after (?:you|i|we)|in case|otherwise|unclear|confus\w+)\b/;
/** Matches an "if" that is not only polite: "if it is free", but not "if you please". */
const condition =
  /\bif\b(?! (?:you (?:would|could|do not mind|like|please|want)(?: please| to)?(?: be so kind| do (?:that|it|so)| go ahead)?(?:$|[.,])|you please|that is (?:ok|okay|fine|alright)(?:$|[.,])|possible(?:$|[.,])))/;
/** Matches what the user acknowledges in addition to the answer: "I understand that there is no second change." */
const acknowledged =
  /\b(?:i|we) (?:do |fully |completely |totally |also )*(?:understand|know|realise|realize|am aware|are aware|get)(?: that)? (?:(?!\b(?:but|however|if|yes|unless|until)\b)[^.,;!?])*/g;
/** Matches words of a negation. */
const negation =
  /\b(?:no|nope|nah|not|never|cannot|stop|wrong|incorrect|disagree|refuse|decline|neither|none|nothing|without|against)\b/;
/** Matches phrases with a negation that deny nothing: "no problem", "nothing else to add", "don't worry". */
const harmless =
  /\b(?:no (?:problem|worries|objections?|complaints|changes|need to (?:change|worry|ask|wait)[\w ]*|doubt(?: about it)?|rush|hurry|longer|further (?:changes|questions)|other changes|questions|reason not to)|why not|nothing(?: (?:else|more|further|left))?(?: to (?:add|change)| else)|no(?:thing)?,? that is (?:all|everything|it)|not (?:a problem|an issue)|do not worry(?: about[\w ]*)?|cannot wait(?: any longer| any more| anymore)?|(?:do not|not|never) mind(?: waiting| that| the[\w ]*| it)?|(?:i|we) (?:do not|will not) (?:need|use|wear)(?:(?! ?\b(?:but|however|unless|until|if|although|though|except|wait|maybe|once|yet)\b)[\w ])*|(?:is|was|are) not (?:needed|used|wanted)|(?:i|we) (?:have )?(?:never|did not|have not|had not)(?: \w+)? (?:got|get|gotten|receive|received|see|seen|saw|had|have|use|used|open|opened|wear|worn|wore|try|tried)(?:(?! ?\b(?:but|however|unless|until|if|although|though|except|wait|maybe|once|yet)\b)[\w ])*|(?:it|that|they|this|the \w+|nobody|no one) (?:never|did not|has not|have not|was not|were not|still has not) (?:\w+ )?(?:arrive|arrived|come|came|turn(?:ed)? up|show(?:ed)? up|delivered|reach(?:ed)?)(?:(?! ?\b(?:but|however|unless|until|if|although|though|except|wait|maybe|once|yet)\b)[\w ])*|(?:does|do|did) not fit|do not hesitate|cannot be (?:undone|reversed|reverted|changed back|taken back)|without (?:a|any) doubt|first thing|at first|for once|let me know when[\w ]*|wait any longer|waited long enough)\b/g;
/** Matches a yes of someone else, or from the past: "the driver said yes", "I agreed yesterday". */
export const reported =
  /\b(?:said|says|told|wrote|promised|answered|replied|claimed|confirmed|agreed)\b.*\b(?:yesterday|last|but|nothing|and left|today|never|already|earlier|ago|week|then)\b|\b(?:colleague|driver|app|website|agent|bot|he|she|they|(?<!\b(?:everything|all|what|as|that|which) )you|husband|wife|neighbou?r|courier|email|mail) (?:\w+ )?(?:said|says|told|wrote|confirmed|agreed|promised)\b/;
/** Matches an explicit go-ahead: "please do", "go for it". */
const full = /\b(?:go (?:right )?ahead|proceed|please do|do (?:it|that)|go for it|yes,? please)\b/;

/** Recognises the dialogue acts of a user's utterance. */
export const recogniseUser: (text: string) => UserActs = memo(userActsOf);

function userActsOf(text: string): UserActs {
  const sentences = sentencesOf(plain(text));
  const bare = sentences.map((sentence) => sentence.text).join('. ');
  const questions = sentences.filter(
    (sentence) => isQuestion(sentence.text, sentence.question) && !isChangeRequest(sentence.text),
  );
  const statements = sentences.filter((sentence) => !questions.includes(sentence));
  const asked = questions.map((each) => each.text);
  const denies = opensWithNo(bare) || statements.some(({ text: said }) => clausesOf(said).some(isDenial));
  const changes = isChange(bare, denies);
  const closes = isClosing(bare);
  const isYes =
    !denies &&
    !changes &&
    isClearYes(
      bare,
      statements.map((each) => each.text),
      asked,
    );
  return {
    confirms: isYes && (!closes || full.test(bare)),
    denies,
    changes,
    asks: asked.some((question) => !/^(?:right|ok|okay|yes|please|correct)$/.test(question)),
    closes,
    thanks: /\b(?:thanks|thank you|cheers|ta|appreciate)\b/.test(bare),
  };
}

/** Reports whether a sentence asks for a change in the form of a question: "Could you make it blue instead?" */
function isChangeRequest(text: string): boolean {
  return (
    /^(?:[\w ]{0,20}, |but |and |so |actually |please |sorry |no |yes )*(?:can|could|would|will) (?:you|we|it|that) /.test(
      text,
    ) && isChange(text, false)
  );
}

/** Reports whether an utterance that is not a denial or a change is a clear yes. */
function isClearYes(bare: string, statements: readonly string[], questions: readonly string[]): boolean {
  const rest = bare.replace(acknowledged, ' ').replace(harmless, ' ');
  if (bare === '' || reserve.test(rest) || condition.test(rest) || negation.test(rest) || reported.test(bare))
    return false;
  const open = questions.filter((question) => !isTag(question));
  const parts = statements.flatMap(clausesOf);
  const isAffirmed = /^(?:exactly|precisely|correct|right|indeed|spot on|that is (?:it|right|correct))$/.test(
    parts[0] ?? '',
  );
  const clauses = parts.map((part) => (isAffirmed && nounPhrase.test(part) ? 'courtesy' : answerOf(part)));
  const has = (answer: ReturnType<typeof answerOf>) => clauses.includes(answer);
  if (open.length > 0) return isSettled(statements) && !open.some((question) => isWeighing(question));
  if (has('yes') || has('consent')) return true;
  const isAssent = has('weak') || /\bno (?:objections?|problem|worries)\b/.test(bare) || isOpenedWithAssent(statements);
  return isAssent && clauses.every((answer) => answer !== 'other');
}

/**
 * Matches a noun phrase such as "the blue one", which repeats the proposal after a word that affirms it: "Exactly, the
 * blue one."
 */
const nounPhrase = /^(?:the|that|this|my|your) (?!(?:is|are|was|were|would|will)\b)(?:[\w'-]+ ){0,3}[\w'-]+$/;

/** Reports whether the first statement starts with a weak yes: "Ok cancel it". */
function isOpenedWithAssent(statements: readonly string[]): boolean {
  return /^(?:ok(?:ay)?|right|fine|alright|all right|sure|very well|great|perfect|good) (?:then |so |please |just )*\w+/.test(
    statements[0] ?? '',
  );
}

/** Reports whether the yes is complete before a question: "Go ahead. How long will it take?" */
function isSettled(statements: readonly string[]): boolean {
  return (
    statements.some((statement) => clausesOf(statement).some((clause) => answerOf(clause) === 'consent')) ||
    statements.some((statement) => full.test(statement))
  );
}

/** Reports whether the user ends the conversation: "that is all", "thanks, bye". */
function isClosing(bare: string): boolean {
  const isOver =
    /\b(?:that is|that will be|that would be|that was) (?:all|everything|it for)\b(?! (?:right|correct|fine|good|ok|okay|i (?:want|need)ed? (?:changed|you)))|\bnothing (?:else|more|further)\b(?! to (?:change|add|correct))|\b(?:good ?bye|bye|have a (?:nice|good|great|lovely) (?:day|one|evening|weekend))\b|\b(?:i am|we are) (?:all )?(?:good|done|set)\b(?! (?:to|with))/;
  if (isOver.test(bare)) return true;
  return /^(?:(?:ok(?:ay)?|great|perfect|all right|alright|no|super|cool)[ ,.!]*)*(?:many )?(?:thanks|thank you)(?: (?:so much|very much|a lot|again|for [^.]*))?$/.test(
    bare,
  );
}
