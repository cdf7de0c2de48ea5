import type { Domain } from '../domain/domain.ts';
import type { Rule, RuleOf, RuleVerdict } from '../domain/rule.ts';
import type { RolloutState } from '../events/state.ts';
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

/** The facts about one kind of check. */
type Check<Name extends Rule['check']> = {
  readonly findings: (rule: RuleOf<Name>, moment: Moment, seen: Seen) => readonly Finding[];
  /** Returns whether it decides something when the conversation is over, which it cannot where a rollout ended early. */
  readonly isAtEnd: (rule: RuleOf<Name>) => boolean;
  /** Whether its findings depend on `when` already, which it asks for at the calls that it is about. */
  readonly asksForWhen: boolean;
};

/** The registration of the checks. */
const checks: { readonly [Name in Rule['check']]: Check<Name> } = {
  before: { findings: before, isAtEnd: () => false, asksForWhen: false },
  confirmed: { findings: confirmed, isAtEnd: () => false, asksForWhen: false },
  oneCall: { findings: oneCall, isAtEnd: () => false, asksForWhen: false },
  onlyIf: { findings: onlyIf, isAtEnd: () => false, asksForWhen: false },
  never: { findings: never, isAtEnd: () => true, asksForWhen: true },
  mustSay: { findings: mustSay, isAtEnd: (rule) => rule.before === undefined, asksForWhen: true },
  handOff: { findings: handOff, isAtEnd: ({ always }) => always !== undefined, asksForWhen: false },
  judge: { findings: judge, isAtEnd: () => true, asksForWhen: false },
};

const checkOf = ({ check }: Rule) => checks[check] as Check<Rule['check']>;

/** Returns whether a check decides something when the conversation is over. */
export const isCheckedAtEnd = (rule: Rule): boolean => checkOf(rule).isAtEnd(rule);

/** Returns the findings of a rule where its `when` holds. */
function guarded(rule: Rule, moment: Moment, seen: Seen): readonly Finding[] {
  const { findings, asksForWhen } = checkOf(rule);
  const found = findings(rule, moment, seen);
  if (found.length === 0 || rule.when === undefined || asksForWhen) return found;
  const applies = seen.holds(rule.when, moment);
  if (typeof applies === 'object') return [unknown(`whether it applies is not known: ${applies.problem}`)];
  return applies ? found : [];
}
