import * as z from 'zod';
import { type Lexicon, lexiconSchema } from '../dialogue/lexicon.ts';
import { isTimeZone, timeZones } from '../text/calendar.ts';
import { linearPattern } from '../values/linearPattern.ts';
import { timeLimitSchema } from '../values/timeLimit.ts';
import type { Database } from '../world/database.ts';
import { benchmarks } from './benchmark.ts';
import { dialects, usualDialect } from './dialect.ts';
import { fieldComparisonSchema } from './fieldComparison.ts';
import { seatSettingsSchema } from './modelSettings.ts';
import type { Persona } from './persona.ts';
import type { Phrases } from './phrases.ts';
import type { Rule } from './rule.ts';
import { type SourceKey, sourceKeys } from './sources/sourceKind.ts';
import type { Task } from './task.ts';
import { callLimitsSchema, isToolName, type Tool } from './tool.ts';

const externalStates = ['snapshot', 'replay', 'none'] as const;

const externalStateSchema = z
  .enum(externalStates)
  .default('none')
  .describe('How a fork restores an earlier state: from a snapshot, by repeating the recorded calls, or not at all.');

function hasGroups(source: string): boolean {
  try {
    return linearPattern(source).groupNames.length > 0;
  } catch {
    return false;
  }
}

const serverKeys = {
  state: externalStateSchema,
  snapshot: z
    .strictObject({
      tool: z.string().describe('Name of the tool.'),
      arguments: z.record(z.string(), z.json()).default({}).describe('Arguments of the call.'),
      rows: z
        .boolean()
        .optional()
        .describe(
          'As under `reader`: whether each text of its result is a row. The snapshot is then a list, which `restore` gets as a list, or as its JSON where the argument is a text.',
        ),
    })
    .optional()
    .describe(
      'With `state: snapshot`: a tool whose result is the whole state of this server. A single file or picture is a snapshot as its Base64.',
    ),
  restore: z
    .strictObject({
      tool: z.string().describe('Name of the tool.'),
      argument: z.string().describe('The argument that takes the state.'),
    })
    .optional()
    .describe('With `state: snapshot`: a tool that restores such a result, passed in this argument.'),
  reader: z
    .strictObject({
      tool: z.string().describe('Name of the tool.'),
      arguments: z.record(z.string(), z.json()).default({}).describe('Arguments of the call.'),
      lines: z
        .string()
        .refine(hasGroups, 'expected a regular expression with named groups, such as "^(?<kind>\\w+) (?<name>.+)$"')
        .optional()
        .describe(
          'For a result that is a text: a regular expression with named groups. Each line that it matches is an object of the state, which is then a list; the groups are its fields.',
        ),
      rows: z
        .boolean()
        .optional()
        .describe(
          'For a tool without an output schema: whether each text of its result is a row of the state, which is then a list. FastMCP returns lists in this way: without `rows`, one row would be an object, and zero rows an empty text.',
        ),
    })
    .refine(({ lines, rows }) => lines === undefined || rows === undefined, 'expected lines or rows, and not both')
    .optional()
    .describe(
      'A read tool whose result is the state of this server, for assertions. JSON, and lists and dictionaries as Python prints them, are read as data.',
    ),
  rename: z
    .record(z.string(), z.string().refine(isToolName, 'expected at most 64 letters, digits, dashes and underscores'))
    .optional()
    .describe(
      'Names for tools of this server, by their names on the server, such as { search: find_order }. Everything else in the domain and in recordings uses the new name; the server gets its own.',
    ),
  prefix: z
    .string()
    .regex(/^[A-Za-z0-9_-]{1,32}$/, 'expected at most 32 letters, digits, dashes and underscores')
    .optional()
    .describe('Prefix for the names of all tools of this server that are not under `rename`, such as shop_.'),
  writes: z.array(z.string()).default([]).describe('Tools of this server that change something.'),
  volatile: z
    .array(z.string().min(1))
    .optional()
    .describe(
      'Fields of its results and its state that differ from rollout to rollout, such as ids, clocks and hashes: names, or paths such as notes.*.etag. The audit compares them up to a renaming, and compares the rows of a list that is named here in any order. If you name a tool whose result differs each time, such as a random number, the audit does not compare two calls of it.',
    ),
  sharedState: z
    .boolean()
    .optional()
    .describe(
      'Whether all instances or sessions of the server share one state. Rollouts then use the server one at a time, and `setUp.NAME.calls` of each task resets it. The audit finds such servers.',
    ),
  idempotent: z.array(z.string()).default([]).describe('Tools that can be called again after an interrupted call.'),
  timeoutMs: timeLimitSchema.default(30_000).describe('Milliseconds after which a call times out.'),
  resetTimeoutOnProgress: z
    .boolean()
    .optional()
    .describe('Whether each progress notification of a call starts its time limit again. Not by default.'),
  maxTotalTimeoutMs: timeLimitSchema
    .optional()
    .describe(
      'With `resetTimeoutOnProgress`: milliseconds that a call may take in total. By default 10 times its time limit.',
    ),
  maxResultLength: z
    .int()
    .min(1000)
    .max(50 * 1024 * 1024)
    .optional()
    .describe(
      'Characters of the longest result of a call by the agent, with its media: by default 10 MiB (10485760). A longer one is an error that the agent sees.',
    ),
  maxMessageSize: z
    .int()
    .min(1_000_000)
    .max(500_000_000)
    .optional()
    .describe(
      'Bytes of the longest answer over HTTP, or characters of the longest line over stdio: by default 64 MB (64000000). A longer result is an error that the agent sees.',
    ),
  tools: z.record(z.string(), callLimitsSchema).default({}).describe('Limits of single tools, by name.'),
};

