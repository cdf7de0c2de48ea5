import { existsSync, statSync } from 'node:fs';
import { relative, resolve } from 'node:path';
import type { ReadConversations } from '../authoring/conversations/conversation.ts';
import type { Source } from '../authoring/conversations/conversationReader.ts';
import { type ConversationsReport, maskingSeed } from '../authoring/conversations/importConversations.ts';
import { textsOf } from '../authoring/conversations/maskedConversation.ts';
import { MaskingQuestion } from '../authoring/conversations/maskingQuestion.ts';
import { formatNames, readConversations } from '../authoring/conversations/readConversations.ts';
import { type RecognisedNames, recogniseNames } from '../authoring/conversations/recogniser.ts';
import { type SigningKey, signingKey } from '../engine/shell/records/ledger.ts';
import { suggestion } from '../engine/shell/source/nearest.ts';
import { type Given, text } from './command.ts';
import { type Io, UsageError } from './io.ts';

/** Whether it is conversations, and not a benchmark, that is to be imported. */
export const isConversations = (named: string | undefined): named is Source => named === 'chats' || named === 'spans';

/** Reads the conversations in some files, in the format that was named or in that of their shape. */
export function readLogs(from: Source, files: readonly string[], given: Given): ReadConversations {
  const format = text(given, 'format');
  if (format !== undefined && !formatNames(from).includes(format)) {
    const names = formatNames(from);
    throw new UsageError(`--format is one of ${names.join(', ')}, not "${format}"${suggestion(format, names)}`);
  }
  return readConversations(files, from, format);
}

/** What the files were read as, and what was left out of them on purpose, a line each. */
export function readLines({ formats, notes }: ReadConversations, { cwd }: Io): readonly string[] {
  return [
    ...formats.map(({ file, format }) => `${relative(cwd, file)}: read as ${format}`),
    ...notes.map(({ file, line, message }) => `${relative(cwd, file)}:${line}: ${message}`),
  ];
}

/** Files of conversations that a person named, as paths. */
export function logFiles(named: readonly string[], io: Io): readonly string[] {
  return named.map((name) => {
    const path = resolve(io.cwd, name);
    if (!existsSync(path)) throw new UsageError(`${name}: there is no such file`);
    if (statSync(path).isDirectory()) throw new UsageError(`${name} is a folder; name the files in it`);
    return path;
  });
}

/** What stand-ins for personal data are drawn from; null where a person wants it kept. */
export function seedOfStandIns(given: Given, key: SigningKey = signingKey()): string | null {
  const named = text(given, 'seed');
  if (given.values['keep-personal-data'] !== true) return named ?? maskingSeed(key);
  if (named !== undefined)
    throw new UsageError('--seed draws stand-ins, and --keep-personal-data wants none: choose one');
  return null;
}

/** Throws a `MaskingQuestion` unless a person said that masking in part is enough, or that personal data is kept. */
export function requireConsent(given: Given, seed: string | null, { conversations }: ReadConversations): void {
  if (
    conversations.length > 0 &&
    seed !== null &&
    given.values['yes'] !== true &&
    text(given, 'recogniser') === undefined
  )
    throw new MaskingQuestion();
}

/** What finds names in free text: the interpreter and the language of its model. */
type Recogniser = { readonly python: string; readonly language: string };

/** Reads `--recogniser` and `--python`; undefined without a recogniser. */
export function recogniserOf(given: Given, io: Io): Recogniser | undefined {
  const [named, python] = [text(given, 'recogniser'), text(given, 'python')];
  if (named === undefined) {
    if (python !== undefined) throw new UsageError('--python does not go without --recogniser');
    return undefined;
  }
  const found = /^presidio(?::(?<language>[a-z]{2,3}))?$/.exec(named);
  if (!found)
    throw new UsageError(`--recogniser is presidio, or presidio:LANGUAGE such as presidio:de, not "${named}"`);
  if (given.values['keep-personal-data'] === true)
    throw new UsageError('--recogniser finds what is masked, and --keep-personal-data masks nothing: choose one');
  const interpreter = python !== undefined && /[\\/]/.test(python) ? resolve(io.cwd, python) : (python ?? 'python3');
  return { python: interpreter, language: found.groups?.['language'] ?? 'en' };
}

/** Finds names in conversations with a recogniser; undefined without one. */
export async function recognisedIn(
  { conversations }: ReadConversations,
  recogniser: Recogniser | undefined,
  io: Io,
): Promise<RecognisedNames | undefined> {
  if (recogniser === undefined) return undefined;
  io.err('looking for names in the texts\n');
  return recogniseNames(textsOf(conversations), { ...recogniser, signal: io.signal });
}

/** How much was masked, as people read it. */
export function maskedLine(masked: ConversationsReport['masked'], recogniser?: string): string {
  if (masked === null) return 'personal data was kept';
  const counts = Object.entries(masked).map(([kind, count]) => `${count} ${kind}`);
  const found = counts.length === 0 ? 'nothing was found to mask' : counts.join(', ');
  const names = recogniser === undefined ? 'found in part only' : `found by ${recogniser}`;
  return `masked: ${found}; names in free text are ${names}, so read what you share`;
}
