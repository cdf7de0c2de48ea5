import type { RuleOf } from '../domain/rule.ts';
import { callText, type ToolCall } from '../events/message.ts';
import { excerpt } from '../text/excerpt.ts';
import { type Finding, held, type Moment, unknown, violated } from './finding.ts';
import type { Seen } from './seen.ts';

/**
 * Returns a call with as much of its arguments as leaves room for the sentence of the policy. A string that is cut
 * keeps its closing quote.
 */
function shortCall(call: ToolCall): string {
  const whole = callText(call).slice(0, -1);
  const cut = excerpt(whole, 100);
  const quotes = cut.replace(/\\./g, '').match(/"/g) ?? [];
  return `${cut}${cut !== whole && quotes.length % 2 === 1 ? '"' : ''})`;
}

type CallMoment = Extract<Moment, { readonly type: 'call' }>;

/** The conversation is handed to a person only where `onlyWhen` holds, and is handed over where `always` holds. */
export function handOff(rule: RuleOf<'handOff'>, moment: Moment, seen: Seen): readonly Finding[] {
  const handing = seen.domain.tools.filter(({ handsOff }) => handsOff).map(({ name }) => name);
  if (moment.type === 'call' && handing.includes(moment.call.name)) return atCall(rule, moment, seen);
  return moment.type === 'end' ? atEnd(rule, moment, seen, handing) : [];
}

function atCall({ onlyWhen }: RuleOf<'handOff'>, moment: CallMoment, { holds }: Seen): readonly Finding[] {
  if (onlyWhen === undefined) return [];
  const verdict = holds(onlyWhen, moment);
  if (typeof verdict === 'object') return [unknown(`it is unknown whether to hand over: ${verdict.problem}`)];
  return [
    verdict
      ? held('the conversation was handed over, as the rule allows')
      : violated(`the call ${shortCall(moment.call)} was made although this does not hold: ${onlyWhen}`),
  ];
}

function atEnd(
  { always }: RuleOf<'handOff'>,
  moment: Moment,
  { holds, calls, state }: Seen,
  handing: readonly string[],
): readonly Finding[] {
  if (always === undefined) return [];
  const verdict = holds(always, moment);
  if (typeof verdict === 'object') return [unknown(`it is unknown whether to hand over: ${verdict.problem}`)];
  if (!verdict) return [];
  const handed = calls().find(({ tool, failed }) => !failed && handing.includes(tool));
  return [
    handed
      ? held('the conversation was handed over', [handed.step])
      : violated(`the conversation was never handed over although this holds: ${always}`, [state.next - 1]),
  ];
}
