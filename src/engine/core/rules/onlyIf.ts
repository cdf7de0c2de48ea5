import type { RuleOf } from '../domain/rule.ts';
import { type Finding, held, type Moment, unknown, violated } from './finding.ts';
import { binds, type Seen } from './seen.ts';

/** A call of `tools` is made only where the condition holds, on the database and the arguments as they are then. */
export function onlyIf(rule: RuleOf<'onlyIf'>, moment: Moment, { domain, holds }: Seen): readonly Finding[] {
  if (moment.type !== 'call' || !binds(rule.tools, moment.call.name, domain.tools)) return [];
  const { name } = moment.call;
  const verdict = holds(rule.condition, moment);
  if (typeof verdict === 'object') return [unknown(`it is unknown whether ${name} may be called: ${verdict.problem}`)];
  return [
    verdict
      ? held(`${name} was called, and this holds: ${rule.condition}`)
      : violated(`${name} was called although this does not hold: ${rule.condition}`),
  ];
}
