import { dirname } from 'node:path';
import { isObject, type Json, type JsonObject } from '../../../engine/core/values/json.ts';
import type { Read } from '../conversation.ts';
import { type ConversationReader, joinedReads, readOf } from '../conversationReader.ts';
import type { PlacedValue } from '../jsonValues.ts';
import type { LogFile } from '../logFile.ts';
import { timeIn } from '../messageTimes.ts';
import { firstOf, objectOf, textOf } from '../saidMessage.ts';
import { conversationOf, type PlacedRead } from '../transcript.ts';
import { plainText } from './plainText.ts';

/**
 * Reads a channel's days of a Slack export: each thread, also one over several days of a folder, and the messages of no
 * thread of a day, are a conversation.
 */
export const slack: ConversationReader = {
  name: 'slack',
  label: 'Slack export',
  source: 'chats',
  keys: ['type', 'ts', 'user', 'text'],
  isWhole: true,
  matches: (value) => {
    const { type, ts, text } = objectOf(value);
    if (isMember(objectOf(value))) return true;
    return type === 'message' && /^\d+\.\d+$/.test(textOf(ts) ?? '') && typeof text === 'string';
  },
  read: (logs) => joinedReads([...Map.groupBy(logs, ({ path }) => dirname(path)).values()].map(readChannel)),
};

/** Returns whether a value is a person of `users.json`, which declares the names of those who write. */
const isMember = ({ id, team_id, profile }: JsonObject) =>
  textOf(id) !== undefined && textOf(team_id) !== undefined && isObject(profile);

/** Messages that Slack writes itself, such as who joined. */
const isWritten = ({ subtype }: JsonObject) =>
  subtype === undefined ||
  ['bot_message', 'thread_broadcast', 'file_share', 'me_message'].includes(textOf(subtype) ?? '');

const isBot = (message: JsonObject) =>
  message['subtype'] === 'bot_message' || firstOf(message, 'bot_id', 'bot_profile') !== undefined;

/** A message with the file of its day, and its thread; undefined for one that is of none. */
type PlacedMessage = PlacedValue & { readonly file: string; readonly thread: string | undefined };

function readChannel(days: readonly LogFile[]): Read {
  const written = days.flatMap(({ path: file, values }) =>
    values.flatMap((each): readonly PlacedMessage[] => {
      const message = objectOf(each.value);
      if (!isWritten(message) || isMember(message)) return [];
      const { thread_ts, reply_count, ts } = message;
      return [{ ...each, file, thread: textOf(thread_ts) ?? (reply_count === undefined ? undefined : textOf(ts)) }];
    }),
  );
  const found = [...Map.groupBy(written, ({ thread, file }) => thread ?? file).values()].map((own) => {
    const messages = own.map(({ value }) => objectOf(value)).toSorted((a, b) => Number(a['ts']) - Number(b['ts']));
    const hasBot = messages.some(isBot);
    const asker = textOf(messages.find((each) => !isBot(each))?.['user']);
    const read = own.map(({ value, line }, index): PlacedRead => {
      const message = objectOf(value);
      const isAgent = hasBot ? isBot(message) : textOf(message['user']) !== asker;
      const content = plainText(textIn(message));
      const isEmpty = content.trim() === '';
      const role = isAgent ? 'agent' : 'user';
      return {
        said: isEmpty ? [] : role === 'agent' ? [{ role, content, calls: [] }] : [{ role, content }],
        lost: isEmpty ? ['has no text (a file or a card); it is left out'] : [],
        line,
        path: `message ${index + 1}`,
        time: timeIn(message['ts'] ?? null),
      };
    });
    const { file = '', line = 1, thread = undefined } = own[0] ?? {};
    return conversationOf({ file, line, id: thread }, read);
  });
  return readOf(found, []);
}

/** The text of a message, with addresses as a person reads them. Bots leave it empty and write blocks or attachments. */
function textIn({ text, attachments, blocks }: JsonObject): string {
  const own = textOf(text) ?? '';
  const whole = own !== '' ? own : [...wordsIn(blocks), ...wordsIn(attachments)].join('\n');
  return whole
    .replace(/<[a-z][a-z\d+.-]*:[^>|]*\|([^>]*)>/gi, '$1')
    .replace(/<([a-z][a-z\d+.-]*:[^>]*)>/gi, '$1')
    .replace(/<([@#!])[^>|]*\|[@#]?([^>]*)>/g, (_, sign, name) => `${sign === '#' ? '#' : '@'}${name}`)
    .replace(/<([@#!][^>]*)>/g, '$1');
}

/** Returns the texts of blocks and attachments, a line for each section. */
function wordsIn(value: Json | undefined): readonly string[] {
  if (Array.isArray(value)) return value.flatMap(wordsIn);
  if (!isObject(value)) return [];
  const { text, fallback, title, value: field, elements, fields, blocks, type, url } = value;
  if (type === 'rich_text_section') return [wordsIn(elements).join('')];
  const entry = [title, field].map((each) => textOf(each) ?? '').filter(Boolean);
  const own = textOf(text) ?? textOf(objectOf(text)['text']) ?? (field === undefined ? undefined : entry.join(': '));
  const inner = [...wordsIn(fields), ...wordsIn(elements), ...wordsIn(blocks)];
  const found = own === undefined || own === '' ? inner : [own, ...inner];
  return found.length > 0 ? found : [textOf(fallback) ?? textOf(title) ?? textOf(url) ?? ''].filter(Boolean);
}
