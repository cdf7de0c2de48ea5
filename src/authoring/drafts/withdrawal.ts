import { namesValue } from '../../engine/core/dialogue/dialogue.ts';
import { isTelling, leaves, only, others, pronoun } from '../../engine/core/dialogue/withdrawal.ts';
import type { Domain } from '../../engine/core/domain/domain.ts';
import type { Utterance } from '../../engine/core/events/message.ts';
import { toolOf } from './intents.ts';
import { stemsOf } from './vocabulary.ts';

/** A part of a message of the user that asks for something. */
type Asked = { readonly tool: string | null; readonly text: string };

/** Describes the requests that a draft serves: the tools of its writes, and the names of their rows. */
export type ServedRequests = {
  readonly tools: readonly string[];
  /** Names of rows that the writes are about. */
  readonly rows: readonly string[];
  /** Names of other rows of the same tables. */
  readonly otherRows: readonly string[];
};

/** Returns the parts of a message that can be about different requests. */
export const partsOf = (text: string): readonly string[] =>
  text
    .split(/[.!?;,\n]+|\b(?:and|but|then)\b/i)
    .map((clause) => clause.trim())
    .filter((clause) => clause !== '');

/**
 * Returns the message in which the user takes one of several requests back: it refers to what an earlier message asks for
 * and the draft does not serve. Null where the user does not.
 */
export function withdrawalIn(spoken: readonly Utterance[], served: ServedRequests, domain: Domain): Utterance | null {
  const open: Asked[] = [];
  const words = new Set<string>();
  for (const [at, said] of spoken.entries()) {
    if (said.role !== 'user') continue;
    const before = spoken[at - 1]?.role === 'agent' ? (spoken[at - 1]?.content ?? '') : '';
    const clauses = partsOf(said.content);
    if (open.length > 0 && clauses.some((clause) => isLeft(clause, before, open, words, served, domain))) return said;
    const asked = clauses.map((text): Asked => ({ tool: toolOf(text, domain), text }));
    for (const each of asked.filter(({ tool }) => tool !== null && served.tools.includes(tool)))
      for (const word of stemsOf(each.text, isTelling)) words.add(word);
    open.push(...asked.filter((each) => isOpen(each, served)));
  }
  return null;
}

/** Whether a part of a message asks for a write, or names a row, that the draft does not have. */
function isOpen({ tool, text }: Asked, { tools, otherRows }: ServedRequests): boolean {
  return (tool !== null && !tools.includes(tool)) || otherRows.some((row) => namesValue(text, row));
}

function isLeft(
  clause: string,
  before: string,
  open: readonly Asked[],
  ownWords: ReadonlySet<string>,
  { tools, rows, otherRows }: ServedRequests,
  domain: Domain,
): boolean {
  const openRows = otherRows.filter((row) => open.some(({ text }) => namesValue(text, row)));
  const openTools = open.flatMap(({ tool }) => tool ?? []);
  if (leaves.test(clause)) {
    if (openRows.some((row) => namesValue(clause, row)) || others.test(clause)) return true;
    const said = stemsOf(clause, isTelling);
    if (open.some(({ text }) => stemsOf(text, isTelling).some((word) => said.includes(word) && !ownWords.has(word))))
      return true;
    const proposed = toolOf(before, domain);
    const isProposed = openRows.some((row) => namesValue(before, row)) || openTools.some((tool) => tool === proposed);
    return pronoun.test(clause) && isProposed;
  }
  const meant = toolOf(clause, domain);
  return (
    only.test(clause) && ((meant !== null && tools.includes(meant)) || rows.some((row) => namesValue(clause, row)))
  );
}
