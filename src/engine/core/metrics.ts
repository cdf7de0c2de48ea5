/** What the metrics read of one finished rollout. */
export type Scored = {
  readonly task: string;
  readonly reward: number | null;
  readonly turns: number;
  readonly violations: number;
};

export type Summary = {
  readonly rollouts: number;
  readonly scored: number;
  readonly meanReward: number;
  readonly meanTurns: number;
  readonly withViolations: number;
  /** pass^k for k = 1 .. trials, or as far as every task has that many scored trials. */
  readonly passHat: readonly number[];
};

/** The numbers of a run. Rollouts without a reward (infrastructure, environment) are counted apart, never as 0. */
export function summaryOf(results: readonly Scored[], trials: number): Summary {
  const scored = results.filter(({ reward }) => reward !== null);
  return {
    rollouts: results.length,
    scored: scored.length,
    meanReward: mean(scored.map(({ reward }) => reward ?? 0)),
    meanTurns: mean(results.map(({ turns }) => turns)),
    withViolations: results.filter(({ violations }) => violations > 0).length,
    passHat: passHats(scored, trials),
  };
}

/**
 * pass^k: the chance that k trials of a task all succeed, averaged over tasks; C(c, k) / C(n, k) with n trials
 * and c successes (tau-bench, arXiv 2406.12045).
 */
function passHats(scored: readonly Scored[], trials: number): readonly number[] {
  const byTask = Map.groupBy(scored, ({ task }) => task);
  const most = Math.min(trials, ...[...byTask.values()].map((rows) => rows.length));
  return Array.from({ length: Number.isFinite(most) ? most : 0 }, (_, index) => {
    const k = index + 1;
    return mean(
      [...byTask.values()].map(
        (rows) => choose(rows.filter(({ reward }) => reward === 1).length, k) / choose(rows.length, k),
      ),
    );
  });
}

function choose(n: number, k: number): number {
  if (k > n) return 0;
  return Array.from({ length: k }, (_, i) => (n - i) / (i + 1)).reduce((product, factor) => product * factor, 1);
}

function mean(values: readonly number[]): number {
  return values.length === 0 ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length;
}
