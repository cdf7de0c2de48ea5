import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, relative, resolve } from 'node:path';
import { counted } from '../../engine/core/counted.ts';
import { isLeftOut } from '../../engine/core/tool.ts';
import type { Gated } from '../../engine/shell/audit/draftGate.ts';
import { gate } from '../../engine/shell/audit/draftGate.ts';
import { commandWords } from '../../engine/shell/drafting/commandWords.ts';
import { domainTemplates, templateFiles } from '../../engine/shell/drafting/domainTemplate.ts';
import {
  declared,
  type GivenServer,
  type Judged,
  judged,
  mcpDomainFiles,
  serverName,
} from '../../engine/shell/drafting/mcpDomain.ts';
import { requireEmpty, writeNew, writeWhole } from '../../engine/shell/drafting/newFolder.ts';
import { isDate } from '../../engine/shell/load/checkState.ts';
import { shippedFolder } from '../../engine/shell/shippedFolder.ts';
import { type Command, type Given, refuseMore, refuseStray, text } from '../command.ts';
import { gatedRow, gatedText } from '../drafts/gatedText.ts';
import { type Io, progress, UsageError } from '../io.ts';
import { shellWord } from '../shellWord.ts';
import { newFromLogs } from './newFromLogs.ts';

const root = () => shippedFolder('templates');
const defaultNow = '2026-03-02T09:00:00Z';

export const newCommand: Command = {
  name: 'new',
  summary: 'make a new domain: from a template, the tools of an MCP server, or recorded conversations',
  // Read when somebody asks: every other command would wait for these files as well.
  get help() {
    return `rehearsal new FOLDER --template NAME | --mcp "COMMAND ARGS" | --mcp-url URL | --chats FILE... | --spans FILE... [options]

Makes a domain in a folder that is empty or not there yet; nothing is ever overwritten. A template is small and whole:
it passes the audit, and its gold seat gets reward 1 on every task. From an MCP server it starts the server that you
name, lists its tools, and writes the server's declaration, a policy and rules to fill in, and one draft task for each
tool that changes something; then it plays the drafts and says what is left to do. From recorded conversations it takes
the policy, the system message that most of them have, and simulated tools: those that the log defines, else those that
were called; personal data is masked as by import. It says what to fill in and what comes next. Templates: ${domainTemplates(
      root(),
    )
      .map(({ name }) => name)
      .join(', ')}.

  --template NAME    the template
  --mcp "COMMAND"    the command that starts a server, with its arguments: "npx -y some-server --flag"
  --mcp-url URL      the address of a server that runs already (Streamable HTTP)
  --env NAME=VALUE   environment of that command; \${env:NAME} is filled in from yours when it starts, and
                     \${instanceFolder} is a fresh folder for each rollout (can be given several times)
  --header NAME=VALUE  header of every request to that address (can be given several times)
  --writes NAMES     the server's tools that change something, with commas between (default: what the server says,
                     and by their names where it says nothing; those are marked for review)
  --chats FILE       conversations as \`rehearsal import chats\` reads them; more files can follow the folder
  --spans FILE       conversations as \`rehearsal import spans\` reads them
  --simulator MODEL  openai:MODEL[@BASE_URL], which answers for the tools of the log (default: left to fill in)
  --seed TEXT        what stand-ins for personal data are drawn from; keep it secret (default: a secret of this machine)
  --keep-personal-data  mask nothing
  --list             only list the server's tools; nothing is written
  --name NAME        name of the domain (default: the folder's)
  --now DATE         the date and time at which its tasks happen (default: the template's)
  --json             machine-readable output
Exit code 0: made, and what was played went well. 1: made, and drafts need work or not all could be read. 2: could not
be made.
`;
  },
  options: {
    template: { type: 'string' },
    mcp: { type: 'string' },
    'mcp-url': { type: 'string' },
    env: { type: 'string', multiple: true },
    header: { type: 'string', multiple: true },
    writes: { type: 'string' },
    chats: { type: 'string', multiple: true },
    spans: { type: 'string', multiple: true },
    simulator: { type: 'string' },
    seed: { type: 'string' },
    'keep-personal-data': { type: 'boolean' },
    list: { type: 'boolean' },
    name: { type: 'string' },
    now: { type: 'string' },
  },
  run: async (given, io) => {
    const [from, ...others] = sources.filter((name) => given.values[name] !== undefined);
    if (from === undefined || others.length > 0)
      throw new UsageError(
        'say what the domain is made of, one of: --template NAME, --mcp "COMMAND", --mcp-url URL, --chats FILE, --spans FILE',
      );
    const now = text(given, 'now');
    if (now !== undefined && !isDate(now))
      throw new UsageError(`--now is a date and time such as 2026-03-02T09:00:00Z, not "${now}"`);
    const isList = given.values['list'] === true;
    if (isList && from !== 'mcp' && from !== 'mcp-url')
      throw new UsageError('--list lists the tools of a server: name one with --mcp or --mcp-url');
    refuseStray(given, [from, 'name', 'now', ...optionsOf[from]], `--${from}`);
    if (from === 'chats' || from === 'spans') {
      const folder = folderOf(given, io);
      return newFromLogs({ folder, name: nameOf(folder, given), now: now ?? defaultNow, from }, given, io);
    }
    refuseMore(given, 1, newCommand);
    const folder = isList && given.positionals[0] === undefined ? null : folderOf(given, io);
    if (folder !== null && !isList) requireEmpty(folder);
    if (from === 'template') return fromTemplate(folder ?? '', text(given, from) ?? '', now, given, io);
    return fromServer(folder, serverOf(given, io), now ?? defaultNow, given, io);
  },
};

