import type { RuleOf } from '../domain/rule.ts';
import { utterancesOf } from '../events/message.ts';
import { phrasesIn, saysAny } from '../text/phrase.ts';
import type { MadeCall } from './calls.ts';
import { type Finding, held, type Moment, unknown, violated } from './finding.ts';
import { binds, type Seen } from './seen.ts';

/**
 * The agent says one of the phrases before a call of the tools `before`, after every successful call of the tools
 * `after`, or, without either, at some time.
 */
export function mustSay(rule: RuleOf<'mustSay'>, moment: Moment, seen: Seen): readonly Finding[] {
  if (rule.before !== undefined) return beforeCall(rule, rule.before, moment, seen);
  if (moment.type !== 'end') return [];
  if (rule.after !== undefined) return afterCalls(rule, rule.after, seen);
  return whereDue(rule, moment, seen, () => {
    return saidSince(rule, seen, -1) ?? violated(`the agent never said ${wording(rule)}`);
  });
}

/** Returns a finding where the text had to be said. */
function whereDue(
  { when }: RuleOf<'mustSay'>,
  moment: Moment | MadeCall,
  seen: Seen,
  finding: () => Finding,
): readonly Finding[] {
  const applies = when === undefined ? true : seen.holds(when, moment);
  if (typeof applies === 'object') return [unknown(`it is unknown whether this had to be said: ${applies.problem}`)];
  return applies ? [finding()] : [];
}

function beforeCall(
  rule: RuleOf<'mustSay'>,
  tools: NonNullable<RuleOf<'mustSay'>['before']>,
  moment: Moment,
  seen: Seen,
): readonly Finding[] {
  if (moment.type !== 'call' || !binds(tools, moment.call.name, seen.domain.tools)) return [];
  const { name } = moment.call;
  return whereDue(rule, moment, seen, () => {
    return saidSince(rule, seen, -1) ?? violated(`${name} was called before the agent said ${wording(rule)}`);
  });
}

function afterCalls(
  rule: RuleOf<'mustSay'>,
  tools: NonNullable<RuleOf<'mustSay'>['after']>,
  seen: Seen,
): readonly Finding[] {
  const calls = seen.calls().filter(({ tool, failed }) => !failed && binds(tools, tool, seen.domain.tools));
  return calls.flatMap((call) =>
    whereDue(rule, call, seen, () => {
      const reason = `after ${call.tool} the agent never said ${wording(rule)}`;
      return saidSince(rule, seen, call.step) ?? violated(reason, [call.step]);
    }),
  );
}

function saidSince(rule: RuleOf<'mustSay'>, { state }: Seen, step: number): Finding | null {
  const found = utterancesOf(state.messages).find(
    (each) => each.role === 'agent' && each.step > step && saysAny(each.content, phrasesIn(rule.says)),
  );
  return found ? held('the agent said it', [found.step]) : null;
}

const wording = (rule: RuleOf<'mustSay'>) => `"${phrasesIn(rule.says)[0]}"`;
