import type { RuleOf } from '../domain/rule.ts';
import { type Finding, type Moment, unknown } from './finding.ts';
import type { Seen } from './seen.ts';

/** Why nothing is known of such a rule. */
export const noJudge = 'this rule needs a judge model, and the rollout has none';

/** A model decides, once the rollout has ended: its answer is an event (`judged`). Without one nothing is known. */
export function judge(_rule: RuleOf<'judge'>, moment: Moment, { state }: Seen): readonly Finding[] {
  return moment.type === 'end' && state.started.seats.judge === undefined ? [unknown(noJudge)] : [];
}
