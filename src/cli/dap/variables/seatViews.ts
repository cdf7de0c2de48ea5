import type { Offered } from '../../../engine/core/domain/tool.ts';
import { messagesOf, offeredNow } from '../../../engine/core/events/message.ts';
import type { ChatMessage } from '../../../engine/shell/models/chatMessage.ts';
import { chatOf, userChatOf } from '../../../engine/shell/models/chatRequest.ts';
import { viewOf } from '../../../engine/shell/rollout/driver.ts';
import type { Step } from '../../../engine/shell/rollout/ports.ts';
import type { Debuggee } from '../rollout/debuggee.ts';
import type { Variable, WholeValue } from './rows.ts';
import { jsonChildren, shortened } from './variables.ts';

/** Returns what the agent's seat sees at a step: its instructions, the conversation in its model's roles, its tools. */
export function agentSees({ state }: Step): readonly Variable[] {
  const { started } = state;
  const view = { started, messages: messagesOf('agent', state.messages) };
  const hasSystem = started.system !== '';
  return [
    {
      name: 'instructions',
      value: hasSystem ? started.system : 'none',
      type: 'system prompt',
      whole: markdown(started.system),
    },
    ...spoken(chatOf(view).slice(hasSystem ? 1 : 0)),
    toolsOffered(offeredNow(started.tools, state.messages)),
  ];
}

/**
 * Returns what the user's seat sees at a step, in the roles of a model that plays it: what the agent says is the user's
 * to it. A user without a model goes by the same persona and task.
 */
export function userSees({ setting, task }: Debuggee, { state }: Step): readonly Variable[] {
  const view = viewOf({ setting, task }, state, 'user');
  const [instructions, ...chat] = userChatOf(view);
  return [
    {
      name: 'instructions',
      value: String(instructions?.content ?? ''),
      type: `as a model receives them; ${state.started.seats.user} plays here`,
      whole: markdown(String(instructions?.content ?? '')),
    },
    ...spoken(chat),
    toolsOffered(state.started.userTools ?? []),
  ];
}

const markdown = (text: string): WholeValue => ({ text: () => text, language: 'markdown' });

function spoken(messages: readonly ChatMessage[]): readonly Variable[] {
  return messages.map((message, index) => {
    const name = `${index + 1} ${message.role}`;
    const calls = message.role === 'assistant' ? (message.tool_calls ?? []) : [];
    const made = calls.map((call) => call.function);
    const text = typeof message.content === 'string' ? message.content : '';
    if (made.length === 0) return { name, value: text };
    return {
      name,
      value: made.map((call) => `${call.name}(${call.arguments})`).join(', '),
      children: () => [
        ...(text === '' ? [] : [{ name: 'content', value: text }]),
        ...made.map((call) => ({ name: call.name, value: call.arguments })),
      ],
    };
  });
}

function toolsOffered(tools: readonly Offered[]): Variable {
  if (tools.length === 0) return { name: 'tools', value: 'none' };
  return {
    name: 'tools',
    value: `${tools.length}: ${tools.map(({ name }) => name).join(', ')}`,
    children: () =>
      tools.map(({ name, description, parameters }) => ({
        name,
        value: description,
        children: () => [
          { name: 'description', value: description },
          { name: 'parameters', value: shortened(parameters), children: () => jsonChildren(parameters) },
        ],
      })),
  };
}
