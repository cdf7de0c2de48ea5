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
export const conversationsHelp = `Makes a recording of each real conversation, in its own run: read it in the editor, step through it, put an agent
against it (shadow), draft a task from it. The shape of a file decides its format, and the output names it; --format
overrides it. JSON, JSON lines and CSV are read, also packed with gzip; of a folder, the files with such an ending in it and
in its folders. A log says nothing of the database: it stays that of the domain, and nothing is verified. What can't be
read is named with its line.

${formatsHelp('chats')}
${formatsHelp('spans')}

Personal data is masked in part: names, email addresses, phone, card and account numbers, addresses, IP addresses, dates
of birth, and ids of the real system. Many names in free text stay without --recogniser, so it asks before it writes.
Values of the domain's own database stay.
`;

/** The options of `rehearsal import` that are for conversations. */
export const conversationsOptions = {
  domain: text('FOLDER', 'the domain that the conversations are of'),
  format: text('NAME', 'the format of the files (default: by their shape)'),
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
  if (options.domain === undefined) throw new UsageError('say which domain the conversations are of: --domain FOLDER');
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
  'WARNING: personal data was NOT masked. The recordings hold it as it was said: do not commit, share or train on them unless you may';

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
