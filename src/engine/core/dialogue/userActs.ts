import { clausesOf, plain, sentencesOf } from '../text/text.ts';
import { memo } from '../values/memo.ts';
import { isChange } from './change.ts';
import { answerOf } from './consent.ts';
import { patterns } from './patterns.ts';
import { isDenial, opensWithNo } from './refusal.ts';
import { isQuestion, isTag, isWeighing } from './userQuestion.ts';

const {
  reserve,
  condition,
  acknowledged,
  negation,
  harmless,
  reported,
  full,
  nounPhrase,
  requestStart,
  affirming,
  openingAssent,
  closing,
  onlyThanks,
} = patterns.userActs;

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
  return requestStart.test(text) && isChange(text, false);
}

/** Reports whether an utterance that is not a denial or a change is a clear yes. */
function isClearYes(bare: string, statements: readonly string[], questions: readonly string[]): boolean {
  const rest = bare.replace(acknowledged, ' ').replace(harmless, ' ');
  if (bare === '' || reserve.test(rest) || condition.test(rest) || negation.test(rest) || reported.test(bare))
    return false;
  const open = questions.filter((question) => !isTag(question));
  const parts = statements.flatMap(clausesOf);
  const isAffirmed = affirming.test(parts[0] ?? '');
  const clauses = parts.map((part) => (isAffirmed && nounPhrase.test(part) ? 'courtesy' : answerOf(part)));
  const has = (answer: ReturnType<typeof answerOf>) => clauses.includes(answer);
  if (open.length > 0) return isSettled(statements) && !open.some((question) => isWeighing(question));
  if (has('yes') || has('consent')) return true;
  const isAssent = has('weak') || /\bno (?:objections?|problem|worries)\b/.test(bare) || isOpenedWithAssent(statements);
  return isAssent && clauses.every((answer) => answer !== 'other');
}

/** Reports whether the first statement starts with a weak yes: "Ok cancel it". */
function isOpenedWithAssent(statements: readonly string[]): boolean {
  return openingAssent.test(statements[0] ?? '');
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
  const isOver = closing;
  if (isOver.test(bare)) return true;
  return onlyThanks.test(bare);
}
