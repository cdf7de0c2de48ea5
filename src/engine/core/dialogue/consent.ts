import { lists, patterns } from './patterns.ts';

const { yesClause, adverbClause, weakClause, imperative, courtesy, partApproved, weakStart, reportedYes } =
  patterns.consent;
const { consents } = lists.consent;

/** Matches a clause that ends with a yes: "the blue one, yes please". */
const yesAtEnd = /(?:^|[ ,])(?:yes(?: please)?|go ahead)$/;
/**
 * The meaning of a clause as an answer. `yes` is a word such as "yes"; `consent` agrees to the proposal as a whole;
 * `weak` is a yes only if nothing else comes with it; `deed` is an order; `courtesy` is only polite.
 */
export type UserAnswer = 'yes' | 'consent' | 'weak' | 'deed' | 'courtesy' | 'other';

/**
 * Returns the meaning of one clause of a user as an answer. Denials and reservations are recognised elsewhere (see
 * `isDenial` and `recogniseUser`).
 */
export function answerOf(clause: string): UserAnswer {
  if (consents.some((pattern) => pattern.test(clause))) return 'consent';
  if (yesClause.test(clause)) return 'yes';
  if (adverbClause.test(clause)) {
    const after = clause.replace(adverbClause, '');
    if (after === '' || answerOf(after) !== 'other' || /^(?:i (?:do|am|would|want)|with|for|to)\b/.test(after))
      return 'yes';
  }
  if (weakClause.test(clause) || partApproved.test(clause)) return 'weak';
  const rest = clause.replace(weakStart, '');
  if (rest !== clause && consents.some((pattern) => pattern.test(rest))) return 'consent';
  if (imperative.test(clause) || imperative.test(rest)) return 'deed';
  if (courtesy.test(clause)) return 'courtesy';
  if (yesAtEnd.test(clause) && !reportedYes.test(clause)) return 'yes';
  return 'other';
}
