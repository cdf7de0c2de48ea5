import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport, StreamableHTTPError } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { ErrorCode, McpError } from '@modelcontextprotocol/sdk/types.js';
import type { HttpServer, McpServer, StdioServer } from '../core/domain.ts';
import type { Json, JsonObject } from '../core/json.ts';
import { declaredLimits, type Tool } from '../core/tool.ts';
import { childEnvironment } from './childEnvironment.ts';
import type { Location } from './diagnostic.ts';
import { Fault, messageOf } from './fault.ts';
import { withLastWords } from './lastWords.ts';
import { misfitOf } from './load/arguments.ts';
import { type Filled, fillPlaceholders } from './placeholders.ts';
import { watchedFetch } from './streamWatch.ts';
import type { SourceCallOptions, SourceResult, ToolSource } from './toolSource.ts';
import { version } from './version.ts';

const broken = 'the connection broke before the answer';
/** More pages of tools than any server has. */
const mostPages = 1000;

type McpStart = {
  readonly environment?: NodeJS.ProcessEnv;
  /** Where the server is declared, for what is said of its faults. */
  readonly at?: Location | undefined;
};

/**
 * Connects to an MCP server for one rollout and lists its tools: a stdio server is started as its own process, an HTTP
 * server gets a session of its own. The server's JSON Schemas are kept verbatim.
 * `${domainFolder}`, `${instanceFolder}` (a fresh folder for this instance alone) and `${env:NAME}` are filled in.
 * A server that can't be reached, dies or prints rubbish is a `Fault` of the environment that names it.
 */
export async function startMcpServer(
  name: string,
  server: McpServer,
  folder: string,
  { environment = process.env, at }: McpStart = {},
): Promise<ToolSource> {
  const instance = new McpInstance(name, server, folder, environment, at);
  await instance.open();
  return instance;
}

/** A tool as a server lists it, with what the server says of its effect: undefined where it says nothing. */
export type ListedTool = { readonly tool: Tool; readonly isReadOnly: boolean | undefined };

/** The tools of a server, of all pages of its list. It is started for that, and ends again. */
export async function listMcpTools(
  name: string,
  server: McpServer,
  folder: string,
  options: McpStart = {},
): Promise<readonly ListedTool[]> {
  const instance = new McpInstance(name, server, folder, options.environment ?? process.env, options.at);
  await instance.open();
  await instance.close();
  return instance.tools.map((tool) => ({ tool, isReadOnly: instance.readOnlyHints.get(tool.name) }));
}

class McpInstance implements ToolSource {
  tools: readonly Tool[] = [];
  /** What the server says of its tools, by name. */
  readonly readOnlyHints = new Map<string, boolean | undefined>();
  readonly snapshot?: () => Promise<Json>;
  readonly restore?: (saved: Json) => Promise<void>;
  readonly #name: string;
  readonly #server: McpServer;
  readonly #folder: string;
  readonly #at: Location | undefined;
  readonly #filled: Filled;
  readonly #scratch = mkdtempSync(join(tmpdir(), 'rehearsal-mcp-'));
  /** Rejections of the calls under way, for a connection that breaks without the client noticing. */
  readonly #pending = new Set<(error: Error) => void>();
  #client: Client | null = null;
  #lastWords = '';
  #rubbish = '';

