import type { JsonObject } from '../../../engine/core/values/json.ts';
import type { Read } from '../conversation.ts';
import { type ConversationReader, joinedReads, readOf } from '../conversationReader.ts';
import type { PlacedValue } from '../jsonValues.ts';
import type { LogFile } from '../logFile.ts';
import { firstOf, objectOf, textOf } from '../saidMessage.ts';
import { conversationOf, type PlacedRead, timeIn } from '../transcript.ts';
import { plainText } from './plainText.ts';

/** Reads a channel's days of a Slack export: each thread, and the messages of no thread, are a conversation. */
export const slack: ConversationReader = {
  name: 'slack',
  label: 'Slack export',
  source: 'chats',
  keys: ['type', 'ts', 'user', 'text'],
  matches: (value) => {
    const { type, ts, text } = objectOf(value);
    return type === 'message' && /^\d+\.\d+$/.test(textOf(ts) ?? '') && typeof text === 'string';
  },
  read: (logs) => joinedReads(logs.map(readChannel)),
};

/** Messages that Slack writes itself, such as who joined. */
const isWritten = ({ subtype }: JsonObject) =>
  subtype === undefined ||
  ['bot_message', 'thread_broadcast', 'file_share', 'me_message'].includes(textOf(subtype) ?? '');

const isBot = (message: JsonObject) =>
  message['subtype'] === 'bot_message' || firstOf(message, 'bot_id', 'bot_profile') !== undefined;

function readChannel({ path: file, values }: LogFile): Read {
  const threads = new Map<string, PlacedValue[]>();
  for (const each of values) {
    const message = objectOf(each.value);
    if (!isWritten(message)) continue;
    const { thread_ts, reply_count, ts } = message;
    const thread = textOf(thread_ts) ?? (reply_count === undefined ? '' : (textOf(ts) ?? ''));
    const own = threads.get(thread);
    if (own) own.push(each);
    else threads.set(thread, [each]);
  }
  const found = [...threads].map(([thread, own]) => {
    const messages = own.map(({ value }) => objectOf(value)).toSorted((a, b) => Number(a['ts']) - Number(b['ts']));
    const hasBot = messages.some(isBot);
    const asker = textOf(messages.find((each) => !isBot(each))?.['user']);
    const read = own.map(({ value, line }, index): PlacedRead => {
      const message = objectOf(value);
      const isAgent = hasBot ? isBot(message) : textOf(message['user']) !== asker;
      const content = plainText(textIn(message));
      const role = isAgent ? 'agent' : 'user';
      return {
        said: content === '' ? [] : role === 'agent' ? [{ role, content, calls: [] }] : [{ role, content }],
        lost: content === '' ? ['has no text (a file or a card); it is left out'] : [],
        line,
        path: `message ${index + 1}`,
        time: timeIn(message['ts'] ?? null),
      };
    });
    return conversationOf({ file, line: own[0]?.line ?? 1, id: thread === '' ? undefined : thread }, read);
  });
  return readOf(found, []);
}

/** The text of a message, with addresses as a person reads them. Bots leave it empty and write attachments. */
function textIn({ text, attachments, blocks }: JsonObject): string {
  const own = textOf(text) ?? '';
  const others = [...(Array.isArray(attachments) ? attachments : []), ...(Array.isArray(blocks) ? blocks : [])].map(
    (each) =>
      textOf(objectOf(each)['text'] ?? objectOf(each)['fallback']) ??
      textOf(objectOf(objectOf(each)['text'])['text']) ??
      '',
  );
  const whole = own !== '' ? own : others.filter(Boolean).join('\n');
  return whole
    .replace(/<(?:https?:|mailto:)[^>|]*\|([^>]*)>/g, '$1')
    .replace(/<((?:https?:|mailto:)[^>]*)>/g, '$1')
    .replace(/<([@#!][^>]*)>/g, '$1');
}
