import { isObject, type Json } from '../../engine/core/values/json.ts';
import { breaks } from '../../engine/shell/files/breaks.ts';
import { nearest } from '../../engine/shell/source/nearest.ts';
import { withBatchAnswers } from './batchAnswers.ts';
import { type ImportProblem, movedSystem, type ReadConversations } from './conversation.ts';
import { type ConversationReader, joinedReads, type Source } from './conversationReader.ts';
import { personsIn } from './declaredPersons.ts';
import { longestOf } from './history.ts';
import type { PlacedValue } from './jsonValues.ts';
import { leftOut } from './leftOut.ts';
import { type LogFile, readLogFile } from './logFile.ts';
import { conversationIdOf, isMessageRow } from './messageRows.ts';
import { alpaca } from './readers/alpaca.ts';
import { anthropicMessages } from './readers/anthropicMessages.ts';
import { chatGpt } from './readers/chatGpt.ts';
import { claudeCode } from './readers/claudeCode.ts';
import { codex } from './readers/codex.ts';
import { csvRows } from './readers/csvRows.ts';
import { inspectAi } from './readers/inspectAi.ts';
import { intercom } from './readers/intercom.ts';
import { langfuse } from './readers/langfuse.ts';
import { langSmith } from './readers/langSmith.ts';
import { openaiChat } from './readers/openaiChat.ts';
import { isItemType, openaiResponses } from './readers/openaiResponses.ts';
import { openTelemetry } from './readers/openTelemetry.ts';
import { preference } from './readers/preference.ts';
import { promptCompletion } from './readers/promptCompletion.ts';
import { shareGpt } from './readers/shareGpt.ts';
import { slack } from './readers/slack.ts';
import { tau2Results } from './readers/tau2Results.ts';
import { vercelUi } from './readers/vercelUi.ts';
import { verifiers } from './readers/verifiers.ts';
import { zendesk } from './readers/zendesk.ts';
import { throwIfStopped } from './refusal.ts';
import { objectOf, textOf } from './saidMessage.ts';

/** The formats that can be read. Where a file fits several as well, the first one reads it. */
const readers: readonly ConversationReader[] = [
  tau2Results,
  inspectAi,
  chatGpt,
  claudeCode,
  codex,
  verifiers,
  preference,
  promptCompletion,
  shareGpt,
  alpaca,
  vercelUi,
  anthropicMessages,
  openaiResponses,
  slack,
  intercom,
  zendesk,
  csvRows,
  openaiChat,
  langfuse,
  langSmith,
  openTelemetry,
];

/** Returns the names that `--format` takes. */
export const formatNames = (source: Source): readonly string[] =>
  readers.filter((each) => each.source === source).map(({ name }) => name);

/** The number of values of a file that are read to find its format. */
const looked = 200;

type Reading = {
  /** The name of the format of all files; without it, their shape decides. */
  readonly format?: string | undefined;
  readonly signal?: AbortSignal;
  /** Called after each file. */
  readonly onProgress?: (done: number, total: number) => void;
};

/**
 * Reads the conversations in some files, each value by the reader of its format, and lets signals have their turn
 * meanwhile. Rejects where the signal aborts.
 */
export async function readConversations(
  files: readonly string[],
  source: Source,
  { format, signal, onProgress }: Reading = {},
): Promise<ReadConversations> {
  const rest = breaks(turnMs);
  const pause = async (): Promise<void> => {
    await rest();
    if (signal) throwIfStopped(signal);
  };
  const logs: LogFile[] = [];
  for (const file of files) {
    logs.push(itemsTogether(unwrapped(await readLogFile(file, pause))));
    onProgress?.(logs.length, files.length);
    await pause();
  }
  return conversationsOf(logs, source, format);
}

/** The time that files are read before a signal is checked, in milliseconds. */
const turnMs = 50;

