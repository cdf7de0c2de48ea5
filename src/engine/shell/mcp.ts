import { randomBytes, randomUUID } from 'node:crypto';
import { mkdirSync, realpathSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { type HttpServer, type McpServer, type StdioServer, serverSetUpSchema } from '../core/domain.ts';
import type { Json, JsonObject } from '../core/json.ts';
import { exactArguments, losesDigits, rawJson } from '../core/largeIntegers.ts';
import { linearPattern } from '../core/linearPattern.ts';
import type { Media } from '../core/media.ts';
import { pythonLiteral } from '../core/pythonLiteral.ts';
import { withTexts } from '../core/texts.ts';
import { isLeftOut, nameOnServer, type Tool } from '../core/tool.ts';
import { RefusedFile } from './boundedFile.ts';
import { longestLine } from './boundedLines.ts';
import { isAnswerTooLong } from './boundFetch.ts';
import { childEnvironment } from './childEnvironment.ts';
import { copyFiles } from './copyFiles.ts';
import type { Location } from './diagnostic.ts';
import { Fault, messageOf } from './fault.ts';
import { withLastOutput } from './lastOutput.ts';
import { misfitOf } from './load/arguments.ts';
import { inside } from './load/source.ts';
import { McpConnection } from './mcp/connection.ts';
import { isAddressRefused, NotSent, ResultTooLong, ServerError, SessionLost, TimeLimitExceeded } from './mcp/errors.ts';
import { mcpFetch } from './mcp/httpFetch.ts';
import { mismatchOf } from './mcp/outputSchema.ts';
import {
  callProblem,
  culpritOf,
  httpProblem,
  isBroken,
  legacyTransport,
  sharedSession,
  startLimitOf,
  startProblem,
  timeLimitProblem,
  wordsOf,
} from './mcp/problems.ts';
import { dataOf, dataTextOf, type ReadResult, readResult } from './mcp/result.ts';
import { StdioTransport } from './mcp/stdioTransport.ts';
import { type ListedTool, listTools } from './mcp/toolList.ts';
import { isLegacySse, taskRefusal } from './mcp/unsupported.ts';
import { type Filled, fillPlaceholders } from './placeholders.ts';
import { redactedValue } from './secrets.ts';
import type { Reader, SourceCallOptions, SourceResult, ToolSource } from './toolSource.ts';

/** The name of the folder of an instance in declarations, calls and results. */
const instanceFolder = '${instanceFolder}';

type McpStart = {
  readonly environment?: NodeJS.ProcessEnv;
  /** Where the server is declared, for the messages of its faults. */
  readonly at?: Location | undefined;
  /** The date and time of the rollout, for servers that can be given one. */
  readonly now?: string;
  /** Ends a start that is under way, and refuses later ones. */
  readonly signal?: AbortSignal | undefined;
  /** Gets what a person may want to know and no call shows. */
  readonly log?: (text: string) => void;
};

type SendOptions = SourceCallOptions & {
  /** Characters that the result may have; no limit by default. */
  readonly maxLength?: number;
};

/**
 * Connects to an MCP server for one rollout and lists its tools: a stdio server is started as its own process, an HTTP
 * server gets its own session. The server's JSON Schemas are kept verbatim.
 * `${domainFolder}`, `${instanceFolder}` (a fresh folder for this instance alone), `${now}` and `${env:NAME}` are filled
 * in wherever the server is declared. In calls and results `${instanceFolder}` means that folder, whose real path differs from rollout to rollout.
 * A server that cannot be reached, exits or does not answer with MCP is a `Fault` that names it.
 */
export async function startMcpServer(
  name: string,
  server: McpServer,
  folder: string,
  options: McpStart = {},
): Promise<ToolSource> {
  const instance = new McpInstance(name, server, folder, options);
  await instance.open();
  return instance;
}

/** Returns the tools of a server, of all pages of its list. Starts the server for that, and ends it. */
export async function listMcpTools(
  name: string,
  server: McpServer,
  folder: string,
  options: McpStart = {},
): Promise<readonly ListedTool[]> {
  const instance = new McpInstance(name, server, folder, options);
  await instance.open();
  await instance.close();
  return instance.listed;
}

/** Makes a folder whose name is the same in small letters, as some servers write it. */
function makeInstanceFolder(): string {
  const folder = join(tmpdir(), `rehearsal-mcp-${randomBytes(8).toString('hex')}`);
  mkdirSync(folder, { mode: 0o700 });
  return folder;
}

class McpInstance implements ToolSource {
  listed: readonly ListedTool[] = [];
  readonly snapshot?: () => Promise<Json>;
  readonly restore?: (saved: Json) => Promise<void>;
  readonly #name: string;
  #server: McpServer;
  readonly #folder: string;
  readonly #at: Location | undefined;
  readonly #signal: AbortSignal | undefined;
  readonly #log: (text: string) => void;
  readonly #filled: Filled;
  readonly #scratch = makeInstanceFolder();
  /** Its paths, as a server may write them: the folder of temporary files can be a link, or where the server works. */
  readonly #scratchPaths = [...new Set([realpathSync(this.#scratch), this.#scratch, basename(this.#scratch)])];
  #connection: McpConnection | null = null;
  /** Whether a call may have changed what the server keeps for this rollout. */
  #hasChanged = false;
  /** Where an HTTP server is, with the keys that are sent there. */
  #address: { readonly url: URL; readonly headers: Readonly<Record<string, string>> } | null = null;
  #hasFiles = false;
  #lastOutput = '';
  #outputProblem = '';

  constructor(
    name: string,
    server: McpServer,
    folder: string,
    { environment = process.env, at, now, signal, log = () => undefined }: McpStart,
  ) {
    this.#name = name;
    this.#server = server;
    this.#folder = folder;
    this.#at = at;
    this.#signal = signal;
    this.#log = log;
    const values = { domainFolder: folder, instanceFolder: this.#scratch, ...(now === undefined ? {} : { now }) };
    this.#filled = fillPlaceholders(values, environment, (problem) =>
      problem.type === 'unknown'
        ? this.#fault('mcp/placeholder', problem.message)
        : this.#fault(
            'mcp/variable',
            `it needs the environment variable ${problem.variable}, which is not set. Set it, and start again`,
          ),
    );
    const { snapshot, restore } = server;
    if (snapshot) this.snapshot = () => this.#takeSnapshot(snapshot.tool, snapshot.arguments as JsonObject);
    if (restore) {
      this.restore = async (saved) => {
        const value = this.#takesText(restore) ? textOfSnapshot(saved) : valueOfSnapshot(saved);
        await this.#ask('restore', restore.tool, { [restore.argument]: value });
      };
    }
  }

  get tools(): readonly Tool[] {
    return this.listed.map(({ tool }) => tool);
  }

  async open(): Promise<void> {
    try {
      await this.#openSession().catch((error: unknown) => {
        // Nothing has been called in a session that the server forgot, or before a connection broke.
        const isHttp = this.#server.type === 'http';
        if (!(error instanceof SessionLost) && !(isHttp && isBroken(error))) throw error;
        return this.#openSession();
      });
    } catch (error) {
      await this.close();
      throw error instanceof Fault ? this.#named(error) : await this.#startFault(error);
    }
  }

  async #openSession(): Promise<void> {
    const connection = new McpConnection();
    const signal = this.#signal;
    const cut = () => connection.cut(signal?.reason as Error);
    signal?.addEventListener('abort', cut, { once: true });
    try {
      signal?.throwIfAborted();
      const server = this.#server;
      const transport = server.type === 'http' ? this.#http(server, connection) : this.#stdio(server);
      await connection.open(transport, server.type === 'http' ? server.url : '', startLimitOf(server));
      const listed = await this.#list(connection);
      signal?.throwIfAborted();
      // A server may echo what it was given in a description or a schema.
      this.listed = redactedValue(withTexts(listed, (text) => this.#masked(text)));
      if (connection.sharesSession && this.#keepsState) throw this.#fault(...sharedSession);
      this.#connection = connection;
    } catch (error) {
      await connection.close();
      // The other rollout has ended the session.
      throw connection.sharesSession && error instanceof SessionLost ? this.#fault(...sharedSession) : error;
    } finally {
      signal?.removeEventListener('abort', cut);
    }
  }

  /** Whether what one call does may matter to a later one or to the reward. */
  get #keepsState(): boolean {
    const { state, reader } = this.#server;
    return state !== 'none' || reader !== undefined || this.tools.some(({ effect }) => effect === 'write');
  }

  #tool(name: string): Tool | undefined {
    return this.listed.find(({ tool }) => tool.name === name && !isLeftOut(tool))?.tool;
  }

  #list(connection: McpConnection): Promise<readonly ListedTool[]> {
    const server = { name: this.#name, declared: this.#server };
    return listTools(connection, server, this.#server.timeoutMs, (code, what) => this.#fault(code, what));
  }

  async call(name: string, args: JsonObject, options: SourceCallOptions = {}): Promise<SourceResult> {
    const tool = this.#tool(name);
    const problem = tool ? misfitOf(tool, args) : `there is no tool named "${name}"`;
    if (problem) return { content: `Error: ${problem}`, isError: true, isUnchanged: true };
    const {
      data: _,
      dataText: __,
      ...result
    } = await this.#send(name, args, {
      ...options,
      maxLength: longestResultOf(this.#server),
    });
    return result;
  }

  async read(reader: Reader | undefined = this.#server.reader as Reader | undefined): Promise<Json> {
    if (!reader)
      throw this.#fault(
        'mcp/no-reader',
        `an assertion looks into its state, but domain.yaml declares no reader. Add "reader: { tool: ... }" to mcpServers.${this.#name}`,
      );
    const result = await this.#ask('reader', reader.tool, reader.arguments);
    const { lines } = reader;
    const state = lines === undefined ? this.#dataOf(reader.tool, result) : dataOf({ content: result.content });
    if (typeof state !== 'string') return state;
    return lines === undefined ? (pythonLiteral(state) ?? state) : rowsIn(state, lines);
  }

  /** Starts the server again where its files or arguments are other ones, and makes the calls. */
  async setUp(data: Json): Promise<void> {
    const read = serverSetUpSchema.safeParse(data);
    if (!read.success) throw this.#setUpFault(read.error.issues.map(({ message }) => message).join('; '));
    const { files, args, calls } = read.data;
    if (files !== undefined || args !== undefined) {
      const server = this.#server;
      if (server.type === 'http')
        throw this.#setUpFault('a server that runs already gets calls, but no files and args');
      await this.#drop();
      this.#server = { ...server, ...(files === undefined ? {} : { files }), ...(args === undefined ? {} : { args }) };
      if (files !== undefined) {
        rmSync(this.#scratch, { recursive: true, force: true });
        mkdirSync(this.#scratch, { mode: 0o700 });
        this.#hasFiles = false;
      }
      await this.open();
    }
    for (const { tool, arguments: given } of calls) {
      const { content, isError } = await this.call(tool, given as JsonObject);
      if (isError) throw this.#setUpFault(`${tool} failed: ${content}`);
      this.#hasChanged = true;
    }
  }

  #setUpFault(what: string): Fault {
    const problem = what.replace(/[.\s]+$/, '');
    return this.#fault('mcp/set-up', `setUp of the task: ${problem}. Correct setUp.${this.#name} of the task`);
  }

  async close(): Promise<void> {
    await this.#drop();
    rmSync(this.#scratch, { recursive: true, force: true });
  }

  async #send(
    name: string,
    args: JsonObject,
    options: SendOptions,
  ): Promise<SourceResult & Pick<ReadResult, 'data' | 'dataText'>> {
    const tool = this.#tool(name);
    const argument = tool?.idempotencyKey;
    // The engine's own calls have no key, and a server may refuse a call without the argument.
    const { signal, idempotencyKey = argument === undefined ? undefined : randomUUID() } = options;
    const timeoutMs = options.timeoutMs ?? tool?.timeoutMs ?? this.#server.timeoutMs;
    const placed = withTexts(args, (text) => text.replaceAll(instanceFolder, this.#scratch));
    const keyed = argument && idempotencyKey ? { ...placed, [argument]: idempotencyKey } : placed;
    const meta = idempotencyKey ? { _meta: { 'rehearsal/idempotency-key': idempotencyKey } } : {};
    // The engine's own calls may name a tool that no seat is offered.
    const request = {
      name: tool ? nameOnServer(tool) : name,
      arguments: exactArguments(tool?.parameters ?? {}, keyed),
      ...meta,
    };
    try {
      const result = await this.#called(request, tool, { ...options, timeoutMs });
      const mismatch = tool && mismatchOf(tool, result);
      if (this.#connection?.takeChangedTools())
        this.#log(`MCP server "${this.#name}": after ${name}, the list of its tools has changed. ${changedTools}`);
      return {
        content: this.#shown(result.content),
        isError: result.isError,
        ...(result.media ? { media: result.media.map((media) => this.#shownMedia(media)) } : {}),
        ...(mismatch === undefined ? {} : { mismatch: this.#shown(mismatch) }),
        ...(result.data === undefined ? {} : { data: withTexts(result.data, (text) => this.#shown(text)) }),
        ...(result.dataText === undefined ? {} : { dataText: this.#shown(result.dataText) }),
      };
    } catch (error) {
      if (error instanceof ServerError || error instanceof ResultTooLong || isAnswerTooLong(error))
        return { content: `Error: ${this.#shown(wordsOf(error))}`, isError: true };
      if (signal?.aborted) throw error;
      throw await this.#callFault(name, timeoutMs, error);
    }
  }

  /** Calls a tool, and again on a fresh server where the call did not reach the old one, and nothing was in that. */
  async #called(
    request: { readonly name: string },
    tool: Tool | undefined,
    { timeoutMs, signal, maxLength }: SendOptions & { readonly timeoutMs: number },
  ): Promise<ReadResult> {
    const isWrite = tool?.effect === 'write';
    const make = async () => {
      if (!this.#connection || this.#connection.isClosed) throw new NotSent();
      const { resetTimeoutOnProgress = false } = this.#server;
      const sent = await this.#connection.callTool(request, { timeoutMs, signal, resetTimeoutOnProgress });
      const refusal = taskRefusal(request.name, sent);
      return refusal === null ? readResult(sent, maxLength) : { content: refusal, isError: true };
    };
    let isExecuted = true;
    try {
      return await make().catch(async (error: unknown) => {
        isExecuted = !(error instanceof SessionLost || error instanceof NotSent);
        // A fresh server may take the place of this one where nothing of the rollout is lost with it.
        if (isExecuted || this.#hasChanged) throw error;
        await this.#drop();
        await this.open();
        isExecuted = true;
        return make();
      });
    } finally {
      this.#hasChanged ||= isWrite && isExecuted;
    }
  }

  /** Returns a text of the server without secrets, and with the placeholder for the folder of this instance. */
  #shown(text: string): string {
    return this.#masked(this.#filled.redact(text));
  }

  #shownMedia({ mimeType, data, uri }: Media): Media {
    return { mimeType, data: this.#filled.redact(data), ...(uri === undefined ? {} : { uri: this.#shown(uri) }) };
  }

  /** A text of the server with the placeholder in place of the folder of this instance. */
  #masked(text: string): string {
    return this.#scratchPaths.reduce((masked, path) => masked.replaceAll(path, instanceFolder), text);
  }

  /** Makes a call of the engine itself, whose result is data. `maxResultLength` is a limit for agents. */
  async #ask(
    purpose: string,
    tool: string,
    args: JsonObject,
  ): Promise<Pick<ReadResult, 'content' | 'data' | 'dataText'>> {
    const result = await this.#send(tool, args, {});
    if (result.isError) throw this.#fault(`mcp/${purpose}`, `its ${purpose} ${tool} failed: ${result.content}`);
    return result;
  }

  #dataOf(tool: string, result: Pick<ReadResult, 'content' | 'data'>): Json {
    return dataOf(result, this.#tool(tool)?.outputSchema);
  }

  /** A snapshot goes back to the server, so it stays the text that it was where a number would change. */
  async #takeSnapshot(tool: string, args: JsonObject): Promise<Json> {
    const result = await this.#ask('snapshot', tool, args);
    const text = dataTextOf(result, this.#tool(tool)?.outputSchema);
    return losesDigits(text) ? text : this.#dataOf(tool, result);
  }

  #takesText({ tool, argument }: { readonly tool: string; readonly argument: string }): boolean {
    const { properties } = this.#tool(tool)?.parameters ?? {};
    return ((properties as JsonObject | undefined)?.[argument] as JsonObject | undefined)?.type === 'string';
  }

  /** Copies the start state once: a server that is started again in the same rollout keeps its files. */
  #copyFiles(files: string): void {
    if (this.#hasFiles) return;
    const from = inside(this.#folder, files);
    if (from === null) throw this.#fault('mcp/files', `files: ${files} is outside of the domain's folder`);
    try {
      copyFiles(from, this.#scratch, this.#folder);
      this.#hasFiles = true;
    } catch (error) {
      const hint = error instanceof RefusedFile ? error.hint : 'Check that the folder exists and can be read.';
      throw this.#fault('mcp/files', `files: ${files} cannot be copied (${messageOf(error)}). ${hint}`);
    }
  }

  #stdio(server: StdioServer): Transport {
    const { fill } = this.#filled;
    if (server.files !== undefined) this.#copyFiles(server.files);
    const declared = Object.entries(server.env).map(([key, value]) => [key, fill(value)]);
    const program = {
      command: fill(server.command),
      args: server.args.map((arg) => fill(arg)),
      env: { ...childEnvironment(), ...Object.fromEntries(declared) },
      cwd: this.#startFolder(server.cwd && fill(server.cwd)),
    };
    return new StdioTransport(program, {
      onStderr: (text) => {
        this.#lastOutput = (this.#lastOutput + text).slice(-400);
      },
      onNoise: () => {
        this.#outputProblem =
          '. It writes lines to standard output that are not MCP messages. Let it write its log to standard error';
      },
      onTooLong: () => {
        this.#outputProblem = `. It printed more than ${longestLine} characters without a line feed`;
      },
    });
  }

  /** Returns the folder that a command is started in. A relative one is in the folder of the domain. */
  #startFolder(named: string | undefined): string {
    const folder = resolve(this.#folder, named ?? '');
    if (statSync(folder, { throwIfNoEntry: false })?.isDirectory()) return folder;
    throw this.#fault(
      'mcp/cwd',
      `cwd: ${named ?? folder} is not a folder. Correct mcpServers.${this.#name}.cwd in domain.yaml`,
    );
  }

  #http(server: HttpServer, connection: McpConnection): Transport {
    const { fill, fillUrl } = this.#filled;
    const at = this.#at ? `${this.#at.file}:${this.#at.line}` : 'domain.yaml';
    const sentIn = (part: string) => ({
      url: server.url,
      namedBy: `${at}: ${part} of the MCP server "${this.#name}"`,
    });
    const url = new URL(fillUrl(server.url, sentIn('the url')));
    if (url.username !== '' || url.password !== '')
      throw this.#fault(
        'mcp/url',
        'its url has a user name or a password, which cannot be sent. Write headers: { Authorization: "Basic ${env:NAME}" } in domain.yaml, where NAME holds both in base64',
      );
    const headers = Object.fromEntries(
      Object.entries(server.headers).map(([key, value]) => [key, fill(value, sentIn('a header'))]),
    );
    this.#address = { url, headers };
    return new StreamableHTTPClientTransport(url, {
      requestInit: { headers },
      fetch: mcpFetch({
        onCut: (error) => connection.cut(error),
        onInterrupted: () => {
          connection.isInterrupted = true;
        },
      }),
    }) as Transport;
  }

  async #startFault(error: unknown): Promise<Fault> {
    const server = this.#server;
    if (server.type !== 'http') return this.#fault(...startProblem(server, error));
    if (this.#address && isAddressRefused(error) && (await isLegacySse(this.#address.url, this.#address.headers)))
      return this.#fault(...legacyTransport(withoutQuery(this.#address.url.href)));
    return this.#fault(...httpProblem(server, null, error, this.#filled.variables()));
  }

  async #callFault(tool: string, timeoutMs: number, error: unknown): Promise<Fault> {
    if (error instanceof Fault) return this.#named(error);
    if (error instanceof TimeLimitExceeded) return this.#fault(...timeLimitProblem(tool, error.limitMs ?? timeoutMs));
    const server = this.#server;
    if (server.type !== 'http') {
      await this.#drop();
      return this.#fault(...callProblem(tool, error));
    }
    const fault = this.#fault(...httpProblem(server, tool, error, this.#filled.variables()));
    // A session outlives its connections: only a server that does not know it any more has lost it.
    if (fault.failure.code === 'mcp/session') await this.#drop();
    return fault;
  }

  /** An answer that is too long is the failure of this server. */
  #named(fault: Fault): Fault {
    return isAnswerTooLong(fault) ? this.#fault('mcp/too-long', fault.message) : fault;
  }

  #fault(code: string, what: string): Fault {
    const server = this.#server;
    const where = server.type === 'http' ? withoutQuery(server.url) : [server.command, ...server.args].join(' ');
    const text = withLastOutput(
      `MCP server "${this.#name}" (${where}): ${what}${this.#outputProblem}`,
      this.#lastOutput,
    );
    const place = this.#at ? { file: this.#at.file, line: this.#at.line } : {};
    return new Fault({ who: culpritOf(code), code, message: this.#filled?.redact(text) ?? text, ...place });
  }

  async #drop(): Promise<void> {
    const connection = this.#connection;
    this.#connection = null;
    await connection?.close();
  }
}

/** A list of tools holds from the start of a run to its end: every rollout of it has the same tools. */
const changedTools =
  'The agent keeps the tools that were listed at the start. If it needs the others, log in by env, args or headers, so that the first list has them';

/** Returns how many characters a result of a call by an agent may have. */
const longestResultOf = ({ maxResultLength = 10 * 1024 * 1024 }: McpServer) => maxResultLength;

const textOfSnapshot = (saved: Json) => (typeof saved === 'string' ? saved : JSON.stringify(saved));

/** A snapshot with a number that is too large is the text that the server gave. */
const valueOfSnapshot = (saved: Json) =>
  typeof saved === 'string' && losesDigits(saved) ? (rawJson(saved) as Json) : saved;

/** Returns an address as it is recorded. A query or a password may hold a key that was written there. */
function withoutQuery(url: string): string {
  const shown = new URL(url);
  return `${shown.origin}${shown.pathname}`;
}

/** The rows of a state in text: the named groups of each line that the pattern matches. */
function rowsIn(text: string, lines: string): Json {
  const pattern = linearPattern(lines);
  return text.split(/\r?\n/).flatMap((line) => {
    const row = pattern.groups(line);
    return row ? [row] : [];
  });
}