const stdioServerSchema = z.strictObject({
  type: z
    .literal('stdio')
    .default('stdio')
    .describe('A server that is started as a program and speaks over its standard input and output.'),
  command: z
    .string()
    .describe(
      '`${domainFolder}`, `${instanceFolder}` (a fresh folder for each rollout), `${now}` (the date and time of the rollout) and `${env:NAME}` are filled in here, in args, env and cwd.',
    ),
  args: z.array(z.string()).default([]).describe('Arguments of the command.'),
  env: z.record(z.string(), z.string()).default({}).describe('Environment variables of the server.'),
  cwd: z.string().optional().describe('Folder in which the command starts; by default that of the domain.'),
  files: z
    .string()
    .min(1)
    .optional()
    .describe('A folder in the domain whose files are copied into `${instanceFolder}` before the server starts.'),
  ...serverKeys,
});

const httpServerSchema = z.strictObject({
  type: z
    .enum(['http', 'streamable-http'])
    .default('http')
    .transform(() => 'http' as const)
    .describe('A running server that speaks Streamable HTTP. Optional if there is a `url`.'),
  url: z
    .url({ protocol: /^https?$/ })
    .describe(
      'Address of the server, for example http://127.0.0.1:8000/mcp. `${env:NAME}` and the other placeholders are filled in after the host, percent-encoded.',
    ),
  headers: z
    .record(z.string(), z.string())
    .default({})
    .describe('Sent with every request. `${env:NAME}` is the value of an environment variable and is never recorded.'),
  ...serverKeys,
});

/** Returns how a server with the older transport is reached. */
export const sseBridge = (url: string): string =>
  `Use the address of its Streamable HTTP endpoint, or declare a bridge in place of type: and url: command: npx, args: [-y, mcp-remote, ${url}, --transport, sse-only]`;

/** Refuses the older transport by its name in other configurations, so that no form of a server is taken for it. */
const mcpServerSchema = z.preprocess(
  (given, context) => {
    const { type, url = 'URL' } = (given ?? {}) as { readonly type?: unknown; readonly url?: unknown };
    if (type !== 'sse') return given;
    const message = 'this is the older transport HTTP+SSE, and Rehearsal speaks Streamable HTTP';
    const params = { hint: `${sseBridge(String(url).replace(/[?#].*/, ''))}.` };
    context.issues.push({ code: 'custom', path: ['type'], input: type, message, params });
    return z.NEVER;
  },
  z.union([stdioServerSchema, httpServerSchema]),
);

