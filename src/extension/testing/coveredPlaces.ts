import type { Rule } from '../../engine/core/domain/rule.ts';
import type { Coverage } from '../../engine/core/evaluation/coverage.ts';
import { times } from '../../engine/core/text/counted.ts';
import type { Location } from '../../engine/shell/files/diagnostic.ts';
import type { Locations } from '../../engine/shell/load/loadedDomain.ts';

/** A rule or a tool where it is, and how often it was exercised. */
export type CoveredPlace = { readonly name: string; readonly executed: number; readonly at: Location };

/**
 * Returns what rollouts exercised of a domain, by file: of the policy each rule that has a check, and how often it was
 * checked; of the files with tools each tool, and how often it was called. What was never exercised counts 0.
 */
export function coveredPlaces(
  { policyRules, tools }: Pick<Locations, 'policyRules' | 'tools'>,
  rules: readonly Pick<Rule, 'rule'>[],
  coverage: Coverage,
): ReadonlyMap<string, readonly CoveredPlace[]> {
  const checked = new Set(rules.map(({ rule }) => rule));
  const ofRules = [...policyRules].flatMap(([id, at]): readonly CoveredPlace[] => {
    if (!checked.has(id)) return [];
    const { held = 0, violated = 0 } = coverage.rules[id] ?? {};
    const note = violated === 0 ? '' : ` (violated ${times(violated)})`;
    return [{ name: `${id}${note}`, executed: held + violated, at }];
  });
  const ofTools = [...tools].map(([name, at]): CoveredPlace => {
    const { calls = 0, errors = 0 } = coverage.tools[name] ?? {};
    const note = errors === 0 ? '' : ` (failed ${times(errors)})`;
    return { name: `${name}${note}`, executed: calls, at };
  });
  return Map.groupBy([...ofRules, ...ofTools], ({ at }) => at.file);
}
