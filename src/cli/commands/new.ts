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
  summary: 'create a domain from a template, the tools of an MCP server, or recorded conversations',
  usage:
    'FOLDER --template NAME | --sample NAME | --mcp "COMMAND ARGS" | --mcp-url URL | --chats FILE... | --spans FILE... [options]',
  get about() {
    return `
Creates a domain in an empty folder, or in one that does not exist. It never overwrites files.

--template copies a small, complete domain: it passes the audit, and the gold seat gets reward 1 on every task.
--sample copies a larger domain.

--mcp and --mcp-url start or reach an MCP server and list its tools. They write the declaration of the server, a policy
and rules to fill in, and a draft task for each tool that changes something. Then they run the drafts and report what is
left to do. They ask before they start the server, and again before they run drafts whose calls may change something.

--chats and --spans read recorded conversations. The policy is the system message that most conversations have. The
tools are simulated: those that the log defines, otherwise those that were called. As in import, the command asks first,
and then masks part of the personal data. It reports what to fill in and the next steps.

Templates: ${templateNames().join(', ')}. Samples: ${sampleNames().join(', ')}.
`;
  },
  options: newOptions,
  after: `
Exit code 0: created without problems. 1: created, but drafts need work or some conversations could not be read. 2: not
created.
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
