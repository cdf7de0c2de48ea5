import { stringify } from 'yaml';
import { type DomainFile, domainFileSchema, type McpServer } from '../../engine/core/domain/domain.ts';
import type { Tool } from '../../engine/core/domain/tool.ts';
import { excerpt } from '../../engine/core/text/excerpt.ts';
import { leavesOf } from '../../engine/core/text/value.ts';
import type { Json, JsonObject } from '../../engine/core/values/json.ts';
import { misfitOf } from '../../engine/shell/load/arguments.ts';
import { yamlScalar } from '../../engine/shell/source/edit.ts';
import { draftText } from '../draftText.ts';
import { taskIdFor } from '../writtenDomain.ts';
import { exampleArguments, spacedName } from './exampleArguments.ts';
import type { FoundReader, UnsteadyReader } from './findReader.ts';
import { type Judged, rehearsedTools } from './judgedTools.ts';
import type { Files } from './newFolder.ts';

/** A server as a person named it: the keys of `mcpServers` that are not left to their defaults. */
export type GivenServer =
  | {
      readonly command: string;
      readonly args: readonly string[];
      readonly env: Readonly<Record<string, string>>;
      /** The folder in the domain that holds its start state. */
      readonly files?: string;
    }
  | { readonly type: 'http'; readonly url: string; readonly headers: Readonly<Record<string, string>> };

/** A given server with everything that a declaration has. */
export function declared(name: string, server: GivenServer): McpServer | string {
  const parsed = domainFileSchema.safeParse({ name, mcpServers: { [name]: server } });
  if (parsed.success) return (parsed.data as DomainFile).mcpServers[name] as McpServer;
  const [issue] = parsed.error.issues;
  return issue?.message ?? 'it is not a server';
}

