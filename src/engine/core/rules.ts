import { isConfirmation, isProposal, namesValue } from './dialogue.ts';
import type { Domain } from './domain.ts';
import type { Json } from './json.ts';
import { type Message, type ToolCall, utterancesOf } from './message.ts';
import type { Rule, RuleVerdict } from './rule.ts';
import type { RolloutState } from './state.ts';

type Finding = Pick<RuleVerdict, 'verdict' | 'reason' | 'evidence'>;

/**
 * What the rules that are bound to this call say of it, before it is made. Deterministic over the
 * trajectory: a rule sees the conversation, never the clock or a model.
 */
export function checkRules(domain: Domain, state: RolloutState, call: ToolCall): readonly RuleVerdict[] {
  return domain.rules
    .filter((rule) => appliesTo(domain, rule, call))
    .map((rule) => ({ rule: rule.rule, check: rule.check, gate: rule.gate, ...finding(rule, state.messages, call) }));
}

function appliesTo(domain: Domain, rule: Rule, call: ToolCall): boolean {
  if (rule.check === 'oneCall') return true;
  if (rule.tools !== 'writes') return rule.tools.includes(call.name);
  return domain.tools.some(({ name, effect, handsOff }) => name === call.name && effect === 'write' && !handsOff);
}

function finding(rule: Rule, messages: readonly Message[], call: ToolCall): Finding {
  switch (rule.check) {
    case 'before':
      return before(rule.require, messages, call);
    case 'confirmed':
      return confirmed(rule.names, messages, call);
    case 'oneCall':
      return oneCall(messages);
  }
}

function before(required: readonly string[], messages: readonly Message[], call: ToolCall): Finding {
  const earlier = messages.find(
    (message) => message.role === 'tool' && !message.isError && required.includes(message.name),
  );
  if (earlier)
    return held(`${earlier.role === 'tool' ? earlier.name : ''} succeeded before ${call.name}`, [earlier.step]);
  return violated(`${call.name} was called before any successful ${required.join(' or ')}`, []);
}

function confirmed(names: readonly string[], messages: readonly Message[], call: ToolCall): Finding {
  const spoken = utterancesOf(messages);
  const answer = spoken.at(-1);
  const proposal = spoken.at(-2);
  if (answer?.role !== 'user' || proposal?.role !== 'agent') {
    return violated(`${call.name} was called before anything was proposed to the user`, spoken.slice(-1).map(step));
  }
  if (!isProposal(proposal.content)) {
    return violated(`the agent's last message did not ask for a yes before ${call.name}`, [proposal.step]);
  }
  const unnamed = names.filter((name) => !isNamed(proposal.content, call, name));
  if (unnamed.length > 0) {
    return violated(`the proposal did not name ${unnamed.join(', ')} as it stands in the call`, [proposal.step]);
  }
  if (!isConfirmation(answer.content, proposal.content)) {
    return violated(`the user's last message is not a yes: "${excerpt(answer.content)}"`, [proposal.step, answer.step]);
  }
  return held('the user said yes to a proposal that named what was done', [proposal.step, answer.step]);
}

function oneCall(messages: readonly Message[]): Finding {
  const last = messages.findLast((message) => message.role === 'agent');
  const count = last?.role === 'agent' ? last.toolCalls.length : 0;
  const at = last ? [last.step] : [];
  return count > 1
    ? violated(`the message made ${count} tool calls at once`, at)
    : held('the message made one call', at);
}

function isNamed(proposal: string, call: ToolCall, name: string): boolean {
  const value: Json | undefined = typeof call.arguments === 'string' ? undefined : call.arguments[name];
  if (value === undefined || value === null) return true;
  const values = Array.isArray(value) ? value : [value];
  return values.every((each) => namesValue(proposal, typeof each === 'object' ? JSON.stringify(each) : String(each)));
}

const step = ({ step }: { readonly step: number }) => step;
const held = (reason: string, evidence: readonly number[]): Finding => ({ verdict: 'held', reason, evidence });
const violated = (reason: string, evidence: readonly number[]): Finding => ({ verdict: 'violated', reason, evidence });
const excerpt = (text: string) => (text.length > 60 ? `${text.slice(0, 57)}...` : text);
