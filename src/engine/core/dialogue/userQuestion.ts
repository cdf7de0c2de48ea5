import { patterns } from './patterns.ts';

const { whQuestion, yesNoQuestion, notAsked, rhetorical, indirect, fragment, tagged, tag, otherMatter, weighing } =
  patterns.userQuestion;

/**
 * Reports whether a sentence of a user asks something. The question mark may be missing.
 * @param marked whether there is a question mark
 */
export function isQuestion(text: string, marked: boolean): boolean {
  if (fragment.test(text) || rhetorical.test(text) || isTagged(text) || /^(?:\w+[ ,]+)?why not(?:$|[ ,])/.test(text))
    return false;
  if (marked) return true;
  if (/\b(?:i would|would) say (?:yes|no)\b/.test(text)) return false;
  if (indirect.test(text)) return true;
  return clauseHeads(text).some(
    (clause) =>
      clause.split(' ').length > 2 && !notAsked.test(clause) && (whQuestion.test(clause) || yesNoQuestion.test(clause)),
  );
}

/** Reports whether a text is a statement with a question tag: "that is the word, is it not". */
const isTagged = (text: string) => tagged.test(text);

/** Returns the sentence itself, and what follows each comma, colon or dash in it, or begins with "but". */
function clauseHeads(text: string): readonly string[] {
  return [text, ...text.split(/[,:] |\s-\s| (?=but )/).slice(1)];
}

/** Reports whether a question only repeats that something may be done: "Can you do that please?" */
export function isTag(question: string): boolean {
  return tag.test(question);
}

/**
 * Reports whether the answer to a question could make the user take a yes back: the question is about price, loss or
 * risk, and not about another matter.
 */
export function isWeighing(question: string): boolean {
  if (otherMatter.test(question)) return false;
  return weighing.test(question);
}