/** Returns the default name of a server: the word of its command or address that distinguishes it from others. */
export function serverName(server: GivenServer): string {
  if ('url' in server) return hostWord(new URL(server.url).hostname);
  const words = [server.command, ...server.args];
  // A version such as mcp<2 is that of a library.
  const isNamed = (word: string) => !word.startsWith('-') && !/[<>=]/.test(word);
  // A folder on the way to a file, as in /home/ann/mcp/data, tells nothing of the server.
  const isServer = (word: string) =>
    /server|mcp/i.test(/^(?:[\\/]|[A-Za-z]:|\$\{)/.test(word) ? (partsOf(word).at(-1) ?? word) : word);
  const own = words.findLast((word) => isServer(word) && isNamed(word)) ?? server.args.find(isNamed) ?? server.command;
  const parts = partsOf(own);
  const plain = (parts.at(-1) ?? own)
    .replace(/@[\d.^~a-z-]*$/i, '')
    .replace(/\.\w{1,4}$/, '')
    .replace(/(?:^|[-_])(?:mcp|server)(?=$|[-_])/gi, '')
    .replace(/[^A-Za-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '');
  return plain === '' ? 'server' : plain;
}

/** The parts of a path that can name a server. */
const partsOf = (path: string) =>
  path.split(/[\\/]/).filter((part) => !/^(?:dist|build|src|index\.\w+|main\.\w+|mcp|node_modules)$/.test(part));

/** `mcp.example.com` is "example"; an address in digits says nothing. */
function hostWord(host: string): string {
  const words = host.split('.').filter((word) => !/^(?:www|mcp|api|localhost|\d+|\[.*)$/.test(word));
  return (words.length > 1 ? words.at(-2) : words[0]) ?? 'server';
}

export type McpDomainOptions = {
  readonly name: string;
  readonly now: string;
  readonly serverName: string;
  readonly server: GivenServer;
  readonly tools: readonly Judged[];
  /** The call that reads the server's state, if one was found. */
  readonly reader?: FoundReader | null;
  /** A tool that may show the state and whose results cannot be compared. */
  readonly unsteady?: UnsteadyReader | null;
};

/** Returns the files of a domain whose tools are those of a server; a person then edits them. */
export function mcpDomainFiles(options: McpDomainOptions): Files {
  const { tools, serverName: server, reader = null } = options;
  const writes = tools.filter(({ isWrite }) => isWrite);
  const rehearsed = rehearsedTools(tools);
  const taken = new Set<string>();
  return {
    'domain.yaml': domainText(options),
    'policy.md': policyText(options.name, tools),
    'rules.yaml': rulesText(writes.length > 0),
    'personas/plain.persona.yaml': plainPersonaText,
    ...Object.fromEntries(
      rehearsed.map(({ tool }) => {
        const id = taskIdFor(tool.name, taken);
        // A state that rollouts share is not the same at the start of each.
        const source = reader?.shows.includes(tool.name) && !reader.isShared ? server : null;
        return [`tasks/${id}.task.yaml`, taskText(id, tool, source, reader?.misses[tool.name])];
      }),
    ),
  };
}

const yaml = (value: unknown) => stringify(value, { lineWidth: 0, aliasDuplicateObjects: false });
const indented = (text: string, by: string) => text.replace(/^(?=.)/gm, by);

function domainText({
  name,
  now,
  serverName: server,
  server: given,
  tools,
  reader,
  unsteady,
}: McpDomainOptions): string {
  const isOwn = !('url' in given);
  const keys = Object.fromEntries(
    Object.entries(given).filter(([, value]) => typeof value === 'string' || Object.keys(value).length > 0),
  );
  const effects = tools.flatMap(({ tool, isWrite, isSure }) => {
    const mark = isSure
      ? ''
      : ' # review: the server does not say whether it changes anything; its name is not one that reads';
    return isWrite ? [`      - ${yamlScalar(tool.name)}${mark}`] : [];
  });
  const open = tools.filter(({ isWrite, isSure }) => !isWrite && !isSure).map(({ tool }) => tool.name);
  // Such a server begins each rollout with an empty folder, so the same calls bring it to the same state.
  const isRepeatable = isOwn && JSON.stringify(given).includes('${instanceFolder}');
  return [
    `name: ${yamlScalar(name)}`,
    `description: Works with the MCP server ${server}.`,
    `now: ${JSON.stringify(now)} # the date that the agent sees`,
    'turnCap: 20',
    '',
    'mcpServers:',
    `  ${yamlScalar(server)}:`,
    indented(yaml(keys), '    ').trimEnd(),
    '    # How a fork gets back to an earlier state. `replay`: the recorded calls are made again on a fresh server; use it',
    `    # where every rollout has its own server and folder${isOwn ? ' (${instanceFolder} in args and env)' : ''}.`,
    `    state: ${isRepeatable ? 'replay' : 'none'}`,
    ...(reader ? readerLines(reader) : []),
    ...(reader ? [] : openReaderLines(readersOf(tools), unsteady ?? null)),
    ...(effects.length > 0
      ? ['    writes: # tools that change something', ...effects]
      : ['    writes: [] # tools that change something']),
    ...(open.length > 0
      ? [`    # review: the server does not say that these only read, and their names sound so: ${open.join(', ')}`]
      : []),
    '',
  ].join('\n');
}

function readerLines({ tool, arguments: args, volatile, shows, isShared, rows }: FoundReader): readonly string[] {
  const declared = { tool, ...givenArguments(args), ...(rows ? { rows } : {}) };
  return [
    `    # The state of the server: the result of ${tool} changed when ${shows.join(', ')} ${shows.length > 1 ? 'were' : 'was'} called.`,
    indented(yaml({ reader: declared }), '    ').trimEnd(),
    ...(volatile.length > 0
      ? [`    # Fields that differed between two fresh servers.`, `    volatile: ${JSON.stringify(volatile)}`]
      : []),
    ...(isShared
      ? [
          '    # What was written was still there when the server was started again, so rollouts use it one at a time. Bring it',
          '    # to its start by setUp.<server>.calls of each task; then assertions can check its state.',
          '    sharedState: true',
        ]
      : []),
  ];
}

/** Comments that offer readers, and say why the likeliest of them is not declared. */
function openReaderLines(names: readonly string[], unsteady: UnsteadyReader | null): readonly string[] {
  if (unsteady === null)
    return names.length === 0
      ? []
      : [
          '    # The tool whose result is the state. Assertions of tasks look into it. Take out the # and choose one:',
          ...names.map((name) => `    # reader: { tool: ${yamlScalar(name)} }`),
        ];
  const { tool, shows, isText } = unsteady;
  const others = shows.length > 0 ? [] : names.filter((name) => name !== tool);
  return [
    ...unsteadyLines(unsteady).map((line) => `    # ${line}`),
    ...(isText
      ? [`    # reader: { tool: ${yamlScalar(tool)}, lines: '(?<id>\\S+) (?<name>.+)' }`, '    # volatile: [id]']
      : [`    # reader: { tool: ${yamlScalar(tool)} }`]),
    ...others.map((name) => `    # reader: { tool: ${yamlScalar(name)} }`),
  ];
}

/** Returns why a tool is not the reader, and what to do. */
function unsteadyLines({ tool, shows, isText }: UnsteadyReader): readonly string[] {
  const what = isText ? 'text' : 'data';
  return [
    ...(shows.length > 0
      ? [
          `The result of ${tool} changed when ${shows.join(', ')} ${shows.length > 1 ? 'were' : 'was'} called. It also differs from server to server, as`,
          `${what} with ids or times does, so two states cannot be compared, and the drafts check calls only.`,
        ]
      : [
          `The result of ${tool} differs from call to call, as ${what} with ids or times does, so two states cannot be`,
          'compared, and the drafts check calls only.',
        ]),
    isText
      ? 'To check the state, name the parts of a line in lines, and those that differ in volatile. Then take out the #:'
      : 'To check the state, take out the # and write assertions that do not name what differs:',
  ];
}

/** Tools that a reader can be, the likeliest first: three names are enough to choose from. */
function readersOf(tools: readonly Judged[]): readonly string[] {
  const names = tools
    .filter(({ tool, isWrite }) => !isWrite && takesNothing(tool.parameters))
    .map(({ tool }) => tool.name);
  const likely = [/graph|state|dump|everything|_all/i, /^(?:\w+_)?list|list$/i, /^(?:\w+_)?(?:read|get|show|export)/i];
  return [...new Set(likely.flatMap((pattern) => names.filter((name) => pattern.test(name))))].slice(0, 3);
}

function takesNothing(parameters: JsonObject): boolean {
  return !Array.isArray(parameters.required) || parameters.required.length === 0;
}

/** The first sentence of a description, on one line. */
function firstSentence(text: string): string {
  const plain = text.replace(/\s+/g, ' ').trim();
  return excerpt(/^.*?[.!?](?=\s|$)/.exec(plain)?.[0] ?? plain, 200);
}

function policyText(name: string, tools: readonly Judged[]): string {
  const named = (list: readonly Judged[]) => list.map(({ tool }) => `\`${tool.name}\``);
  const writes = named(tools.filter(({ isWrite }) => isWrite));
  const all = tools.map(({ tool }) => {
    const said = firstSentence(tool.description);
    return `- \`${tool.name}\`${said === '' ? '' : `: ${said}`}`;
  });
  const last = writes.at(-1);
  const listed = writes.length > 1 ? `${writes.slice(0, -1).join(', ')} or ${last}` : last;
  return [
    `# ${name}`,
    '',
    'You help people with what your tools can do. Say here who you are, who you talk to, and what you never do.',
    '',
    '## What you can do',
    '',
    ...all,
    '',
    '## How you work',
    '',
    ...(listed === undefined
      ? []
      : [
          `- Before you call ${listed}, say exactly what you are about to do and wait for a yes. {#confirm-before-write}`,
        ]),
    '- Make one tool call per message. {#one-call}',
    '',
  ].join('\n');
}

function rulesText(hasWrites: boolean): string {
  const confirm = `- rule: confirm-before-write
  check: confirmed
  tools: writes
  gate: true

`;
  return `# What a machine can check of policy.md: \`rule\` is the id mark of a rule there. Breaking one with \`gate: true\` makes the
# reward 0; the others show in the report card.
${hasWrites ? confirm : ''}- rule: one-call
  check: oneCall
`;
}

/** A persona to begin with. */
export const plainPersonaText = `id: plain
description: Somebody who says what they want and answers what they are asked.
`;

/**
 * @param source the server whose state shows what the tool changes, or null
 * @param unseen arguments of the call that the state does not show
 */
function taskText(
  id: string,
  { name: tool, description, ...rest }: Tool,
  source: string | null,
  unseen: readonly string[] = [],
): string {
  const args = exampleArguments(rest);
  // What nothing was found for, as a pattern that no text fits, is left to the person.
  const misfit = misfitOf({ name: tool, description, ...rest }, args);
  const known = factsIn(args);
  const what = spacedName(tool);
  const said = Object.values(known).map(String).join(', ');
  const call = { tool, ...givenArguments(args) };
  const needsReceipt = source === null || unseen.length > 0;
  const task = {
    id,
    draft: true,
    description: `${firstSentence(description) || `Calls ${tool}.`}${misfit === null ? '' : ` TODO: ${misfit}`}`,
    split: 'train',
    persona: 'plain',
    user: {
      goal: `You want this done: ${what}${said === '' ? '' : ` (${said})`}.`,
      opening: `Please ${what}${said === '' ? '' : `: ${said}`}.`,
      ...(Object.keys(known).length > 0 ? { known } : {}),
    },
    actions: [call],
    ...(source === null ? {} : { assertions: [{ in: source, sameAs: 'gold' }] }),
    ...(needsReceipt ? { receipts: [call] } : {}),
    ...demanded([...(source === null ? [] : ['assertions']), ...(needsReceipt ? ['receipts'] : [])]),
  };
  return draftText(
    [task],
    [
      `A draft from the server's description of ${tool}. Write a real request with real values, then accept it.`,
      ...(source === null
        ? [
            'The reward checks receipts: calls that succeeded. With a `reader` in domain.yaml it can check the state:',
            'replace receipts by assertions. `npx rehearsal help docs/mcp-cookbook` has examples.',
          ]
        : [`The reward is 1 if the state of ${source} is as after the gold actions.`]),
      ...(source !== null && unseen.length > 0
        ? [`The state does not show ${unseen.join(', ')}, so the call must have these arguments, too.`]
        : []),
    ],
  );
}

const demanded = (verifiers: readonly string[]) => ({ evaluate: verifiers, train: verifiers });

/** The key `arguments` of a call in a file; no key where the call has none. */
export function givenArguments(args: JsonObject): { readonly arguments?: JsonObject } {
  return Object.keys(args).length > 0 ? { arguments: args } : {};
}

/** Returns what the user must know for a call: each value of its arguments, under the name that it has there. */
export function factsIn(args: JsonObject): Readonly<Record<string, string | number | boolean>> {
  const facts: Record<string, string | number | boolean> = {};
  const add = (name: string, value: Json): void => {
    if (Array.isArray(value)) for (const each of value) add(name, each);
    else if (typeof value === 'object' && value !== null)
      for (const [key, each] of Object.entries(value)) add(key, each);
    else if (value !== null && !Object.values(facts).includes(value)) facts[freeName(facts, name)] = value;
  };
  for (const [name, value] of Object.entries(args)) if (leavesOf(value).length > 0) add(name, value);
  return facts;
}

function freeName(taken: Readonly<Record<string, unknown>>, name: string): string {
  let free = name;
  for (let number = 2; Object.hasOwn(taken, free); number++) free = `${name}_${number}`;
  return free;
}
