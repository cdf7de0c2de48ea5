/** The agreement of two judges on the same rollouts. */
export type Agreement = {
  readonly n: number;
  /** Share of the rollouts on which both say the same; null for none. */
  readonly share: number | null;
  /** Cohen's kappa: that share beyond what chance would bring; null where chance alone brings all of it. */
  readonly kappa: number | null;
};

/** The agreement of two judges who each accepted (true) or rejected (false) the same rollouts, one pair a rollout. */
export function agreementOf(pairs: readonly (readonly [boolean, boolean])[]): Agreement {
  const n = pairs.length;
  if (n === 0) return { n, share: null, kappa: null };
  const share = pairs.filter(([one, other]) => one === other).length / n;
  const yes = (at: 0 | 1) => pairs.filter((pair) => pair[at]).length / n;
  const chance = yes(0) * yes(1) + (1 - yes(0)) * (1 - yes(1));
  return { n, share, kappa: chance === 1 ? null : (share - chance) / (1 - chance) };
}

/** The agreement in words. */
export function agreementText({ n, share, kappa }: Agreement): string {
  if (share === null) return 'No grade to compare with yet';
  const beyond = kappa === null ? 'kappa not defined' : `kappa ${kappa.toFixed(2)}`;
  return `${Math.round(100 * share)} % agreement between grader and person, ${beyond}, n = ${n}`;
}