/** What a domain can be made of, and the options that say something to that alone. */
const optionsOf = {
  template: [],
  mcp: ['env', 'writes', 'list'],
  'mcp-url': ['header', 'writes', 'list'],
  chats: ['simulator', 'seed', 'keep-personal-data'],
  spans: ['simulator', 'seed', 'keep-personal-data'],
} as const satisfies Record<string, readonly string[]>;
const sources = Object.keys(optionsOf) as (keyof typeof optionsOf)[];

function folderOf({ positionals }: Given, { cwd }: Io): string {
  if (!positionals[0]) throw new UsageError('name the folder of the new domain');
  return resolve(cwd, positionals[0]);
}

function nameOf(folder: string, given: Given): string {
  const name = text(given, 'name')?.trim();
  if (name === '') throw new UsageError('--name is empty: name the domain, or leave it out');
  return name ?? basename(folder);
}

function fromTemplate(folder: string, template: string, now: string | undefined, given: Given, io: Io): 0 {
  const templates = domainTemplates(root());
  if (!templates.some(({ name }) => name === template))
    throw new UsageError(
      `there is no template "${template}"; there is ${templates.map(({ name }) => name).join(', ')}`,
    );
  const name = nameOf(folder, given);
  const files = writeNew(folder, templateFiles(root(), template, { name, ...(now === undefined ? {} : { now }) }));
  const shown = relative(io.cwd, folder) || '.';
  if (given.values['json'] === true) io.out(`${JSON.stringify({ folder, name, files, drafts: [] })}\n`);
  else
    io.out(
      `made ${name} in ${shown} (${counted(files.length, 'file')}). Begin with policy.md, then:\n  rehearsal check ${shellWord(shown)} --audit\n  rehearsal eval ${shellWord(shown)}\n`,
    );
  return 0;
}

/** The server that a person named, with paths as they hold from anywhere. */
function serverOf(given: Given, { cwd }: Io): GivenServer {
  const url = text(given, 'mcp-url');
  if (url !== undefined) {
    if (!/^https?:/i.test(url) || !URL.canParse(url))
      throw new UsageError(`--mcp-url is an address such as http://127.0.0.1:8000/mcp, not "${url}"`);
    return { type: 'http', url, headers: pairs(given, 'header') };
  }
  const words = commandWords(text(given, 'mcp') ?? '');
  if (typeof words === 'string') throw new UsageError(`--mcp can't be read: ${words}`);
  const [command, ...args] = words;
  if (command === undefined) throw new UsageError('--mcp is empty: it is the command that starts the server');
  const placed = (word: string) => {
    const path = resolve(cwd, word);
    return /[\\/.]/.test(word) && !word.startsWith('-') && existsSync(path) ? path : word;
  };
  return { command: placed(command), args: args.map(placed), env: pairs(given, 'env') };
}

function pairs({ values }: Given, name: 'env' | 'header'): Readonly<Record<string, string>> {
  const list = values[name];
  return Object.fromEntries(
    (Array.isArray(list) ? list : []).map((each) => {
      const [, key, value] = /^([^=]+)=(.*)$/s.exec(String(each)) ?? [];
      if (key === undefined || value === undefined) throw new UsageError(`--${name} is NAME=VALUE, not "${each}"`);
      return [key.trim(), value];
    }),
  );
}