function conversationsOf(read: readonly LogFile[], source: Source, format: string | undefined): ReadConversations {
  const { logs, notes } = withBatchAnswers(read);
  const named = readers.find((each) => each.name === format && each.source === source);
  const chosen = logs.flatMap((log): readonly Chosen[] =>
    named ? fittingOf({ log, reader: named }) : partsOf(log).flatMap(fittingOf),
  );
  const problems = [
    ...logs.flatMap((log) => log.problems),
    ...chosen.flatMap(({ log, reader, problem }) => (problem ? [problem] : problemsOf(log, reader, source))),
  ];
  const taken = readers.filter((each) => each.source === source);
  const own = taken.map((reader) => ({ reader, logs: logsOf(chosen, reader) })).filter((each) => each.logs.length > 0);
  const reads = own.map(({ reader, logs: all }) => {
    const read = reader.read(all);
    const left = source === 'chats' ? leftOut(reader, all, read.conversations) : [];
    return { ...read, notes: [...read.notes, ...left] };
  });
  const joined = longestOf(joinedReads(reads));
  const formats = own.flatMap(({ reader, logs: all }) => all.map(({ path }) => ({ file: path, format: reader.label })));
  const values = own.flatMap(({ logs: all }) => all.flatMap((log) => log.values));
  const persons = values.flatMap(({ value }) => personsIn(value as Json));
  return {
    ...joined,
    problems: [...problems, ...joined.problems],
    notes: [...notes, ...joined.notes, ...joined.conversations.flatMap(movedSystem)],
    formats,
    persons,
  };
}

/** Values of a file with the reader of their format, or why none of them is read. */
type Chosen = {
  readonly log: LogFile;
  readonly reader: ConversationReader | undefined;
  readonly problem?: ImportProblem;
};

function logsOf(chosen: readonly Chosen[], reader: ConversationReader): readonly LogFile[] {
  return chosen.flatMap((each) => (each.reader === reader && !each.problem ? [each.log] : []));
}

/**
 * Returns the values of a file by their format: each goes to the first reader that it fits, those of one message each
 * together, and what fits none to the reader of most. Tables stay whole.
 */
function partsOf(log: LogFile): readonly Chosen[] {
  if (log.values.length === 0) return [];
  const main = readerOf(log);
  if (!main || log.isTable) return [{ log, reader: main }];
  const own = readers.filter(({ source }) => source === main.source);
  const firstOf = (values: readonly PlacedValue[]) =>
    [...own, ...readers].find((reader) => values.some(({ value }) => reader.matches(value, log)));
  const ofRows = firstOf(log.values.filter(({ value }) => isMessageRow(value)));
  const byReader = Map.groupBy(log.values, (each) => (isMessageRow(each.value) ? ofRows : firstOf([each])) ?? main);
  return [...byReader].map(([reader, values]) => ({ log: { ...log, values }, reader }));
}

/** Reports values that lack the shape and all keys of their format as problems, instead of empty conversations. */
function fittingOf({ log, reader }: Chosen): readonly Chosen[] {
  if (!reader || log.values.length === 0) return log.values.length === 0 ? [] : [{ log, reader }];
  const fits = log.values.map(({ value }) => reader.matches(value, log));
  const isOfFormat = ({ value }: PlacedValue, at: number) =>
    fits[at] === true || keysIn(value).some((key) => reader.keys.includes(key));
  const isWhole = reader.isWhole === true && fits.includes(true);
  const isKept = log.values.map((each, at) => isWhole || isOfFormat(each, at));
  const values = log.values.filter((_, at) => isKept[at]);
  const others = log.values.filter((_, at) => !isKept[at]);
  return [
    ...(values.length > 0 ? [{ log: { ...log, values }, reader }] : []),
    ...others.map(({ value, line }) => {
      const message = `is not of the format ${reader.label} (${described(value, keysIn(value))}); it is left out`;
      return { log, reader, problem: { file: log.path, line, message } };
    }),
  ];
}

/** Returns the reader that most of the values of a file fit; undefined where they fit none. */
function readerOf(log: LogFile): ConversationReader | undefined {
  const values = log.values.slice(0, looked);
  const counted = readers.map((reader) => ({
    reader,
    count: values.filter(({ value }) => reader.matches(value, log)).length,
  }));
  const most = Math.max(...counted.map(({ count }) => count));
  return most === 0 ? undefined : counted.find(({ count }) => count === most)?.reader;
}

