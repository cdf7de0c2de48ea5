import type { Domain } from '../domain/domain.ts';
import type { Rule, RuleVerdict } from '../domain/rule.ts';
import type { RolloutState } from '../events/state.ts';
import { impossible } from '../values/impossible.ts';
import { before } from './before.ts';
import { confirmed } from './confirmed.ts';
import { type Finding, type Moment, unknown } from './finding.ts';
import { handOff } from './handOff.ts';
import { judge } from './judge.ts';
import { mustSay } from './mustSay.ts';
import { never } from './never.ts';
import { oneCall } from './oneCall.ts';
import { onlyIf } from './onlyIf.ts';
import { type Seen, seenIn } from './seen.ts';

export type { Moment } from './finding.ts';

/**
 * Returns what the rules say at a moment: before a call is made, after the agent spoke to the user, or at the end.
 * Deterministic over the trajectory: a rule sees the conversation and the world, never the clock or a model.
 */
export function checkRules(domain: Domain, state: RolloutState, moment: Moment): readonly RuleVerdict[] {
  if (domain.rules.length === 0) return [];
  const seen = seenIn(domain, state);
  return domain.rules.flatMap((rule) =>
    guarded(rule, moment, seen).map((found) => ({ rule: rule.rule, check: rule.check, gate: rule.gate, ...found })),
  );
}

/** Whether a check decides something when the conversation is over, which it cannot where a rollout ended early. */
export function isCheckedAtEnd(rule: Rule): boolean {
  switch (rule.check) {
    case 'never':
    case 'judge':
      return true;
    case 'mustSay':
      return rule.before === undefined;
    case 'handOff':
      return rule.always !== undefined;
    default:
      return false;
  }
}

/** The findings of a rule where its `when` holds; `mustSay` asks for it at the calls that it is about. */
function guarded(rule: Rule, moment: Moment, seen: Seen): readonly Finding[] {
  const found = findings(rule, moment, seen);
  if (found.length === 0 || rule.when === undefined || rule.check === 'mustSay' || rule.check === 'never') return found;
  const applies = seen.holds(rule.when, moment);
  if (typeof applies === 'object') return [unknown(`whether it applies is not known: ${applies.problem}`)];
  return applies ? found : [];
}

/** The one table of checks. */
function findings(rule: Rule, moment: Moment, seen: Seen): readonly Finding[] {
  switch (rule.check) {
    case 'before':
      return before(rule, moment, seen);
    case 'confirmed':
      return confirmed(rule, moment, seen);
    case 'oneCall':
      return oneCall(rule, moment, seen);
    case 'onlyIf':
      return onlyIf(rule, moment, seen);
    case 'never':
      return never(rule, moment, seen);
    case 'mustSay':
      return mustSay(rule, moment, seen);
    case 'handOff':
      return handOff(rule, moment, seen);
    case 'judge':
      return judge(rule, moment, seen);
    default:
      return impossible('check', rule);
  }
}
