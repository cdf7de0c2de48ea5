import { isConfirmation, isProposal, namesValue } from '../dialogue.ts';
import type { Json } from '../json.ts';
import { type ToolCall, utterancesOf } from '../message.ts';
import type { RuleOf } from '../rule.ts';
import { excerpt, type Finding, held, type Moment, violated } from './finding.ts';
import { binds, type Seen } from './seen.ts';

/**
 * The last thing the user did before a call of `tools` is a yes to a proposal that named the values of the arguments
 * `names`, and the call has those same values.
 */
export function confirmed(rule: RuleOf<'confirmed'>, moment: Moment, { domain, state }: Seen): readonly Finding[] {
  if (moment.type !== 'call' || !binds(rule.tools, moment.call.name, domain.tools)) return [];
  const { call } = moment;
  const spoken = utterancesOf(state.messages);
  const answer = spoken.at(-1);
  const proposal = spoken.at(-2);
  if (answer?.role !== 'user' || proposal?.role !== 'agent') {
    const reason = `${call.name} was called before anything was proposed to the user`;
    return [
      violated(
        reason,
        spoken.slice(-1).map(({ step }) => step),
      ),
    ];
  }
  if (!isProposal(proposal.content)) {
    return [violated(`the agent's last message did not ask for a yes before ${call.name}`, [proposal.step])];
  }
  const unnamed = rule.names.filter((name) => !isNamed(proposal.content, call, name));
  if (unnamed.length > 0) {
    return [violated(`the proposal did not name ${unnamed.join(', ')} as it stands in the call`, [proposal.step])];
  }
  const evidence = [proposal.step, answer.step];
  if (!isConfirmation(answer.content)) {
    return [violated(`the user's last message is not a yes: "${excerpt(answer.content)}"`, evidence)];
  }
  return [held('the user said yes to a proposal that named what was done', evidence)];
}

function isNamed(proposal: string, call: ToolCall, name: string): boolean {
  const value: Json | undefined = typeof call.arguments === 'string' ? undefined : call.arguments[name];
  if (value === undefined || value === null) return true;
  const values = Array.isArray(value) ? value : [value];
  return values.every((each) => namesValue(proposal, typeof each === 'object' ? JSON.stringify(each) : String(each)));
}
