import type { Json } from '../../engine/core/values/json.ts';
import { type Masked, type Piece, textsIn } from '../masking/masker.ts';
import type { Conversation, ImportProblem, ReadConversations, SpokenMessage } from './conversation.ts';

/** Returns a conversation in which everything that its log says is masked; lines and roles stay. */
export function maskedConversation(conversation: Conversation, { text, json }: Masked): Conversation {
  const masked = json(conversation as Json) as Conversation;
  const { line, messages, lost } = conversation;
  return {
    ...masked,
    line,
    messages: masked.messages.map((each, index) => ({ ...each, ...placeOf(messages[index]) }) as SpokenMessage),
    lost: maskedProblems(lost, { text }),
  };
}

/** Returns messages about a log, which repeat words of it, as they may be shown. */
export function maskedProblems(
  problems: readonly ImportProblem[],
  masked: Pick<Masked, 'text'> | undefined,
): readonly ImportProblem[] {
  return masked ? problems.map((each) => ({ ...each, message: masked.text(each.message) })) : problems;
}

const placeOf = (message: SpokenMessage | undefined) =>
  message && { line: message.line, number: message.number, role: message.role };

/** Returns the persons whom logs declare, as what the masker learns before it masks any conversation. */
export const piecesOfPersons = ({ persons }: Pick<ReadConversations, 'persons'>): readonly Piece[] =>
  persons.map((value) => ({ value, within: 'person' }));

/** Returns everything of a conversation that may hold personal data. */
export function piecesOf({ id, file, task, tools, messages, lost }: Conversation): readonly Piece[] {
  const calls = messages.flatMap((each) => (each.role === 'agent' ? each.calls : []));
  return [
    ...[id, file, task, ...lost.map(({ message }) => message)].flatMap((value) => (value ? [{ value }] : [])),
    ...(tools ?? []).map((tool) => ({ value: tool as Json })),
    ...messages.flatMap((message, index): readonly Piece[] => {
      if (message.role === 'tool') {
        const name = calls.find((call) => call.id === message.callId)?.name;
        return [{ value: message.content, ...(name === undefined ? {} : { within: name }) }];
      }
      if (message.role !== 'agent') {
        const asked = message.role === 'user' ? { asked: askedBefore(messages, index) } : {};
        return [{ value: message.content, ...asked }];
      }
      const said = [message.content, message.reasoning].flatMap((value) => (value ? [{ value }] : []));
      return [...said, ...message.calls.map(({ name, arguments: value }) => ({ value: value as Json, within: name }))];
    }),
  ];
}

/** Returns every text that is masked. */
export function textsOf(conversations: readonly Conversation[]): readonly string[] {
  return conversations.flatMap((each) => textsIn(piecesOf(each).map(({ value }) => value)));
}

/** Returns what the agent said since the user spoke before, also where it speaks first. */
function askedBefore(messages: readonly SpokenMessage[], index: number): string {
  const agent = messages.slice(0, index).findLastIndex((each) => each.role === 'agent' && each.content);
  const user = messages.slice(0, Math.max(0, agent)).findLastIndex((each) => each.role === 'user');
  return messages
    .slice(user + 1, index)
    .flatMap((each) => (each.role === 'agent' && each.content ? [each.content] : []))
    .join('\n');
}
