import type { RuleVerdict } from './rule.ts';

/**
 * Returns the verdict that decides a rule which several checks, or several moments, have verdicts on: a violation, or
 * else what could not be evaluated, a gate first, or else the last one.
 */
export function decisiveVerdict<Of extends Pick<RuleVerdict, 'verdict' | 'gate'>>(
  verdicts: readonly Of[],
): Of | undefined {
  return (
    verdicts.find(({ verdict }) => verdict === 'violated') ??
    verdicts.find(({ verdict, gate }) => gate && verdict === 'unknown') ??
    verdicts.find(({ verdict }) => verdict === 'unknown') ??
    verdicts.at(-1)
  );
}

/** Returns the rules that verdicts of one moment decide in a way, each once. */
export function rulesThat(
  wanted: RuleVerdict['verdict'],
  verdicts: readonly Pick<RuleVerdict, 'rule' | 'verdict' | 'gate'>[],
): readonly string[] {
  return [...Map.groupBy(verdicts, ({ rule }) => rule)].flatMap(([rule, own]) =>
    decisiveVerdict(own)?.verdict === wanted ? [rule] : [],
  );
}