  constructor(name: string, server: McpServer, folder: string, environment: NodeJS.ProcessEnv, at?: Location) {
    this.#name = name;
    this.#server = server;
    this.#folder = folder;
    this.#at = at;
    const folders = { domainFolder: folder, instanceFolder: this.#scratch };
    this.#filled = fillPlaceholders(folders, environment, (missing) =>
      this.#fault(
        'mcp/variable',
        `it needs the environment variable ${missing}, which is not set. Set it, and start again`,
      ),
    );
    const { snapshot, restore } = server;
    if (snapshot) this.snapshot = () => this.#ask('snapshot', snapshot.tool, snapshot.arguments as JsonObject);
    if (restore) {
      this.restore = async (saved) => {
        const value = this.#takesText(restore) && typeof saved !== 'string' ? JSON.stringify(saved) : saved;
        await this.#ask('restore', restore.tool, { [restore.argument]: value });
      };
    }
  }

  async open(): Promise<void> {
    const client = new Client({ name: 'rehearsal', version });
    client.onerror = (error) => {
      if (error instanceof SyntaxError || error.name === 'ZodError')
        this.#rubbish = '; it prints text that is no MCP message on its standard output';
      if (/^Maximum reconnection attempts/.test(error.message)) this.#cut();
    };
    try {
      const server = this.#server;
      const transport = server.type === 'http' ? this.#http(server) : this.#stdio(server);
      await client.connect(transport, { timeout: server.timeoutMs });
      this.tools = await this.#listed(client);
      this.#client = client;
    } catch (error) {
      await client.close().catch(() => undefined);
      await this.close();
      throw error instanceof Fault ? error : this.#startFault(error);
    }
  }

  /** The tools of all pages of the server's list. */
  async #listed(client: Client): Promise<readonly Tool[]> {
    const found: Tool[] = [];
    const seen = new Set<string>();
    let cursor: string | undefined;
    do {
      const page = await client.listTools(cursor === undefined ? {} : { cursor }, { timeout: this.#server.timeoutMs });
      found.push(...page.tools.map((tool) => described(this.#name, this.#server, tool)));
      for (const { name, annotations } of page.tools) this.readOnlyHints.set(name, saidReadOnly(annotations));
      cursor = page.nextCursor;
      if (cursor !== undefined && (seen.has(cursor) || seen.size >= mostPages))
        throw this.#fault('mcp/endless-list', 'the list of its tools has no end: it goes on from page to page');
      if (cursor !== undefined) seen.add(cursor);
    } while (cursor !== undefined);
    return found;
  }

  async call(name: string, args: JsonObject, options: SourceCallOptions = {}): Promise<SourceResult> {
    const tool = this.tools.find((each) => each.name === name);
    const problem = tool ? misfitOf(tool, args) : `there is no tool named "${name}"`;
    if (problem) return { content: `Error: ${problem}`, isError: true };
    // Only a server that keeps nothing for this rollout may be a fresh one in the middle of it.
    if (!this.#client && this.#server.state === 'none') await this.open();
    return this.#send(name, args, options);
  }

  async read(): Promise<Json> {
    const { reader } = this.#server;
    if (!reader)
      throw this.#fault(
        'mcp/no-reader',
        `an assertion looks into its state, but domain.yaml declares no reader. Add "reader: { tool: ... }" to mcpServers.${this.#name}`,
      );
    return this.#ask('reader', reader.tool, reader.arguments as JsonObject);
  }

  async close(): Promise<void> {
    await this.#drop();
    rmSync(this.#scratch, { recursive: true, force: true });
  }

  async #send(name: string, args: JsonObject, options: SourceCallOptions): Promise<SourceResult> {
    const { signal, idempotencyKey, timeoutMs = this.#server.timeoutMs } = options;
    const argument = this.tools.find((tool) => tool.name === name)?.idempotencyKey;
    const keyed = argument && idempotencyKey ? { ...args, [argument]: idempotencyKey } : args;
    const meta = idempotencyKey ? { _meta: { 'rehearsal/idempotency-key': idempotencyKey } } : {};
    const request = { name, arguments: keyed as Record<string, unknown>, ...meta };
    const cut = Promise.withResolvers<never>();
    this.#pending.add(cut.reject);
    try {
      if (!this.#client) throw new Error('its connection is closed');
      const answer = this.#client.callTool(request, undefined, { timeout: timeoutMs, ...(signal ? { signal } : {}) });
      const result = await Promise.race([answer, cut.promise]);
      return { content: this.#filled.redact(textOf(result)), isError: result.isError === true };
    } catch (error) {
      if (error instanceof McpError && error.code === ErrorCode.InvalidParams)
        return { content: `Error: ${this.#filled.redact(error.message)}`, isError: true };
      if (signal?.aborted) throw error;
      throw await this.#callFault(name, timeoutMs, error);
    } finally {
      this.#pending.delete(cut.reject);
    }
  }

  /** A call of the engine's own, whose result is data. */
  async #ask(purpose: string, tool: string, args: JsonObject): Promise<Json> {
    const { content, isError } = await this.#send(tool, args, {});
    if (isError) throw this.#fault(`mcp/${purpose}`, `its ${purpose} ${tool} failed: ${content}`);
    try {
      return JSON.parse(content) as Json;
    } catch {
      return content;
    }
  }

  #takesText({ tool, argument }: { readonly tool: string; readonly argument: string }): boolean {
    const { properties } = this.tools.find(({ name }) => name === tool)?.parameters ?? {};
    return ((properties as JsonObject | undefined)?.[argument] as JsonObject | undefined)?.type === 'string';
  }

  #stdio(server: StdioServer): Transport {
    const { fill } = this.#filled;
    const declared = Object.entries(server.env).map(([key, value]) => [key, fill(value)]);
    const transport = new StdioClientTransport({
      command: fill(server.command),
      args: server.args.map(fill),
      env: { ...childEnvironment(), ...Object.fromEntries(declared) },
      cwd: server.cwd ? fill(server.cwd) : this.#folder,
      stderr: 'pipe',
    });
    transport.stderr?.on('data', (chunk: Buffer) => {
      this.#lastWords = (this.#lastWords + chunk.toString()).slice(-400);
    });
    return transport;
  }

  #http(server: HttpServer): Transport {
    const { fill } = this.#filled;
    const headers = Object.fromEntries(Object.entries(server.headers).map(([key, value]) => [key, fill(value)]));
    return new StreamableHTTPClientTransport(new URL(server.url), {
      requestInit: { headers },
      fetch: watchedFetch(() => this.#cut()),
    }) as Transport;
  }

  #cut(): void {
    for (const reject of this.#pending) reject(new Error(broken));
  }

  #startFault(error: unknown): Fault {
    if (this.#server.type === 'http') return this.#httpFault(null, error);
    return this.#fault('mcp/start', `could not be started (${messageOf(error)}). Check the command`);
  }

  async #callFault(tool: string, timeoutMs: number, error: unknown): Promise<Fault> {
    if (error instanceof Fault) return error;
    if (error instanceof McpError && error.code === ErrorCode.RequestTimeout)
      return this.#fault('mcp/timeout', `${tool} did not answer within ${timeoutMs / 1000} s`);
    // The server said so itself: the connection is whole.
    if (error instanceof McpError && error.code !== ErrorCode.ConnectionClosed)
      return this.#fault('mcp/error', `${tool} has no result (${messageOf(error)})`);
    if (this.#server.type === 'http') {
      const fault = this.#httpFault(tool, error);
      // A session outlives its connections: only a server that does not know it any more has lost it.
      if (fault.failure.code === 'mcp/session') await this.#drop();
      return fault;
    }
    await this.#drop();
    return this.#fault('mcp/died', `${tool} has no result (${messageOf(error)})`);
  }

  /** Each way an HTTP server can fail, with what to do about it. */
  #httpFault(tool: string | null, error: unknown): Fault {
    const what = tool === null ? '' : `${tool} has no result: `;
    const status = error instanceof StreamableHTTPError ? error.code : undefined;
    const variables = this.#filled.variables();
    if (error instanceof McpError && error.code === ErrorCode.RequestTimeout)
      return this.#fault('mcp/timeout', `it did not answer within ${this.#server.timeoutMs / 1000} s`);
    if (status === 401 || status === 403) {
      const check = variables.length > 0 ? ` and the value of ${variables.join(', ')}` : '';
      return this.#fault(
        'mcp/refused',
        `${what}it refuses the request (${status}). Check headers in domain.yaml${check}`,
      );
    }
    if (status === 404 && tool !== null)
      return this.#fault(
        'mcp/session',
        `${what}it no longer knows this session, so what it kept for the rollout is gone`,
      );
    if (status !== undefined && status > 0)
      return this.#fault('mcp/error', `${what}it answers ${status} (${messageOf(error)})`);
    const cause = (error as { cause?: { code?: string } }).cause?.code;
    if (cause === 'ECONNREFUSED' || cause === 'ENOTFOUND')
      return this.#fault(
        'mcp/unreachable',
        `${what}it can't be reached (${cause}). Is it running, and is the url right?`,
      );
    const isBroken = error instanceof TypeError && /fetch failed|terminated/.test(error.message);
    return this.#fault('mcp/died', `${what}${isBroken ? broken : messageOf(error)}`);
  }

  #fault(code: string, what: string): Fault {
    const server = this.#server;
    const where = server.type === 'http' ? server.url : [server.command, ...server.args].join(' ');
    const text = withLastWords(`MCP server "${this.#name}" (${where}): ${what}${this.#rubbish}`, this.#lastWords);
    const place = this.#at ? { file: this.#at.file, line: this.#at.line } : {};
    return new Fault({ who: 'environment', code, message: this.#filled?.redact(text) ?? text, ...place });
  }

  async #drop(): Promise<void> {
    const client = this.#client;
    this.#client = null;
    await client?.close().catch(() => undefined);
  }
}

