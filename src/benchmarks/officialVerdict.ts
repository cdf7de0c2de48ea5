/** The result of comparing a reward of the official evaluator with one of this engine. */
export type OfficialVerdict = 'agree' | 'differ' | 'raised' | 'unscored';

/** Rewards that differ by less are the same number, added up in another order. */
const tolerance = 1e-6;

/** Compares two rewards, null for an unscored trajectory. Where neither could score, the official evaluator had raised. */
export function verdictOf(official: number | null, own: number | null): OfficialVerdict {
  if (official === null && own === null) return 'raised';
  // No one is wrong where this engine could not score: its reason says why.
  if (own === null) return 'unscored';
  if (official === null) return 'differ';
  return Math.abs(official - own) <= tolerance ? 'agree' : 'differ';
}
