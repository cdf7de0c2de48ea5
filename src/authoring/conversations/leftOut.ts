import type { Json } from '../../engine/core/values/json.ts';
import type { Conversation, ImportProblem } from './conversation.ts';
import type { ConversationReader } from './conversationReader.ts';
import type { LogFile } from './logFile.ts';
import { earlierTurns, isMessageRow } from './messageRows.ts';
import { objectOf, readMessage, textOf } from './saidMessage.ts';

/** Names under which logs keep messages, also one as a text. */
const textual = new Set(['prompt', 'completion', 'chosen', 'rejected']);

/** Names under which logs keep messages. */
const names = [
  ...['messages', 'conversations', 'conversation', 'dialogue', 'dialog', 'turns', 'history', 'chat_history'],
  ...textual,
];

/**
 * Returns a note for each file with messages under keys that the reader of its format does not read, unless the
 * conversation repeats them.
 */
export function leftOut(
  { label, messageKeys = [] }: ConversationReader,
  logs: readonly LogFile[],
  conversations: readonly Conversation[],
): readonly ImportProblem[] {
  const others = names.filter((name) => !messageKeys.includes(name));
  const said = new Map<string, Set<string>>();
  const saidAt = (file: string, line: number): ReadonlySet<string> => {
    if (said.size === 0)
      for (const { file: path, line: at, messages } of conversations) {
        const known = said.get(`${at} ${path}`) ?? new Set();
        for (const { content } of messages) known.add(content?.trim() ?? '');
        said.set(`${at} ${path}`, known);
      }
    return said.get(`${line} ${file}`) ?? new Set();
  };
  return logs.flatMap(({ path: file, values }) => {
    const found = values.flatMap(({ value, line }) => {
      if (isMessageRow(value)) return [];
      const left = others.filter((name) =>
        wordsIn(name, objectOf(value)[name]).some((text) => !saidAt(file, line).has(text)),
      );
      return left.length > 0 ? [{ keys: left.join(', '), line }] : [];
    });
    return [...Map.groupBy(found, ({ keys }) => keys)].map(([keys, [first, ...rest]]): ImportProblem => {
      const values = rest.length > 0 ? `, in ${rest.length + 1} values of the file` : '';
      return {
        file,
        line: first?.line ?? 1,
        message: `messages under ${keys} are left out${values}: ${label} has its messages elsewhere`,
      };
    });
  });
}

/** Returns the texts of the messages that a value holds under a name; none where it holds something else. */
function wordsIn(name: string, value: Json | undefined): readonly string[] {
  const text = textOf(value);
  if (text !== undefined && textual.has(name) && !/^\s*[[{]/.test(text)) return [text.trim()].filter(Boolean);
  return earlierTurns(value)
    .flatMap((each) => readMessage(each).said)
    .flatMap(({ content }) => (content ? [content.trim()] : []));
}