/** The setup of an MCP server by a task: `setUp.NAME` of the task. */
export const serverSetUpSchema = z.strictObject({
  files: z
    .string()
    .min(1)
    .optional()
    .describe('A folder in the domain whose files `${instanceFolder}` has, in place of those of the server.'),
  args: z.array(z.string()).optional().describe('Arguments of the command, in place of those of the server.'),
  calls: z
    .array(
      z.strictObject({
        tool: z.string().describe('Name of the tool.'),
        arguments: z.record(z.string(), z.json()).default({}).describe('Arguments of the call.'),
      }),
    )
    .default([])
    .describe('Calls that are made before the conversation begins. They are not part of it.'),
});

export type StdioServer = z.infer<typeof stdioServerSchema>;
export type HttpServer = z.infer<typeof httpServerSchema>;
export type McpServer = StdioServer | HttpServer;

const environmentSchema = z.strictObject({
  file: z
    .string()
    .optional()
    .describe('The Python file, in the folder of the domain, that defines one rehearsal.Environment.'),
  adapter: z
    .enum(benchmarks)
    .optional()
    .describe("Instead of a file: an adapter of Rehearsal for a benchmark's own environment."),
  settings: z.record(z.string(), z.string()).default({}).describe('What the adapter needs; an import writes it.'),
  python: z.string().optional().describe('The interpreter that has the packages of the environment.'),
  state: z
    .enum([...externalStates, 'database'])
    .default('none')
    .describe(
      'How a fork gets back to an earlier state. `database`: the state is the database of this domain, so it needs no restoring; adapters only.',
    ),
  timeoutMs: timeLimitSchema.default(30_000).describe('Milliseconds after which a call times out.'),
  tools: z.record(z.string(), callLimitsSchema).default({}).describe('Limits of single tools, by name.'),
});
export type PythonEnvironment = z.infer<typeof environmentSchema>;

