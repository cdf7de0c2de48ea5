import { basename, dirname } from 'node:path';
import { isObject, type Json, type JsonObject } from '../../engine/core/values/json.ts';
import type { ImportProblem, Read } from './conversation.ts';
import type { PlacedValue } from './jsonValues.ts';
import { clockTimesOf, dayOrderOf, isOrderUnclear, plainKey, timesOf, turnsOf } from './messageTimes.ts';
import { isPartOf, type PartFormat } from './partTypes.ts';
import { listIn, objectOf, readMessage, roleNamed, textOf } from './saidMessage.ts';
import { conversationOf, inOrder, listAt, type PlacedRead } from './transcript.ts';

/** Names under which logs keep the conversation that a row is of. */
const idNames = new Set(
  ['conversation', 'session', 'thread', 'chat', 'ticket', 'dialog', 'dialogue', 'case', 'interaction'].flatMap(
    (name) => [`${name}id`, `${name}uuid`],
  ),
);

/** Names of columns that may have the id of a conversation, and may have words. */
const bareNames = new Set(['conversation', 'session', 'thread', 'chat', 'ticket', 'dialog', 'dialogue']);

/** Returns the id of the conversation that a row or a line is of. */
export function conversationIdOf(row: JsonObject): string | undefined {
  const fields = Object.entries(row).map(([key, value]) => ({ key: plainKey(key), text: textOf(value) ?? '' }));
  const named = fields.find(({ key, text }) => idNames.has(key) && text !== '');
  return (named ?? fields.find(({ key, text }) => bareNames.has(key) && /^\S{1,100}$/.test(text)))?.text;
}

/** A row with the path of its file. */
export type FileRow = PlacedValue & { readonly file: string };

/** Returns the rows of one conversation in the order of their times, or of their numbers where they have no times. */
export function orderedRows<Row extends FileRow>(
  rows: readonly Row[],
  order = dayOrderOf(rows.map(jsonIn)),
): readonly Row[] {
  const values = rows.map(jsonIn);
  const dated = timesOf(values, order);
  const times = dated.every((time) => time === undefined) ? (clockTimesOf(values) ?? turnsOf(values)) : dated;
  return inOrder(rows.map((row, at) => ({ row, time: times?.[at] }))).map(({ row }) => row);
}

const jsonIn = ({ value }: PlacedValue) => value as Json;

/** Returns whether a value is one message, and not a conversation. */
export function isMessageRow(value: unknown): boolean {
  const { role, from, sender, messages } = objectOf(value);
  return messages === undefined && [role, from, sender].some((each) => typeof each === 'string' && roleNamed(each));
}

/** The rows of a file, and whether it has values of another kind as well. */
type RowsOfFile = { readonly file: string; readonly rows: readonly PlacedValue[]; readonly hasOthers?: boolean };

/**
 * Reads rows of one message each: those of a conversation by its id, also in several files of a folder, in the order of
 * their time where they have one. Rows of a file without any id are one conversation. A time of day without a date orders
 * them only where it is certain.
 */
export function readRows(files: readonly RowsOfFile[]): Read {
  const orders = new Map<string, ReturnType<typeof dayOrderOf>>();
  const groups = new Map<string, FileRow[]>();
  const problems: ImportProblem[] = [];
  for (const { file, rows, hasOthers = false } of files) {
    const given = rows.map((row) => ({ ...row, file, id: conversationIdOf(objectOf(row.value)) }));
    const isOne = !hasOthers && given.every(({ id }) => id === undefined);
    for (const { id, ...row } of given) {
      if (id !== undefined || isOne)
        listAt(groups, id === undefined ? `of ${file}` : `${dirname(file)} ${id}`).push(row);
      else problems.push({ file, line: row.line, message: withoutId });
    }
    orders.set(file, dayOrderOf(rows.map(jsonIn)));
  }
  const notes: ImportProblem[] = [];
  const conversations = [...groups.values()].map((all) => {
    const group = withoutCopies(all);
    const { file = '', line = 1, value } = group[0] ?? {};
    const values = group.map(jsonIn);
    if (isOrderUnclear(values) && turnsOf(values) === undefined) notes.push({ file, line, message: unclearOrder });
    const messages = orderedRows(group, orders.get(file)).map((row, index): PlacedRead => {
      const path = `${row.file === file ? '' : `${basename(row.file)}, `}message ${index + 1}`;
      return { ...readMessage(jsonIn(row)), line: row.line, path };
    });
    return conversationOf({ file, line, id: conversationIdOf(objectOf(value)) }, messages);
  });
  return { conversations, problems, notes: [...notes, ...joinedFiles([...groups.values()])] };
}

const withoutId =
  'a message needs the id of its conversation (conversation_id), or write one {"messages": [...]} per line';

/** Leaves out rows with a time that an earlier file has as well: exports of a day often begin with the end of the last one. */
function withoutCopies(rows: readonly FileRow[]): readonly FileRow[] {
  const [first] = rows;
  if (rows.every(({ file }) => file === first?.file)) return rows;
  const times = timesOf(rows.map(jsonIn));
  const files = new Map<string, string>();
  return rows.filter((row, at) => {
    const key = JSON.stringify(row.value);
    const known = files.get(key) ?? row.file;
    files.set(key, known);
    return times[at] === undefined || known === row.file;
  });
}

/** Returns a note where rows of several files are one conversation. */
export function joinedFiles(groups: readonly (readonly FileRow[])[]): readonly ImportProblem[] {
  const joined = groups.filter(([first, ...rest]) => rest.some(({ file }) => file !== first?.file));
  const [first] = joined[0] ?? [];
  if (!first) return [];
  const { file, line, value } = first;
  const others = joined.length > 1 ? ` and of ${joined.length - 1} more` : '';
  const message = `the rows of conversation ${conversationIdOf(objectOf(value))}${others} are in several files; they are joined`;
  return [{ file, line, message }];
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
