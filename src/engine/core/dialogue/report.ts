import { lists, patterns } from './patterns.ts';

const { notDone } = patterns.report;
const { doneStatements } = lists.report;

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