/** `domain.yaml`. */
export const domainFileSchema = z.strictObject({
  name: z.string().describe('Name of the domain. Recordings contain it.'),
  description: z.string().default('').describe('For people: what this domain is about.'),
  now: z.string().default('2026-01-05T09:00:00Z').describe('Date and time at which tasks happen, ISO 8601.'),
  timeZone: z
    .string()
    .refine(isTimeZone, { error: 'the name of a time zone', params: { values: timeZones } })
    .optional()
    .describe('The time zone in which rules and assertions count days, such as Europe/Berlin; UTC by default.'),
  turnCap: z.int().min(1).max(1000).default(30).describe('Number of agent turns after which a rollout ends.'),
  callCap: z
    .int()
    .min(1)
    .optional()
    .describe('Maximum number of agent responses with calls to one message of the user; unlimited by default.'),
  callsPerResponse: z
    .int()
    .min(1)
    .optional()
    .describe('Number of calls of one response that are made; the rest is dropped. All by default.'),
  unreadableCalls: z
    .enum(['fail', 'failAll', 'endTurn', 'endRollout'])
    .optional()
    .describe(
      'What happens to a response with a call whose arguments are not a JSON object. `fail`, the default: that call fails. `failAll`: all its calls fail. `endTurn`: none of its calls is made, and the user speaks next. `endRollout`: the rollout ends with reward 0.',
    ),
  callSyntax: z
    .enum(['python'])
    .optional()
    .describe(
      'How a benchmark writes calls. `python`: arguments that ACEBench cannot read as those of a Python call count as unreadable too.',
    ),
  userEnds: z
    .boolean()
    .optional()
    .describe(
      'Whether the user still answers the response that reaches the turn cap, and can end the rollout properly with that answer.',
    ),
  toolErrorCap: z.int().min(1).default(10).describe('Number of tool errors after which a rollout ends.'),
  messageCap: z
    .int()
    .min(1)
    .optional()
    .describe(
      'Number of messages after the first at which a rollout ends and is scored. The results of one response count as one message.',
    ),
  closing: z
    .string()
    .optional()
    .describe('Words with which either seat ends the conversation, except in its first three messages.'),
  guard: z
    .boolean()
    .optional()
    .describe(
      'Whether answers of a model that plays the user are checked before they become a turn. True by default. Imports set `false`, because their benchmarks check nothing.',
    ),
  stopWords: z
    .array(z.string().min(1))
    .optional()
    .describe(
      'Words with which a model that plays the user ends the conversation, exactly as written and anywhere in a message. They replace the default words, and the engine then takes no stop back.',
    ),
  policy: z.string().default('policy.md').describe('What the agent must follow, in Markdown.'),
  rules: z.string().default('rules.yaml').describe("Machine checks of the policy's rules. The file is optional."),
  phrases: z.string().default('phrases.yaml').describe('Phrases that the rules look for. The file is optional.'),
  tools: z
    .string()
    .default('tools.ts')
    .refine((file) => !file.endsWith('.py'), 'This is a file in Python. Write `pythonTools` in place of `tools`')
    .describe('Tools in TypeScript. The file is optional.'),
  pythonTools: z.string().default('tools.py').describe('Tools in Python. The file is optional.'),
  python: z.string().optional().describe('The interpreter of the tools in Python, 3.10 or newer; by default python3.'),
  network: z
    .boolean()
    .optional()
    .describe(
      'Whether code of the domain (TypeScript, Python, environments) needs the network. Its sandbox then has network access, which a person must approve before the first start. False by default.',
    ),
  simulatedTools: z.string().default('tools').describe('Folder of tools that a model simulates, *.tool.yaml.'),
  simulator: z
    .string()
    .optional()
    .describe('The model that answers for simulated tools: openai:MODEL or openai:MODEL@BASE_URL.'),
  personas: z.string().default('personas').describe('Folder of the simulated users, *.persona.yaml.'),
  tasks: z.string().default('tasks').describe('Folder of the tasks, *.task.yaml.'),
  database: z.string().default('database.json').describe('The rows that every rollout starts from.'),
  userDatabase: z
    .string()
    .optional()
    .describe("The user's side of the database, for domains in which the user has tools."),
  mcpServers: z
    .record(z.string(), mcpServerSchema)
    .default({})
    .describe('MCP servers whose tools the agent has, by name.'),
  environments: z
    .record(z.string(), environmentSchema)
    .default({})
    .describe('Existing environments in Python whose tools the agent has, by name.'),
  compare: fieldComparisonSchema
    .optional()
    .describe('Fields of the databases, states and results that are not compared exactly.'),
  agent: z
    .string()
    .default('gold')
    .describe("The agent's seat by default: gold, scripted, human, a model, or agent:FILE."),
  user: z
    .union([
      z.string(),
      z.strictObject({
        train: z.string().default('agenda').describe('The seat in rollouts of the basis `train`.'),
        evaluate: z.string().default('agenda').describe('The seat in rollouts of the basis `evaluate`.'),
      }),
    ])
    .default('agenda')
    .describe("The user's seat by default: agenda, scripted, human, or a model; or one for each purpose."),
  models: seatSettingsSchema
    .optional()
    .describe(
      'Request settings of the models, for each seat. The command line and a debug configuration can also set them.',
    ),
  dialect: z
    .enum(dialects)
    .default(usualDialect)
    .describe(
      'How tools and calls are written for a trained model: its own chat template, a short form for small models (compact), or the template if it shows tools (auto).',
    ),
  toolTimeoutMs: timeLimitSchema.default(10_000).describe('Milliseconds after which a call of a tool times out.'),
  greeting: z.string().optional().describe("The agent's first words, said before the user's; none by default."),
  lexicon: lexiconSchema
    .prefault({})
    .describe('What people call the facts and tools of this domain, and how the seats phrase proposals and refusals.'),
});
export type DomainFile = z.infer<typeof domainFileSchema>;

