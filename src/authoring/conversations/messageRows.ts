import { isObject, type Json, type JsonObject } from '../../engine/core/values/json.ts';
import type { Conversation, ImportProblem } from './conversation.ts';
import type { PlacedValue } from './jsonValues.ts';
import { objectOf, readMessage, roleNamed, textOf } from './saidMessage.ts';
import { conversationOf, type PlacedRead, plainKey, timesOf } from './transcript.ts';

/** Names under which logs keep the conversation that a row is of. */
const idNames = new Set(
  ['conversation', 'session', 'thread', 'chat', 'ticket', 'dialog', 'dialogue', 'case', 'interaction'].flatMap(
    (name) => [`${name}id`, `${name}uuid`],
  ),
);

/** Returns the id of the conversation that a row or a line is of. */
export function conversationIdOf(row: JsonObject): string | undefined {
  const found = Object.entries(row).find(([key, value]) => idNames.has(plainKey(key)) && (textOf(value) ?? '') !== '');
  return textOf(found?.[1]);
}

/** Returns whether a value is one message, and not a conversation. */
export function isMessageRow(value: unknown): boolean {
  const { role, from, sender, messages } = objectOf(value);
  return messages === undefined && [role, from, sender].some((each) => typeof each === 'string' && roleNamed(each));
}

/**
 * Reads rows of one message each: those of a conversation by its id, in the order of their time where they have one. Rows
 * of a file without any id are one conversation.
 */
export function readRows(
  file: string,
  rows: readonly PlacedValue[],
  hasOthers = false,
): readonly (Conversation | ImportProblem)[] {
  const times = timesOf(rows.map(({ value }) => value as Json));
  const given = rows.map(({ value, line }, at) => {
    return { value: value as Json, line, id: conversationIdOf(objectOf(value)), time: times[at] };
  });
  const isOne = !hasOthers && given.every(({ id }) => id === undefined);
  const groups = new Map<string, typeof given>();
  const problems: ImportProblem[] = [];
  for (const row of given) {
    if (row.id === undefined && !isOne) {
      const message =
        'a message needs the id of its conversation (conversation_id), or give {"messages": [...]} a line';
      problems.push({ file, line: row.line, message });
      continue;
    }
    const group = groups.get(row.id ?? '');
    if (group) group.push(row);
    else groups.set(row.id ?? '', [row]);
  }
  const found = [...groups.values()].map((group) => {
    const messages = group.map(({ value, line, time }, index): PlacedRead => {
      return { ...readMessage(value), line, path: `message ${index + 1}`, time };
    });
    return conversationOf({ file, line: group[0]?.line ?? 1, id: group[0]?.id }, messages);
  });
  return [...found, ...problems];
}

/** Returns the list of messages in a value, which older rows write as JSON text. */
export const isList = (value: unknown): value is readonly Json[] => Array.isArray(value);

/** Returns whether a list has objects that are messages with parts or blocks of some types. */
export function hasBlocks(list: unknown, types: ReadonlySet<string>, key = 'content'): boolean {
  return (
    isList(list) &&
    list.some((message) => {
      const parts = objectOf(message)[key];
      return isList(parts) && parts.some((part) => isObject(part) && types.has(textOf(part['type']) ?? ''));
    })
  );
}
