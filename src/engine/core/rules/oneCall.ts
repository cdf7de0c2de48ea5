import type { RuleOf } from '../domain/rule.ts';
import { type Finding, held, type Moment, violated } from './finding.ts';
import type { Seen } from './seen.ts';

/** A message of the agent makes at most one call; with `silent` it says nothing beside it. Said once of a message. */
export function oneCall(rule: RuleOf<'oneCall'>, moment: Moment, { state }: Seen): readonly Finding[] {
  if (moment.type !== 'call' || !moment.isFirst) return [];
  const last = state.messages.findLast((message) => message.role === 'agent');
  if (last?.role !== 'agent') return [];
  const at = [last.step];
  const count = last.toolCalls.length;
  if (count > 1) return [violated(`the message made ${count} tool calls at once`, at)];
  if (rule.silent && (last.content ?? '').trim() !== '')
    return [violated('the message made a call and had a text beside it', at)];
  return [held('the message made one call', at)];
}
