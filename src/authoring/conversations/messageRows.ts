import { isObject, type Json, type JsonObject } from '../../engine/core/values/json.ts';
import type { ImportProblem, Read } from './conversation.ts';
import type { PlacedValue } from './jsonValues.ts';
import { clockTimesOf, dayOrderOf, isOrderUnclear, plainKey, timesOf } from './messageTimes.ts';
import { isPartOf, type PartFormat } from './partTypes.ts';
import { listIn, objectOf, readMessage, roleNamed, textOf } from './saidMessage.ts';
import { conversationOf, type PlacedRead } from './transcript.ts';

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
 * of a file without any id are one conversation. A time of day without a date orders them only where it is certain.
 */
export function readRows(file: string, rows: readonly PlacedValue[], hasOthers = false): Read {
  const order = dayOrderOf(rows.map(({ value }) => value as Json));
  const given = rows.map(({ value, line }) => {
    return { value: value as Json, line, id: conversationIdOf(objectOf(value)) };
  });
  const isOne = !hasOthers && given.every(({ id }) => id === undefined);
  const groups = new Map<string, typeof given>();
  const problems: ImportProblem[] = [];
  const notes: ImportProblem[] = [];
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
  const conversations = [...groups.values()].map((group) => {
    const { line = 1, id } = group[0] ?? {};
    const values = group.map(({ value }) => value);
    const dated = timesOf(values, order);
    const times = dated.every((time) => time === undefined) ? clockTimesOf(values) : dated;
    if (isOrderUnclear(values)) notes.push({ file, line, message: unclearOrder });
    const messages = group.map(({ value, line: at }, index): PlacedRead => {
      return { ...readMessage(value), line: at, path: `message ${index + 1}`, time: times?.[index] };
    });
    return conversationOf({ file, line, id }, messages);
  });
  return { conversations, problems, notes };
}

const unclearOrder =
  'the times of these rows have no date and do not show which row is first: the rows are in the order of the file';

/** Returns the messages of a history: a list of them, or of pairs of a question and its answer. */
export const earlierTurns = (history: unknown): readonly Json[] =>
  listIn(history).flatMap((each): readonly Json[] => {
    if (isObject(each)) return [each];
    const [asked, answered] = listIn(each);
    const isPair = typeof asked === 'string' && typeof answered === 'string';
    return isPair ? turnOf(asked, answered) : [];
  });

/** Returns a question and its answer as messages. */
export const turnOf = (asked: Json, answered: Json): readonly Json[] => [
  { role: 'user', content: asked },
  { role: 'assistant', content: answered },
];

/** Returns the list of messages in a value, which older rows write as JSON text. */
export const isList = (value: unknown): value is readonly Json[] => Array.isArray(value);

/** Returns whether a list has messages with parts of a format. */
export function hasParts(list: unknown, format: PartFormat, key = 'content'): boolean {
  return (
    isList(list) &&
    list.some((message) => {
      const parts = objectOf(message)[key];
      return isList(parts) && parts.some((part) => isObject(part) && isPartOf(textOf(part['type']) ?? '', format));
    })
  );
}
