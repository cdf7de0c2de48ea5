import { isObject, type Json, type JsonObject } from '../../../engine/core/values/json.ts';
import type { Conversation, ImportProblem } from '../conversation.ts';
import { type ConversationReader, readEach } from '../conversationReader.ts';
import type { PlacedValue } from '../jsonValues.ts';
import { timeIn } from '../messageTimes.ts';
import { firstOf, listIn, objectOf, roleNamed, textOf } from '../saidMessage.ts';
import { conversationOf, type PlacedRead } from '../transcript.ts';
import { plainText } from './plainText.ts';

/** Reads tickets of Zendesk with their public comments. */
export const zendesk: ConversationReader = {
  name: 'zendesk',
  label: 'Zendesk export',
  source: 'chats',
  keys: ['requester_id', 'comments'],
  matches: (value) => commentsIn(value).some((each) => 'author_id' in each),
  read: (logs) => readEach(logs, ticketOf),
};

function commentsIn(value: unknown): readonly JsonObject[] {
  const { comments } = objectOf(value);
  const list = Array.isArray(comments) ? comments : objectOf(comments)['comments'];
  return (Array.isArray(list) ? list : []).filter((each): each is JsonObject => isObject(each as Json));
}

function ticketOf(file: string, { value, line }: PlacedValue, notes: ImportProblem[]): Conversation {
  const ticket = { ...objectOf(objectOf(value)['ticket']), ...objectOf(value) };
  const comments = commentsIn(value);
  const shown = comments.filter((each) => each['public'] !== false);
  const id = textOf(ticket['id']);
  if (shown.length < comments.length)
    notes.push({
      file,
      line,
      message: `${id ?? 'a ticket'}: ${comments.length - shown.length} private comments are left out`,
    });
  const requester = textOf(
    firstOf(ticket, 'requester_id', 'submitter_id') ?? objectOf(ticket['requester'])['id'] ?? shown[0]?.['author_id'],
  );
  const declared = listIn(ticket['users']).map(objectOf);
  // A relative or a colleague of the requester may write as well.
  const users = new Set<string | undefined>(
    declared.flatMap(({ id: own, role }) => (roleNamed(textOf(role) ?? '') === 'user' ? (textOf(own) ?? []) : [])),
  ).add(requester);
  const read = shown.map((comment, index): PlacedRead => {
    const content =
      textOf(firstOf(comment, 'plain_body', 'body')) ?? plainText(textOf(comment['html_body'] ?? null) ?? '');
    const isEmpty = content.trim() === '';
    const isUser = users.has(textOf(comment['author_id']));
    return {
      said: isEmpty ? [] : isUser ? [{ role: 'user', content }] : [{ role: 'agent', content, calls: [] }],
      lost: isEmpty ? ['has no text; it is left out'] : [],
      line,
      path: `comment ${index + 1}`,
      time: timeIn(comment['created_at'] ?? null),
    };
  });
  return conversationOf({ file, line, id }, read);
}
