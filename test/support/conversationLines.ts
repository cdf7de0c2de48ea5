import type { SpokenMessage } from '../../src/authoring/conversations/conversation.ts';

/** Formats a conversation as lines: `u`, `s` and `a` are messages, `a~` a thought, `a>` a call, `t<` its result. */
export function shown({ messages }: { readonly messages: readonly SpokenMessage[] }): readonly string[] {
  const calls = messages.flatMap((each) => (each.role === 'agent' ? each.calls : []));
  return messages.flatMap((each) => {
    if (each.role === 'tool') {
      const call = calls.find(({ id }) => id === each.callId);
      return [`t< ${call?.name}${JSON.stringify(call?.arguments)} ${each.isError ? '!' : ''}${each.content}`];
    }
    if (each.role !== 'agent') return [`${each.role[0]} ${each.content}`];
    return [
      ...(each.reasoning === undefined ? [] : [`a~ ${each.reasoning}`]),
      ...(each.content ? [`a ${each.content}`] : []),
      ...each.calls.map(({ name, arguments: given }) => `a> ${name}${JSON.stringify(given)}`),
    ];
  });
}