/** Takes the list out of an object that has one of a known format, such as `{"data": [...]}`. */
function unwrapped(log: LogFile): LogFile {
  const [only, ...others] = log.values;
  if (!only || others.length > 0 || !isObject(only.value as Json) || readerOf(log)) return log;
  const lists = Object.values(only.value as object).filter(
    (each): each is readonly unknown[] => Array.isArray(each) && each.length > 0 && each.every(isObject),
  );
  const inner = lists
    .map((list) => ({ ...log, values: list.map((value) => ({ value, line: only.line })) }))
    .filter((each) => readerOf(each));
  // The people of a help desk have a role as messages do.
  const whole = inner.filter(({ values }) => !values.every(({ value }) => isMessageRow(value)));
  const found = whole.length > 0 ? whole : inner;
  const [own] = found;
  if (!own || found.length > 1) return log;
  return whole.length > 0 ? own : withRequest(own, only);
}

/** The keys of an object about the conversation whose messages are in a list of it. */
const requestKeys = ['system', 'system_prompt', 'systemInstruction', 'system_instruction', 'tools', 'functions'];

/** Keeps what an object says about its only conversation: the instructions and the tools. */
function withRequest(log: LogFile, { value, line }: PlacedValue): LogFile {
  const given = objectOf(value);
  const isRequest = requestKeys.some((key) => given[key] !== undefined && given[key] !== null);
  const hasIds = log.values.some((each) => conversationIdOf(objectOf(each.value)) !== undefined);
  if (!isRequest || hasIds) return log;
  const messages = log.values.map((each) => each.value);
  const rest = Object.entries(given).filter(([, each]) => !(Array.isArray(each) && each[0] === messages[0]));
  return { ...log, values: [{ value: { ...Object.fromEntries(rest), messages }, line }] };
}

/** Joins the items of the Responses API that are the values of a file: a list of them is one conversation. */
function itemsTogether(log: LogFile): LogFile {
  const { values } = log;
  const given = values.map(({ value }) => objectOf(value));
  const isOne =
    given.some(({ type }) => isItemType(textOf(type) ?? '')) &&
    given.every((each) => (isMessageRow(each) || textOf(each['type']) !== undefined) && !conversationIdOf(each));
  return isOne ? { ...log, values: [{ value: given, line: values[0]?.line ?? 1 }] } : log;
}

function problemsOf(log: LogFile, reader: ConversationReader | undefined, source: Source): readonly ImportProblem[] {
  const line = log.values[0]?.line ?? 1;
  if (reader?.source === source) return [];
  if (reader)
    return [
      { file: log.path, line, message: `holds ${reader.label}. Import it as ${reader.source}, not as ${source}` },
    ];
  return [{ file: log.path, line, message: unknownFormat(log, source) }];
}

/** Says what was found in a file of no known format, what can be read, and which of it is the nearest. */
function unknownFormat({ values }: LogFile, source: Source): string {
  const found = keysIn(values[0]?.value);
  const known = readers.filter((each) => each.source === source);
  const close = known
    .map((reader) => ({ reader, missing: reader.keys.filter((key) => !found.includes(key)) }))
    .map((each) => ({ ...each, likely: each.missing.filter((key) => nearest(key, found) !== undefined) }))
    .toSorted((a, b) => score(b) - score(a))
    .find((each) => score(each) >= 0.4);
  // The last reader of a source is that of its most general format.
  const { reader = known.at(-1), missing } = close ?? {};
  return [
    `the format is not known: the file has ${described(values[0]?.value, found)}`,
    `Supported are ${known.map(({ name, label }) => `${label} (${name})`).join(', ')}`,
    ...(reader
      ? [`The nearest is ${reader.label}, which has ${(missing?.length ? missing : reader.keys).join(', ')}`]
      : []),
    'Name the format with --format',
  ].join('. ');
}

type Close = {
  readonly reader: ConversationReader;
  readonly missing: readonly string[];
  readonly likely: readonly string[];
};

const score = ({ reader, missing, likely }: Close) =>
  (reader.keys.length - missing.length + likely.length / 2) / Math.max(1, reader.keys.length);

function keysIn(value: unknown): readonly string[] {
  const object = Array.isArray(value) ? value[0] : value;
  return isObject(object as Json) ? Object.keys(object as object) : [];
}

function described(value: unknown, keys: readonly string[]): string {
  if (keys.length === 0)
    return Array.isArray(value) ? 'lists' : `values such as ${JSON.stringify(value)?.slice(0, 40)}`;
  const shown = keys.slice(0, 8).join(', ');
  return `${Array.isArray(value) ? 'lists of objects' : 'objects'} with ${shown}${keys.length > 8 ? ', …' : ''}`;
}
