import type { RuleOf } from '../domain/rule.ts';
import { excerpt } from '../text/excerpt.ts';
import { phrasesIn, saysAny } from '../text/phrase.ts';
import { type Finding, held, type Moment, unknown, violated } from './finding.ts';
import { binds, type Seen } from './seen.ts';

/**
 * A call of `tools`, or an utterance that says one of `says`, is never made where `when` holds. Without either, no
 * utterance may be one for which `when` holds. What holds is reported once, at the end, where the rule was not broken
 * in any way.
 */
export function never(rule: RuleOf<'never'>, moment: Moment, seen: Seen): readonly Finding[] {
  if (moment.type === 'end') return atEnd(rule, seen);
  const matched = rule.tools === undefined ? utteranceMatched(rule, moment) : callMatched(rule.tools, moment, seen);
  if (matched === null) return [];
  const applies = rule.when === undefined ? true : seen.holds(rule.when, moment);
  if (typeof applies === 'object')
    return [unknown(`${matched}, and it is unknown whether the rule forbids that: ${applies.problem}`)];
  if (!applies) return [];
  return [violated(`${matched}${rule.when === undefined ? '' : `, where ${rule.when}`}`, evidenceOf(moment))];
}

function callMatched(tools: NonNullable<RuleOf<'never'>['tools']>, moment: Moment, { domain }: Seen): string | null {
  return moment.type === 'call' && binds(tools, moment.call.name, domain.tools)
    ? `${moment.call.name} was called`
    : null;
}

function utteranceMatched({ says }: RuleOf<'never'>, moment: Moment): string | null {
  if (moment.type !== 'utterance') return null;
  const isSaid = says === undefined || saysAny(moment.text, phrasesIn(says));
  return isSaid ? `the agent said "${excerpt(moment.text)}"` : null;
}

function atEnd(rule: RuleOf<'never'>, { state }: Seen): readonly Finding[] {
  const isBroken = state.ruleVerdicts.some(({ rule: id, verdict }) => id === rule.rule && verdict !== 'held');
  return isBroken ? [] : [held('no message or call broke the rule')];
}

const evidenceOf = (moment: Moment) => (moment.type === 'utterance' ? [moment.step] : []);