type Listed = Awaited<ReturnType<Client['listTools']>>['tools'][number];

/** What a server says of a tool's effect. `destructiveHint` is about a tool that changes something, so it says that it does. */
function saidReadOnly(said: Listed['annotations']): boolean | undefined {
  return said?.readOnlyHint ?? (said?.destructiveHint === true ? false : undefined);
}

function described(server: string, declared: McpServer, tool: Listed): Tool {
  const limits = declared.tools[tool.name] ?? {};
  const isWrite = declared.writes.includes(tool.name) || saidReadOnly(tool.annotations) === false;
  const isIdempotent = declared.idempotent.includes(tool.name) || tool.annotations?.idempotentHint === true;
  return {
    name: tool.name,
    description: tool.description ?? '',
    parameters: withoutKey(tool.inputSchema as unknown as JsonObject, limits.idempotencyKey),
    effect: isWrite ? 'write' : 'read',
    owner: 'agent',
    source: { type: 'mcp', server },
    timeoutMs: limits.timeoutMs ?? declared.timeoutMs,
    idempotent: limits.idempotent ?? isIdempotent,
    ...declaredLimits(limits),
  };
}

/** The schema without the argument that the engine fills. */
function withoutKey(schema: JsonObject, key: string | undefined): JsonObject {
  if (key === undefined) return schema;
  const { [key]: _, ...properties } = (schema.properties ?? {}) as JsonObject;
  const required = Array.isArray(schema.required) ? { required: schema.required.filter((name) => name !== key) } : {};
  return { ...schema, properties, ...required };
}

/** What the agent sees of a result; structured content where a server does not also say it as a text, as it should. */
function textOf({ content, structuredContent }: Awaited<ReturnType<Client['callTool']>>): string {
  const given = Array.isArray(content) ? (content as readonly { type: string; text?: string }[]) : [];
  const hasText = given.some(({ type, text }) => type === 'text' && text);
  const isNeeded = structuredContent !== undefined && structuredContent !== null && !hasText;
  const parts = isNeeded ? [{ type: 'text', text: JSON.stringify(structuredContent) }, ...given] : given;
  return parts.map((part) => (part.type === 'text' ? (part.text ?? '') : JSON.stringify(part))).join('\n');
}
