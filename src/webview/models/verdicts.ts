import type { VerdictLine } from './trajectory.ts';

/** Returns verdicts without those that say the same of the same rule, as several of its checks can. */
export function distinctVerdicts(verdicts: readonly VerdictLine[]): readonly VerdictLine[] {
  const keyOf = ({ name, verdict, detail, evidence }: VerdictLine) =>
    JSON.stringify([name, verdict, detail, verdict === 'held' ? [] : evidence]);
  return [...new Map(verdicts.map((each) => [keyOf(each), each])).values()];
}

/** Returns what else is known where only violations are shown. A rule counts once, with the worst verdict of its checks. */
export function restText(verdicts: readonly VerdictLine[]): string {
  const worst = [...Map.groupBy(verdicts, ({ name }) => name).values()].map((own) =>
    (['violated', 'unknown', 'held'] as const).find((word) => own.some(({ verdict }) => verdict === word)),
  );
  const counts = (['held', 'unknown'] as const).flatMap((word) => {
    const count = worst.filter((verdict) => verdict === word).length;
    return count === 0 ? [] : [`${count} ${word}`];
  });
  const [first] = verdicts;
  if (counts.length === 0 || !first) return '';
  // The entry of a verifier has only its verdict.
  return first.rule === undefined ? `Verdict: ${first.verdict}` : `Rules: ${counts.join(', ')}`;
}
