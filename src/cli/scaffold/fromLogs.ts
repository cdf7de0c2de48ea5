import { basename, relative, resolve } from 'node:path';
import type { ReadConversations } from '../../authoring/conversations/conversation.ts';
import type { Source } from '../../authoring/conversations/conversationReader.ts';
import { maskedProblems } from '../../authoring/conversations/maskedConversation.ts';
import { type ChatsDomain, chatsDomain } from '../../authoring/domains/chatsDomain.ts';
import { requireEmpty, writeNew } from '../../authoring/domains/newFolder.ts';
import { maskerOf } from '../../authoring/masking/masker.ts';
import { counted } from '../../engine/core/text/counted.ts';
import { workFolders } from '../../engine/shell/files/workFolders.ts';
import { parseSeat } from '../../engine/shell/models/parseSeat.ts';
import {
  formatLines,
  maskedLine,
  namedLogs,
  problemLines,
  readLogs,
  recognisedIn,
  recogniserOf,
  requireConsent,
  seedOfStandIns,
} from '../conversations/conversations.ts';
import { type Io, UsageError } from '../terminal/io.ts';
import { shellWord } from '../terminal/shellWord.ts';
import type { NewOptions } from './newOptions.ts';

type Wanted = { readonly folder: string; readonly name: string; readonly now: string; readonly from: Source };

/** Creates a domain from recorded conversations, and prints what remains to fill in and the next steps. */
export async function fromLogs(
  { folder, name, now, from }: Wanted,
  options: NewOptions,
  more: readonly string[],
  io: Io,
): Promise<0 | 1> {
  const recogniser = recogniserOf(options, io);
  const named = [...(options[from] ?? []), ...more];
  const logs = namedLogs(named, io);
  const simulator = simulatorOf(options.simulator, io);
  const seed = seedOfStandIns(options);
  const read = await readLogs(from, logs, options, io);
  const { conversations } = read;
  if (conversations.length === 0) throw new UsageError(emptiness(read, seed, io));
  requireEmpty(folder);
  requireConsent(options, seed, read);
  const recognised = await recognisedIn(read, recogniser, io);
  const made = chatsDomain({ name, now, read, simulator, seed, recognised });
  const written = writeNew(folder, made.files);
  if (options.json) {
    const { tools, misnamed, policyOf, masked, problems, notes } = made;
    io.out(
      `${JSON.stringify({ folder, name, files: written, drafts: [], tools: tools.length, conversations: conversations.length, policyOf, misnamed, masked, problems, formats: read.formats, notes })}\n`,
    );
  } else
    io.out(
      tellMade(
        { folder, name, from, logs: named, isSimulated: simulator !== null, recogniser: recognised?.recogniser },
        made,
        read,
        io,
      ),
    );
  return made.problems.length > 0 || made.misnamed.length > 0 ? 1 : 0;
}

function simulatorOf(named: string | undefined, { environment }: Io): string | null {
  if (named === undefined) return null;
  const seat = parseSeat(named, 'agent', 'person', environment);
  if (typeof seat === 'string' || seat.type !== 'openai')
    throw new UsageError(`--simulator is a model, openai:MODEL[@BASE_URL], not "${named}"`);
  return named;
}

function emptiness({ problems }: ReadConversations, seed: string | null, { cwd }: Io): string {
  const masked = seed === null ? undefined : maskerOf({ seed }).conversation([]);
  const [first] = maskedProblems(problems, masked);
  const where = first ? `${relative(cwd, first.file)}:${first.line}: ${first.message}` : 'the files are empty';
  return `there is no conversation to make a domain from: ${where}`;
}

type Told = Pick<Wanted, 'folder' | 'name' | 'from'> & {
  /** The files and folders as a person named them. */
  readonly logs: readonly string[];
  readonly isSimulated: boolean;
  readonly recogniser: string | undefined;
};

function tellMade(
  { folder, name, from, logs, isSimulated, recogniser }: Told,
  { tools, misnamed, policyOf, masked, problems, notes }: ChatsDomain,
  read: ReadConversations,
  io: Io,
): string {
  const { conversations } = read;
  const shown = relative(io.cwd, folder) || '.';
  const run = `${workFolders.runs}/${basename(resolve(folder))}-logs`;
  const seen = tools.filter(({ isDeclared }) => !isDeclared).length;
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
    `${shown}/database.json: the rows that the tools work on; a log does not contain them`,
  ];
  const lines = [
    ...formatLines(read, io),
    ...problemLines(notes, io),
    ...problemLines(problems, io),
    ...misnamed.map((tool) => `${JSON.stringify(tool)} is not a valid tool name; it is left out`),
    `made ${name} in ${shown} of ${counted(conversations.length, 'conversation')}: ${counted(tools.length, 'tool')}${seen > 0 ? `, ${seen} of them from calls alone` : ''}`,
    ...(policyOf === null ? [] : [`policy.md is the system message of ${counted(policyOf, 'conversation')}`]),
    maskedLine(masked, recogniser),
    'to fill in:',
    ...open.map((each) => `  ${each}`),
    'next:',
    `  npx rehearsal check ${shellWord(shown)}`,
    `  npx rehearsal import ${from} ${logs.map(shellWord).join(' ')} --domain ${shellWord(shown)} --out ${shellWord(run)}`,
    `  npx rehearsal draft from-chats ${shellWord(run)}`,
  ];
  return `${lines.join('\n')}\n`;
}
