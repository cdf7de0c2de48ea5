import type { Json, JsonObject } from '../../engine/core/values/json.ts';
import type { Masked, Piece } from '../masking/masker.ts';
import { textsIn } from '../masking/text/texts.ts';
import type { Conversation, ImportProblem, ReadConversations, SpokenMessage } from './conversation.ts';

/**
 * Returns a conversation in which everything that its log says is masked; lines and roles stay. The names of its own
 * fields stay as well: a person may have the same name.
 */
export function maskedConversation(conversation: Conversation, { text, json }: Masked): Conversation {
  const { id, file, line, task, tools, messages, lost } = conversation;
  // All of it is read before any of it is masked.
  const masked = json([id, file, task ?? null, (tools ?? null) as Json, messages.map(valuesOf)]);
  const [own, path, of, offered, said] = masked as [string | null, string, string, Conversation['tools'], Json[][]];
  return {
    id: own,
    file: path,
    line,
    ...(task === undefined ? {} : { task: of }),
    ...(tools ? { tools: offered } : {}),
    messages: messages.map((each, at) => withValues(each, said[at] ?? [])),
    lost: maskedProblems(lost, { text }),
  };
}

/** Returns the values of a message and of its calls, without the names of their fields. */
function valuesOf(message: SpokenMessage): readonly Json[] {
  const calls = message.role === 'agent' ? message.calls : [];
  return [...Object.values(saidIn(message)), ...calls.map((call) => Object.values(call as JsonObject))];
}

/** Returns a message with other values, in the order of `valuesOf`. */
function withValues(message: SpokenMessage, values: readonly Json[]): SpokenMessage {
  const { line, number, role } = message;
  const own = saidIn(message);
  const count = Object.keys(own).length;
  const calls =
    message.role === 'agent'
      ? { calls: message.calls.map((call, at) => inPlace(call as JsonObject, values[count + at] as readonly Json[])) }
      : {};
  return { line, number, role, ...inPlace(own, values), ...calls } as unknown as SpokenMessage;
}

/** Returns the fields of a message that its log has, without its calls. */
function saidIn(message: SpokenMessage): JsonObject {
  const { line: _, number: __, role: ___, ...said } = message;
  if (!('calls' in said)) return said;
  const { calls: ____, ...own } = said;
  return own as JsonObject;
}

const inPlace = (object: JsonObject, values: readonly Json[]): JsonObject =>
  Object.fromEntries(Object.keys(object).map((key, at) => [key, values[at] as Json]));

/** Returns messages about a log, which repeat words of it, as they may be shown. */
export function maskedProblems(
  problems: readonly ImportProblem[],
  masked: Pick<Masked, 'text'> | undefined,
): readonly ImportProblem[] {
  return masked ? problems.map((each) => ({ ...each, message: masked.text(each.message) })) : problems;
}

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