async function fromServer(folder: string | null, server: GivenServer, now: string, given: Given, io: Io) {
  const key = serverName(server);
  const whole = declared(key, server);
  if (typeof whole === 'string') throw new UsageError(`this is no MCP server: ${whole}`);
  // The client is loaded only for domains that have servers.
  const { listMcpTools } = await import('../../engine/shell/mcp.ts');
  const where = 'url' in server ? server.url : [server.command, ...server.args].join(' ');
  if (given.values['json'] !== true) io.err(`asking ${where} for its tools\n`);
  const listed = await listMcpTools(key, whole, folder !== null && existsSync(folder) ? folder : tmpdir(), {
    environment: io.environment,
  }).catch((error: unknown) => {
    // Ctrl+C ends the server as well, which would look like a fault of its own.
    throw io.signal.aborted ? new UsageError('cancelled: nothing was made') : error;
  });
  if (listed.length === 0)
    throw new UsageError(`the MCP server (${where}) has no tools, so there is nothing to make a domain of`);
  const usable = listed.filter(({ tool }) => !isLeftOut(tool));
  const misnamed = listed.flatMap(({ tool }) => (isLeftOut(tool) ? [tool.name] : []));
  if (usable.length === 0)
    throw new UsageError(
      `the MCP server (${where}) has no tool that a model can be offered: a name is ${JSON.stringify(misnamed[0])}, and not at most 64 letters, digits, dashes and underscores`,
    );
  for (const each of misnamed) io.err(`${JSON.stringify(each)} can be no name of a tool; it is left out\n`);
  const tools = judged(
    usable,
    writesOf(
      given,
      usable.map(({ tool }) => tool.name),
    ),
  );
  if (folder === null || given.values['list'] === true) return listTools(tools, given, io);
  const name = nameOf(folder, given);
  const { written, proof } = await writeWhole(
    folder,
    mcpDomainFiles({ name, now, serverName: key, server, tools }),
    () => gate(folder, { signal: io.signal, onProgress: progress(io) }),
  );
  return tellMade(folder, name, written, tools, proof, given, io);
}

function writesOf(given: Given, known: readonly string[]): readonly string[] | undefined {
  const list = text(given, 'writes');
  if (list === undefined) return undefined;
  const names = list.split(',').flatMap((name) => name.trim() || []);
  const stranger = names.find((name) => !known.includes(name));
  if (stranger !== undefined)
    throw new UsageError(`--writes: the server has no tool "${stranger}"; it has ${known.join(', ')}`);
  return names;
}

function listTools(tools: readonly Judged[], given: Given, io: Io): 0 {
  const rows = tools.map(({ tool: { name, description }, isWrite, isSure }) => ({
    name,
    description,
    isWrite,
    isSure,
  }));
  if (given.values['json'] === true) io.out(`${JSON.stringify({ tools: rows })}\n`);
  else
    for (const { name, isWrite, isSure } of rows)
      io.out(`${isWrite ? 'write' : 'read '}${isSure ? '  ' : '? '} ${name}\n`);
  return 0;
}

function tellMade(
  folder: string,
  name: string,
  files: readonly string[],
  tools: readonly Judged[],
  drafts: readonly Gated[],
  given: Given,
  io: Io,
): 0 | 1 {
  const shown = relative(io.cwd, folder) || '.';
  const isWhole = drafts.every(({ passes }) => passes);
  if (given.values['json'] === true) {
    io.out(`${JSON.stringify({ folder, name, files, tools: tools.length, drafts: drafts.map(gatedRow) })}\n`);
    return isWhole ? 0 : 1;
  }
  const unsure = tools.filter(({ isSure }) => !isSure).length;
  io.out(`made ${name} in ${shown}: ${counted(tools.length, 'tool')}, ${counted(drafts.length, 'draft task')}\n`);
  if (unsure > 0)
    io.out(
      `the server does not say of ${counted(unsure, 'tool')} whether they change anything: look for "review" in ${shown}/domain.yaml\n`,
    );
  io.out(gatedText(drafts.map(gatedRow), io.cwd));
  const first = drafts.find(({ passes }) => passes) ?? drafts[0];
  if (first)
    io.out(
      `next: edit the drafts, then\n  rehearsal run ${shellWord(shown)} ${first.draft.placed.value.id}\n  rehearsal draft accept ${shellWord(shown)} ${first.draft.placed.value.id}\n`,
    );
  return isWhole ? 0 : 1;
}
