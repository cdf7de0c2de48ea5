import { basename, resolve } from 'node:path';
import { requireEmpty } from '../../authoring/domains/newFolder.ts';
import { maskingOptions } from '../conversations/conversations.ts';
import { type Command, defineCommand, refuseMore, refuseStray } from '../options/command.ts';
import { keysOf, optionName } from '../options/option.ts';
import { fromLogs } from '../scaffold/fromLogs.ts';
import { fromSample } from '../scaffold/fromSample.ts';
import { fromServer } from '../scaffold/fromServer.ts';
import { fromTemplate } from '../scaffold/fromTemplate.ts';
import { type NewOptions, newOptions } from '../scaffold/newOptions.ts';
import { sampleNames, templateNames } from '../scaffold/shippedNames.ts';
import { type Io, UsageError } from '../terminal/io.ts';

const defaultNow = '2026-03-02T09:00:00Z';

export const newCommand: Command = defineCommand({
  name: 'new',
  summary: 'make a new domain: from a template, the tools of an MCP server, or recorded conversations',
  usage:
    'FOLDER --template NAME | --sample NAME | --mcp "COMMAND ARGS" | --mcp-url URL | --chats FILE... | --spans FILE... [options]',
  get about() {
    return `
Makes a domain in a folder that is empty or not there yet; nothing is ever overwritten. A template is small and whole:
it passes the audit, and its gold seat gets reward 1 on every task. From an MCP server it starts the server that you
name, lists its tools, and writes the server's declaration, a policy and rules to fill in, and one draft task for each
tool that changes something; then it plays the drafts and says what is left to do. It asks before it starts the server,
and again before it plays drafts whose calls may change something. From recorded conversations it takes
the policy, the system message that most of them have, and simulated tools: those that the log defines, else those that
were called; personal data is masked in part, as by import, which it asks about first. It says what to fill in and what
comes next. A sample is a larger domain, copied as it is.

Templates: ${templateNames().join(', ')}. Samples: ${sampleNames().join(', ')}.
`;
  },
  options: newOptions,
  after: `
Exit code 0: made, and what was played went well. 1: made, and drafts need work or not all could be read. 2: could not
be made.
`,
  run: async (options, positionals, io) => {
    const [from, ...others] = sources.filter((name) => options[name] !== undefined);
    if (from === undefined || others.length > 0)
      throw new UsageError(
        `name a source for the domain: --template NAME (${templateNames().join(', ')}), --sample NAME (${sampleNames().join(', ')}), --mcp "COMMAND", --mcp-url URL, --chats FILE, --spans FILE`,
      );
    const { now, list: isList, sample } = options;
    if (isList && from !== 'mcp' && from !== 'mcpUrl')
      throw new UsageError('--list lists the tools of a server: name one with --mcp or --mcp-url');
    const common = from === 'sample' ? [] : (['name', 'now'] as const);
    refuseStray(options, [from, ...common, ...optionsOf[from]], `--${optionName(from)}`);
    const isLogs = from === 'chats' || from === 'spans';
    if (!isLogs) refuseMore(positionals, 1, newCommand);
    const at = now ?? defaultNow;
    if (isList && positionals[0] === undefined) return fromServer({ to: null, now: at }, options, io);
    const folder = folderOf(positionals, io);
    const to = { folder, name: nameOf(folder, options) };
    if (isLogs) return fromLogs({ ...to, now: at, from }, options, positionals.slice(1), io);
    if (!isList) requireEmpty(folder);
    if (sample !== undefined) return fromSample({ folder, sample }, options.json === true, io);
    if (from === 'template') return fromTemplate({ ...to, template: options.template ?? '', now }, options, io);
    return fromServer({ to, now: at }, options, io);
  },
});

/** The sources a domain can be created from, each with the options that apply only to it. */
const ofLogs = ['format', 'simulator', ...keysOf(maskingOptions)] as const;
const optionsOf = {
  template: [],
  sample: [],
  mcp: ['env', 'files', 'writes', 'list', 'noPlay'],
  mcpUrl: ['header', 'writes', 'list', 'noPlay'],
  chats: ofLogs,
  spans: ofLogs,
} as const satisfies Record<string, readonly (keyof NewOptions)[]>;
const sources = Object.keys(optionsOf) as (keyof typeof optionsOf)[];

function folderOf([named]: readonly string[], { cwd }: Io): string {
  if (!named) throw new UsageError('name the folder of the new domain');
  return resolve(cwd, named);
}

function nameOf(folder: string, options: NewOptions): string {
  const name = options.name?.trim();
  if (name === '') throw new UsageError('--name is empty: name the domain, or leave it out');
  return name ?? basename(folder);
}
