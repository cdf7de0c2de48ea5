import { basename, relative, resolve } from 'node:path';
import type { ReadConversations } from '../../authoring/conversations/conversation.ts';
import type { Source } from '../../authoring/conversations/conversationReader.ts';
import { type ChatsDomain, chatsDomain } from '../../authoring/domains/chatsDomain.ts';
import { requireEmpty, writeNew } from '../../authoring/domains/newFolder.ts';
import { counted } from '../../engine/core/text/counted.ts';
import { workFolders } from '../../engine/shell/files/workFolders.ts';
import { parseSeat } from '../../engine/shell/models/parseSeat.ts';
import { type Given, text, texts } from '../command.ts';
import {
  logFiles,
  maskedLine,
  readLines,
  readLogs,
  recognisedIn,
  recogniserOf,
  requireConsent,
  seedOfStandIns,
} from '../conversations.ts';
import { type Io, UsageError } from '../io.ts';
import { shellWord } from '../shellWord.ts';

type Wanted = { readonly folder: string; readonly name: string; readonly now: string; readonly from: Source };

/** Makes a domain of recorded conversations, and says what is left to fill in and what comes next. */
export async function fromLogs({ folder, name, now, from }: Wanted, given: Given, io: Io): Promise<0 | 1> {
  const recogniser = recogniserOf(given, io);
  const files = logFiles([...texts(given, from), ...given.positionals.slice(1)], io);
  const simulator = simulatorOf(given, io);
  const seed = seedOfStandIns(given);
  const read = readLogs(from, files, given);
  const { conversations, problems } = read;
  if (conversations.length === 0) throw new UsageError(emptiness(read, io));
  requireEmpty(folder);
  requireConsent(given, seed, read);
  const recognised = await recognisedIn(read, recogniser, io);
  const made = chatsDomain({ name, now, conversations, simulator, seed, recognised });
  const written = writeNew(folder, made.files);
  if (given.values['json'] === true) {
    const { tools, misnamed, policyOf, masked } = made;
    io.out(
      `${JSON.stringify({ folder, name, files: written, drafts: [], tools: tools.length, conversations: conversations.length, policyOf, misnamed, masked, problems, formats: read.formats, notes: read.notes })}\n`,
    );
  } else
    io.out(
      tellMade(
        { folder, name, from, files, isSimulated: simulator !== null, recogniser: recognised?.recogniser },
        made,
        read,
        io,
      ),
    );
  return problems.length > 0 || made.misnamed.length > 0 ? 1 : 0;
}

function simulatorOf(given: Given, { environment }: Io): string | null {
  const named = text(given, 'simulator');
  if (named === undefined) return null;
  const seat = parseSeat(named, 'agent', 'person', environment);
  if (typeof seat === 'string' || seat.type !== 'openai')
    throw new UsageError(`--simulator is a model, openai:MODEL[@BASE_URL], not "${named}"`);
  return named;
}

function emptiness({ problems }: ReadConversations, { cwd }: Io): string {
  const [first] = problems;
  const where = first ? `${relative(cwd, first.file)}:${first.line}: ${first.message}` : 'the files are empty';
  return `there is no conversation to make a domain of: ${where}`;
}

type Told = Pick<Wanted, 'folder' | 'name' | 'from'> & {
  readonly files: readonly string[];
  readonly isSimulated: boolean;
  readonly recogniser: string | undefined;
};

function tellMade(
  { folder, name, from, files, isSimulated, recogniser }: Told,
  { tools, misnamed, policyOf, masked }: ChatsDomain,
  read: ReadConversations,
  io: Io,
): string {
  const { conversations, problems } = read;
  const shown = relative(io.cwd, folder) || '.';
  const run = `${workFolders.runs}/${basename(resolve(folder))}-logs`;
  const seen = tools.filter(({ isDeclared }) => !isDeclared).length;
  const logs = files.map((file) => shellWord(relative(io.cwd, file))).join(' ');
  const open = [
    ...(policyOf === null
      ? [`${shown}/policy.md: no conversation has a system message; write what the agent must follow`]
      : []),
    ...(tools.length > 0 && !isSimulated
      ? [`${shown}/domain.yaml: simulator: openai:MODEL, the model that answers for the tools`]
      : []),
    ...(tools.length > 0
      ? [`${shown}/tools: which of them change something ("review"), and the rows that each sees and may change`]
      : [`${shown}/tools.ts: the log shows no tools; write what the agent can do`]),
    `${shown}/database.json: the rows that the tools work on; a log does not tell them`,
  ];
  const lines = [
    ...readLines(read, io),
    ...problems.map(({ file, line, message }) => `${relative(io.cwd, file)}:${line}: ${message}`),
    ...misnamed.map((tool) => `${JSON.stringify(tool)} can be no name of a tool; it is left out`),
    `made ${name} in ${shown} of ${counted(conversations.length, 'conversation')}: ${counted(tools.length, 'tool')}${seen > 0 ? `, ${seen} of them from calls alone` : ''}`,
    ...(policyOf === null ? [] : [`policy.md is the system message of ${counted(policyOf, 'conversation')}`]),
    maskedLine(masked, recogniser),
    'to fill in:',
    ...open.map((each) => `  ${each}`),
    'next:',
    `  npx rehearsal check ${shellWord(shown)}`,
    `  npx rehearsal import ${from} ${logs} --domain ${shellWord(shown)} --out ${shellWord(run)}`,
    `  npx rehearsal draft from-chats ${shellWord(run)}`,
  ];
  return `${lines.join('\n')}\n`;
}