/** Returns who plays the user by default in rollouts of a basis. */
export function userSeatFor({ user }: Pick<DomainFile, 'user'>, basis: 'train' | 'evaluate'): string {
  return typeof user === 'string' ? user : user[basis];
}

/** A rule of the policy: a list item or heading that carries an id mark, with its lines in the file (from 1). */
export type PolicyRule = {
  readonly id: string;
  readonly text: string;
  readonly line: number;
  readonly endLine: number;
};

export type Policy = {
  /** The text the agent's seat gets: the file with its id marks taken out. */
  readonly text: string;
  readonly rules: readonly PolicyRule[];
  readonly hash: string;
};

/** The description that an environment gives of itself if its state is the domain's database. */
export type HostedEnvironment = {
  /** Its name in domain.yaml. */
  readonly name: string;
  readonly sync: boolean;
  /** Whether its `sync` also runs between gold actions. */
  readonly goldSyncs: boolean;
  /** Whether gold actions are played on their own instance: its state is more than its rows tell. */
  readonly goldApart?: boolean;
  readonly prompts: HostedPrompts;
};

/** Texts for the seats: `agent` with {policy} in it, `user` with {instructions}. */
type SeatPrompts = { readonly agent?: string; readonly user?: string };

export type HostedPrompts = SeatPrompts & {
  /** Texts for the tasks that name them. */
  readonly kinds?: Readonly<Record<string, SeatPrompts>>;
  /** The greeting that only a model that plays the user receives, before its first words. */
  readonly greeting?: string;
};

/** The environment's own text for a seat in a task. */
export function hostedPrompt({ hosted }: Domain, { prompt }: Task, seat: 'agent' | 'user'): string | undefined {
  const { prompts = {} } = hosted ?? {};
  return (prompt === undefined ? undefined : prompts.kinds?.[prompt]?.[seat]) ?? prompts[seat];
}

/** Returns what domain.yaml declares about a tool source; undefined for an unknown name. */
export function declaredSource(
  file: Pick<DomainFile, SourceKey>,
  name: string,
): DomainFile[SourceKey][string] | undefined {
  const key = sourceKeys.find((each) => file[each][name] !== undefined);
  return key && file[key][name];
}

/** The names of the sources under each key whose state assertions can read. */
const readable: Readonly<Record<SourceKey, (file: Pick<DomainFile, SourceKey>) => readonly string[]>> = {
  mcpServers: ({ mcpServers }) => Object.entries(mcpServers).flatMap(([name, { reader }]) => (reader ? [name] : [])),
  environments: ({ environments }) => Object.keys(environments),
};

/** Returns the names of the tool sources whose state assertions can read. */
export const readableSources = (file: Pick<DomainFile, SourceKey>): readonly string[] =>
  sourceKeys.flatMap((key) => readable[key](file));

/** The name of the environment that works on the domain's own database, or null. */
export function hostedName({ environments }: Pick<DomainFile, 'environments'>): string | null {
  return Object.entries(environments).find(([, { state }]) => state === 'database')?.[0] ?? null;
}

/** Everything of a domain but the behaviour of its tools. Frozen data; crosses process borders. */
export type Domain = {
  readonly name: string;
  readonly file: DomainFile;
  readonly policy: Policy;
  readonly rules: readonly Rule[];
  readonly tools: readonly Tool[];
  /** The tools come with a `sync` that keeps both sides of the world in step. */
  readonly sync?: boolean;
  /** The environment that works on this domain's database, once it has described itself. */
  readonly hosted?: HostedEnvironment;
  readonly personas: readonly Persona[];
  readonly tasks: readonly Task[];
  readonly lexicon: Lexicon;
  readonly phrases: Phrases;
  readonly hash: string;
};

/** Both sides of the world, as immutable values. */
export type World = { readonly agent: Database; readonly user: Database };
