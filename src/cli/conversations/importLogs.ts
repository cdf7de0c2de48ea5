import { relative } from 'node:path';
import type { ReadConversations } from '../../authoring/conversations/conversation.ts';
import type { Source } from '../../authoring/conversations/conversationReader.ts';
import { type ConversationsReport, importConversations } from '../../authoring/conversations/importConversations.ts';
import { formatNames } from '../../authoring/conversations/readConversations.ts';
import { counted } from '../../engine/core/text/counted.ts';
import { runsOf } from '../../engine/shell/files/workFolders.ts';
import { signingKey } from '../../engine/shell/records/ledger.ts';
import { openSupervisor } from '../../engine/shell/supervisor.ts';
import { flag, type OptionValues, text } from '../options/option.ts';
import { inRunFolder } from '../options/outFolder.ts';
import { openDomain } from '../options/rolloutOptions.ts';
import { type ExitCode, type Io, UsageError } from '../terminal/io.ts';
import {
  formatLines,
  maskedLine,
  maskingOptions,
  namedLogs,
  problemLines,
  progressOf,
  readLogs,
  recognisedIn,
  recogniserOf,
  requireConsent,
  seedOfStandIns,
} from './conversations.ts';

/** Returns the formats of a source as lines of the help. */
function formatsHelp(source: Source): string {
  const names = formatNames(source)
    .join(', ')
    .replace(/(.{1,104})(?:\s|$)/g, '$1\n  ');
  return `Formats of ${source}:\n  ${names.trimEnd()}`;
}

/** Describes what `rehearsal import` does with conversations, for its help. */
export const conversationsHelp = `Makes a recording from each real conversation, in a new run. You can read it in the editor, step through it, compare an
agent with it (shadow), and draft a task from it. The content of a file determines its format, and the output names it;
--format overrides it. JSON, JSON lines and CSV can be read, also compressed with gzip. In a folder and its subfolders, all
files with such an ending are read. A log does not contain the database: the recording shows the domain's, and nothing is
verified. What cannot be read is reported with its line.

${formatsHelp('chats')}
${formatsHelp('spans')}

Personal data is masked in part: names, email addresses, phone, card and account numbers, addresses, IP addresses, dates
of birth, and ids of the real system. Without --recogniser, many names in free text are not found, so the command
asks before it writes. Values of the domain's own database are not masked.
`;

/** The options of `rehearsal import` that are for conversations. */
export const conversationsOptions = {
  domain: text('FOLDER', 'the domain of the conversations'),
  format: text('NAME', 'the format of the files (default: detected from their content)'),
  ...maskingOptions,
  maskDatabase: flag('the database is a copy of the real one: mask its values, too'),
};
type Options = OptionValues<typeof conversationsOptions> & {
  readonly out?: string | undefined;
  readonly json?: boolean | undefined;
};

/** Imports files of conversations as a run of a domain, and reports the result. */
export async function importLogs(from: Source, options: Options, named: readonly string[], io: Io): Promise<ExitCode> {
  if (named.length === 0) throw new UsageError(`name the files: npx rehearsal import ${from} FILE... --domain FOLDER`);
  const recogniser = recogniserOf(options, io);
  const logs = namedLogs(named, io);
  if (options.domain === undefined) throw new UsageError('name the domain of the conversations: --domain FOLDER');
  const domain = openDomain(io, options.domain);
  const masksDatabase = options.maskDatabase === true;
  if (options.keepPersonalData && masksDatabase)
    throw new UsageError('--keep-personal-data masks nothing, and --mask-database masks more: choose one');
  const key = signingKey();
  const seed = seedOfStandIns(options, key);
  const read = await readLogs(from, logs, options, io);
  requireConsent(options, seed, read);
  const recognised = await recognisedIn(read, recogniser, io);
  const supervisor = await openSupervisor(domain, { log: (line) => io.err(`${line}\n`) });
  try {
    const show = progressOf(read.conversations.length, io);
    const report = await inRunFolder(io, options.out, runsOf(domain.folder, [io.cwd]), from, async (run) =>
      importConversations(supervisor, read, {
        from,
        folder: run,
        key,
        seed,
        masksDatabase,
        recognised,
        folders: logs.folders,
        signal: io.signal,
        onProgress: (done, total, what) => show(done, total, `conversations ${what}`),
      }),
    );
    if (seed === null) io.err(`${unmasked}\n`);
    if (options.json) io.out(`${JSON.stringify({ ...report, formats: read.formats })}\n`);
    else io.out(reportText(report, read, io, recognised?.recogniser));
    return report.problems.length > 0 ? 1 : 0;
  } finally {
    await supervisor.close();
  }
}

const unmasked =
  'WARNING: personal data was NOT masked. The recordings contain it unchanged: do not commit, share or train on them unless you are allowed to';

function reportText(
  { folder, domain, recordings, problems, notes, system, masked }: ConversationsReport,
  read: ReadConversations,
  io: Io,
  recogniser: string | undefined,
): string {
  const place = relative(io.cwd, folder) || '.';
  const [messages, calls] = [sum(recordings.map((each) => each.messages)), sum(recordings.map((each) => each.calls))];
  const lines = [
    ...formatLines(read, io),
    ...problemLines(notes, io),
    ...problemLines(problems, io),
    `${domain}: ${counted(recordings.length, 'conversation')} with ${counted(messages, 'message')} and ${counted(calls, 'call')} in ${place}`,
    ...systemLines(system),
    maskedLine(masked, recogniser),
    "a log has no database: the recordings show the domain's database at each step and have no reward",
  ];
  return `${lines.join('\n')}\n`;
}

function systemLines({ same, differs, none }: ConversationsReport['system']): readonly string[] {
  return [
    ...(same > 0 ? [`system messages that are the domain's policy: ${same}`] : []),
    ...(differs > 0 ? [`system messages that differ from the domain's policy and are kept: ${differs}`] : []),
    ...(none > 0 ? [`conversations without a system message, which get the domain's policy: ${none}`] : []),
  ];
}

const sum = (numbers: readonly number[]) => numbers.reduce((total, each) => total + each, 0);
