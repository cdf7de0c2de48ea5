import type { Json, JsonObject } from '../../../engine/core/values/json.ts';
import type { Conversation, ImportProblem } from '../conversation.ts';
import { type ConversationReader, readEach } from '../conversationReader.ts';
import type { PlacedValue } from '../jsonValues.ts';
import { timeIn } from '../messageTimes.ts';
import { objectOf, type ReadMessage, textOf } from '../saidMessage.ts';
import { conversationOf, type PlacedRead } from '../transcript.ts';
import { plainText } from './plainText.ts';

/** Reads conversations of Intercom: the message that began it, and the parts that follow. */
export const intercom: ConversationReader = {
  name: 'intercom',
  label: 'Intercom export',
  source: 'chats',
  keys: ['source', 'conversation_parts'],
  matches: (value) => objectOf(value)['conversation_parts'] !== undefined,
  read: (logs) => readEach(logs, conversationIn),
};

function conversationIn(file: string, { value, line }: PlacedValue, notes: ImportProblem[]): Conversation {
  const { id, source, conversation_message, conversation_parts, created_at } = objectOf(value);
  const inner = objectOf(conversation_parts)['conversation_parts'] ?? conversation_parts;
  const parts = (Array.isArray(inner) ? inner : []).map(objectOf);
  const internal = parts.filter(isNote).length;
  if (internal > 0)
    notes.push({ file, line, message: `${textOf(id) ?? 'a conversation'}: ${internal} internal notes are left out` });
  const opening = objectOf(source ?? conversation_message);
  const spoken = [
    { ...opening, created_at: created_at ?? null },
    ...parts.filter((part) => !isNote(part) && hasBody(part)),
  ];
  const read = spoken.map((part, index): PlacedRead => {
    return { ...readPart(part), line, path: `part ${index}`, time: timeIn(objectOf(part)['created_at'] ?? null) };
  });
  return conversationOf({ file, line, id: textOf(id) }, read);
}

/** Assignments and other changes of state have no body. */
const hasBody = ({ body, attachments }: JsonObject) =>
  Boolean(textOf(body)) || (Array.isArray(attachments) && attachments.length > 0);
const isNote = ({ part_type }: JsonObject) => /^note/.test(textOf(part_type) ?? '');

function readPart({ body, author }: JsonObject): ReadMessage {
  const content = plainText(textOf(body as Json) ?? '');
  if (content.trim() === '') return { said: [], lost: ['has no text; it is left out'] };
  const type = textOf(objectOf(author)['type']) ?? '';
  if (['user', 'lead', 'contact', 'visitor'].includes(type)) return { said: [{ role: 'user', content }], lost: [] };
  return { said: [{ role: 'agent', content, calls: [] }], lost: [] };
}
