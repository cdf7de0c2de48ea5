import { basename, resolve } from 'node:path';
import { requireEmpty } from '../../authoring/domains/newFolder.ts';
import { isDate } from '../../engine/shell/checks/checkState.ts';
import { type Command, type Given, refuseMore, refuseStray, text } from '../options/command.ts';
import { fromLogs } from '../scaffold/fromLogs.ts';
import { fromSample, sampleNames } from '../scaffold/fromSample.ts';
import { fromServer } from '../scaffold/fromServer.ts';
import { fromTemplate, templateNames } from '../scaffold/fromTemplate.ts';
import { type Io, UsageError } from '../terminal/io.ts';

const defaultNow = '2026-03-02T09:00:00Z';

export const newCommand: Command = {
  name: 'new',
  summary: 'make a new domain: from a template, the tools of an MCP server, or recorded conversations',
  // Read when somebody asks: every other command would wait for these files as well.
  get help() {
    return `rehearsal new FOLDER --template NAME | --sample NAME | --mcp "COMMAND ARGS" | --mcp-url URL | --chats FILE... | --spans FILE... [options]

Makes a domain in a folder that is empty or not there yet; nothing is ever overwritten. A template is small and whole:
it passes the audit, and its gold seat gets reward 1 on every task. From an MCP server it starts the server that you
name, lists its tools, and writes the server's declaration, a policy and rules to fill in, and one draft task for each
tool that changes something; then it plays the drafts and says what is left to do. It asks before it starts the server,
and again before it plays drafts whose calls may change something. From recorded conversations it takes
the policy, the system message that most of them have, and simulated tools: those that the log defines, else those that
were called; personal data is masked in part, as by import, which it asks about first. It says what to fill in and what
comes next. A sample is a larger domain, copied as it is.

Templates: ${templateNames()}. Samples: ${sampleNames().join(', ')}.

  --template NAME    the template
  --sample NAME      the sample domain, such as order-desk, which the tutorial uses
  --mcp "COMMAND"    the command that starts a server, with its arguments: "npx -y some-server --flag"
  --mcp-url URL      the address of a server that runs already (Streamable HTTP)
  --env NAME=VALUE   environment of that command; \${env:NAME} is filled in from yours when it starts, and
                     \${instanceFolder} is a fresh folder for each rollout (can be given several times)
  --files FOLDER     files that the server starts from: they are copied into the domain, and from there into the
                     \${instanceFolder} of each rollout, so the folder itself is never changed
  --header NAME=VALUE  header of every request to that address (can be given several times)
  --writes NAMES     the server's tools that change something, with commas between, or none (default: what the
                     server says, and by their names where it says nothing; those are marked for review)
  --chats FILE       conversations as \`npx rehearsal import chats\` reads them; more files can follow the folder
  --spans FILE       conversations as \`npx rehearsal import spans\` reads them
  --format NAME      the format of these files (default: by their shape)
  --simulator MODEL  openai:MODEL[@BASE_URL], which answers for the tools of the log (default: left to fill in)
  --seed TEXT        what stand-ins for personal data are drawn from; keep it secret (default: a secret of this machine)
  --keep-personal-data  mask nothing
  --recogniser NAME, --python PATH  what finds names in free text, as import takes it
  --yes              make it without the question whether masking in part is enough
  --no-play          write the drafts and call no tool
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
    sample: { type: 'string' },
    mcp: { type: 'string' },
    'mcp-url': { type: 'string' },
    env: { type: 'string', multiple: true },
    header: { type: 'string', multiple: true },
    files: { type: 'string' },
    writes: { type: 'string' },
    chats: { type: 'string', multiple: true },
    spans: { type: 'string', multiple: true },
    format: { type: 'string' },
    simulator: { type: 'string' },
    seed: { type: 'string' },
    'keep-personal-data': { type: 'boolean' },
    yes: { type: 'boolean' },
    recogniser: { type: 'string' },
    python: { type: 'string' },
    list: { type: 'boolean' },
    'no-play': { type: 'boolean' },
    name: { type: 'string' },
    now: { type: 'string' },
  },
  run: async (given, io) => {
    const [from, ...others] = sources.filter((name) => given.values[name] !== undefined);
    if (from === undefined || others.length > 0)
      throw new UsageError(
        'name a source for the domain: --template NAME, --sample NAME, --mcp "COMMAND", --mcp-url URL, --chats FILE, --spans FILE',
      );
    const now = text(given, 'now');
    if (now !== undefined && !isDate(now))
      throw new UsageError(`--now is a date and time such as 2026-03-02T09:00:00Z, not "${now}"`);
    const isList = given.values['list'] === true;
    if (isList && from !== 'mcp' && from !== 'mcp-url')
      throw new UsageError('--list lists the tools of a server: name one with --mcp or --mcp-url');
    const common = from === 'sample' ? [] : ['name', 'now'];
    refuseStray(given, [from, ...common, ...optionsOf[from]], `--${from}`);
    const isLogs = from === 'chats' || from === 'spans';
    if (!isLogs) refuseMore(given, 1, newCommand);
    const at = now ?? defaultNow;
    if (isList && given.positionals[0] === undefined) return fromServer({ to: null, now: at }, given, io);
    const folder = folderOf(given, io);
    const to = { folder, name: nameOf(folder, given) };
    if (isLogs) return fromLogs({ ...to, now: at, from }, given, io);
    if (!isList) requireEmpty(folder);
    const sample = text(given, 'sample');
    if (sample !== undefined) return fromSample({ folder, sample }, given.values['json'] === true, io);
    if (from === 'template') return fromTemplate({ ...to, template: text(given, from) ?? '', now }, given, io);
    return fromServer({ to, now: at }, given, io);
  },
};

/** The sources a domain can be created from, each with the options that apply only to it. */
const optionsOf = {
  template: [],
  sample: [],
  mcp: ['env', 'files', 'writes', 'list', 'no-play'],
  'mcp-url': ['header', 'writes', 'list', 'no-play'],
  chats: ['format', 'simulator', 'seed', 'keep-personal-data', 'yes', 'recogniser', 'python'],
  spans: ['format', 'simulator', 'seed', 'keep-personal-data', 'yes', 'recogniser', 'python'],
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
