import { lists, patterns } from './patterns.ts';

const { misunderstandings } = patterns.misunderstanding;
const { offers, noOffers } = patterns.offer;
const { notRefusals, harmless } = patterns.decline;
const { refusals } = lists.decline;
const { denied, offered, otherThings } = patterns.handOff;
const { handing } = lists.handOff;
const { notDone } = patterns.report;
const { doneStatements } = lists.report;

/** Reports whether a sentence says that its speaker did not understand: "Could you rephrase that?" */
export function isMisunderstanding(text: string): boolean {
  return misunderstandings.test(text);
}

/** Reports whether a sentence offers more help: "Is there anything else I can do?" */
export function isOffer(text: string, question: boolean): boolean {
  const isShort =
    question &&
    /\belse\b/.test(text) &&
    text.split(' ').length <= 5 &&
    !/^(?:who|where|what|which|how|when)\b/.test(text);
  return (offers.test(text) || isShort) && !noOffers.test(text);
}

/** Reports whether a sentence of an agent says that something will not be done or given: "I can't refund that." */
export function isDeclined(text: string): boolean {
  const rest = text.replace(harmless, ' ');
  return refusals.some((pattern) => pattern.test(rest)) && !notRefusals.test(rest);
}

/** Reports whether a sentence says that a person takes over, or is about to: "I'll transfer you to a colleague." */
export function handsOver(text: string): boolean {
  return (
    handing.some((pattern) => pattern.test(text)) &&
    !denied.test(text) &&
    !offered.test(text) &&
    !otherThings.test(text)
  );
}

/**
 * Reports whether a sentence says that something was done: "I have cancelled it." Conditions and plans do not count.
 */
export function isReport(text: string): boolean {
  const found = doneStatements.map((pattern) => pattern.exec(text)).filter((match) => match !== null);
  return found.some(
    (match) => !notDone.test(text.slice(clauseStart(text, match.index), match.index + match[0].length)),
  );
}

/** Returns where the clause around a position in a text starts. */
function clauseStart(text: string, index: number): number {
  return (
    Math.max(
      text.lastIndexOf(',', index - 1),
      text.lastIndexOf(' and ', index - 1),
      text.lastIndexOf(' so ', index - 1),
      -1,
    ) + 1
  );
}
