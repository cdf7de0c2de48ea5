import type { RuleOf } from '../rule.ts';
import { type Finding, type Moment, unknown } from './finding.ts';
import type { Seen } from './seen.ts';

/** A model decides, once the rollout has ended: its answer is an event (`judged`). Without one nothing is known. */
export function judge(_rule: RuleOf<'judge'>, moment: Moment, { state }: Seen): readonly Finding[] {
  return moment.type === 'end' && state.started.seats.judge === undefined
    ? [unknown('only a judge can tell, and this rollout has none')]
    : [];
}
