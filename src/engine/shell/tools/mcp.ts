import { randomUUID } from 'node:crypto';
import { type McpServer, type StdioServer, serverSetUpSchema } from '../../core/domain/domain.ts';
import { listRestored } from '../../core/domain/listRestored.ts';
import { isLeftOut, nameOnServer, type Tool } from '../../core/domain/tool.ts';
import type { Json, JsonObject } from '../../core/values/json.ts';
import { type Attachments, attachmentsOf } from '../../core/values/media.ts';
import { withTexts } from '../../core/values/texts.ts';
import { longestMs } from '../../core/values/timeLimit.ts';
import type { Location } from '../files/diagnostic.ts';
import { Fault } from '../files/fault.ts';
import { AnswerTooLong } from '../keys/boundFetch.ts';
import { fillPlaceholders } from '../keys/placeholders.ts';
import { redacted, redactedNumber, redactedValue, secretNames } from '../keys/secrets.ts';
import { misfitOf } from '../load/arguments.ts';
import { sentArguments } from '../load/exactErrors.ts';
import { McpConnection, namesSession } from '../mcp/connection.ts';
import type { Declared } from '../mcp/declared.ts';
import {
  isRefused,
  isUnexpectedBody,
  NotSent,
  OtherAnswer,
  ResultTooLong,
  ServerBusy,
  ServerError,
  SessionLost,
  TimeLimitExceeded,
  UnreadableAnswer,
} from '../mcp/errors.ts';
import { type Address, addressOf, httpTransport, withoutQuery } from '../mcp/httpTransport.ts';
import { InstanceFolder } from '../mcp/instanceFolder.ts';
import { mismatchOf } from '../mcp/outputSchema.ts';
import {
  callProblem,
  culpritOf,
  errorTextForAgent,
  httpProblem,
  isBroken,
  isMisunderstood,
  legacyTransport,
  otherAnswerProblem,
  type Problem,
  sharedSession,
  startLimitOf,
  startProblem,
  timeLimitProblem,
  tooLongProblem,
  versionProblem,
} from '../mcp/problems.ts';
import { type ReadResult, readResult } from '../mcp/result.ts';
import { SecretSnapshots } from '../mcp/secretSnapshots.ts';
import { ServerOutput } from '../mcp/serverOutput.ts';
import { stdioTransport } from '../mcp/serverProgram.ts';
import { lostMedia, rowsAdvice, snapshotArgument, snapshotOf, stateOf, unclearRows } from '../mcp/state.ts';
import { type ListedTool, listTools } from '../mcp/toolList.ts';
import { isLegacySse, taskRefusal } from '../mcp/unsupported.ts';
import type { Reader, SourceCallOptions, SourceResult, ToolSource } from './toolSource.ts';

type McpStart = {
  readonly environment?: NodeJS.ProcessEnv;
  /** The location where the server is declared, for the messages of its faults. */
  readonly at?: Location | undefined;
  /** The date and time of the rollout, for servers that can be given one. */
  readonly now?: string;
  /** Ends a start that is under way, and refuses later ones. */
  readonly signal?: AbortSignal | undefined;
  /** Gets what a person may want to know and no call shows. */
  readonly log?: (text: string) => void;
  /** The snapshots of this process that contain secrets. */
  readonly secretSnapshots?: SecretSnapshots;
  /** Whether `setUp` starts the server, with the files or arguments of the task. */
  readonly isSetUp?: boolean;
};

type SendOptions = SourceCallOptions & {
  /** Characters that the result may have; no limit by default. */
  readonly maxLength?: number;
  /** Whether the result goes back to the server alone, so that it keeps its secrets. */
  readonly keepsSecrets?: boolean;
};

/**
 * Connects to an MCP server for one rollout and lists its tools: a stdio server is started as its own process, an HTTP
 * server gets its own session.
 * `${domainFolder}`, `${instanceFolder}` (a fresh folder for this instance alone), `${now}` and `${env:NAME}` are filled
 * in wherever the server is declared. In calls and results `${instanceFolder}` means that folder, whose real path differs
 * from rollout to rollout. Throws a `Fault` that names the server where it cannot be reached, exits, or does not answer with
 * MCP.
 */
export async function startMcpServer(
  name: string,
  server: McpServer,
  folder: string,
  options: McpStart = {},
): Promise<ToolSource> {
  const instance = new McpInstance(name, server, folder, options);
  if (!options.isSetUp) await instance.open();
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

/** The result of a call, with the parts that only the engine itself reads. */
type SentResult = SourceResult & Pick<ReadResult, 'texts' | 'data'>;

class McpInstance implements ToolSource {
  listed: readonly ListedTool[] = [];
  readonly snapshot?: NonNullable<ToolSource['snapshot']>;
  readonly restore?: NonNullable<ToolSource['restore']>;
  #server: McpServer;
  readonly #signal: AbortSignal | undefined;
  readonly #log: (text: string) => void;
  readonly #declared: Declared;
  readonly #instance = new InstanceFolder();
  readonly #output: ServerOutput;
  readonly #secretSnapshots: SecretSnapshots;
  #connection: McpConnection | null = null;
  /** Whether the server may keep what a fresh one lacks: after a write, a setup, or a restored snapshot. */
  #hasChanged = false;
  /** Whether the server has given a result for a call, so that it knows the client. */
  #hasResult = false;
  #address: Address | null = null;

  constructor(
    name: string,
    server: McpServer,
    folder: string,
    {
      environment = process.env,
      at,
      now,
      signal,
      log = () => undefined,
      secretSnapshots = new SecretSnapshots(),
    }: McpStart,
  ) {
    this.#server = server;
    this.#signal = signal;
    this.#log = log;
    this.#secretSnapshots = secretSnapshots;
    this.#output = new ServerOutput(server.maxMessageSize);
    const faultOf = (code: string, what: string) => this.#fault(code, what);
    const values = { domainFolder: folder, instanceFolder: this.#instance.path, ...(now === undefined ? {} : { now }) };
    const filled = fillPlaceholders(values, environment, (problem) =>
      problem.type === 'unknown'
        ? faultOf('mcp/placeholder', problem.message)
        : faultOf(
            'mcp/variable',
            `it needs the environment variable ${problem.variable}, which is not set. Set it, and start again`,
          ),
    );
    this.#declared = { name, folder, at, filled, faultOf };
    const { snapshot, restore } = server;
    if (snapshot) this.snapshot = (cancel) => this.#takeSnapshot(snapshot as Reader, cancel);
    if (restore) {
      this.restore = async (saved, cancel) => {
        const value = snapshotArgument(this.#withSecrets(saved), this.#tool(restore.tool), restore.argument);
        await this.#ask('restore', restore.tool, { [restore.argument]: value }, cancel ? { signal: cancel } : {});
        this.#hasChanged = true;
      };
    }
  }

  get tools(): readonly Tool[] {
    return this.listed.map(({ tool }) => tool);
  }

  /** @param cancel ends the start, in addition to the signal of the instance */
  async open(cancel?: AbortSignal): Promise<void> {
    const signals = [this.#signal, cancel].filter((signal) => signal !== undefined);
    const signal = AbortSignal.any(signals);
    try {
      await this.#openSession(signal).catch((error: unknown) => {
        // Nothing has been called in a session that the server forgot, or before a connection broke.
        const isHttp = this.#server.type === 'http';
        if (!(error instanceof SessionLost) && !(isHttp && isBroken(error))) throw error;
        return this.#openSession(signal);
      });
    } catch (error) {
      // The next call may open it again, with the files of the rollout.
      await (cancel?.aborted ? this.#drop() : this.close());
      throw error instanceof Fault ? this.#ownFault(error) : await this.#startFault(error);
    }
  }

  async renew(): Promise<void> {
    await this.#drop();
    // What the calls wrote there is written again when they are repeated.
    if (!this.#server.sharedState) this.#instance.clear();
    this.#hasChanged = false;
    await this.open();
  }

  async #openSession(signal: AbortSignal): Promise<void> {
    const connection = new McpConnection();
    const cut = () => connection.cut(signal.reason as Error);
    signal.addEventListener('abort', cut, { once: true });
    try {
      signal.throwIfAborted();
      this.#instance.make();
      const server = this.#server;
      if (server.type === 'http') this.#address = addressOf(server, this.#declared);
      const transport =
        server.type === 'http'
          ? httpTransport(this.#address as Address, connection, server.maxMessageSize)
          : stdioTransport(server, this.#declared, this.#instance, this.#output);
      await connection.open(transport, server.type === 'http' ? server.url : '', startLimitOf(server));
      const listed = await this.#list(connection);
      // Some servers announce a change while they start, and the list has it.
      connection.takeChangedTools();
      signal.throwIfAborted();
      // A server may echo what it was given in a description or a schema.
      this.listed = redactedValue(withTexts(listed, (text) => this.#instance.mask(text)));
      if (connection.sessions.isShared && this.#keepsState) throw this.#fault(...sharedSession);
      this.#connection = connection;
    } catch (error) {
      await connection.close();
      // The other rollout has ended the session; a third one may have started it again.
      if (connection.sessions.isShared && (error instanceof SessionLost || namesSession(error)))
        throw this.#fault(...sharedSession);
      const { unknownVersion } = connection.client;
      if (unknownVersion === undefined || !isMisunderstood(error)) throw error;
      throw this.#fault(...versionProblem(unknownVersion, error));
    } finally {
      signal.removeEventListener('abort', cut);
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
    const { name, faultOf } = this.#declared;
    return listTools(connection, { name, declared: this.#server }, this.#server.timeoutMs, faultOf);
  }

  async call(name: string, args: JsonObject, options: SourceCallOptions = {}): Promise<SourceResult> {
    const tool = this.#tool(name);
    const problem = tool ? misfitOf(tool, args, options.integers) : `there is no tool named "${name}"`;
    if (problem) return { content: `Error: ${problem}`, isError: true, isUnchanged: true };
    const {
      texts: _,
      data: __,
      ...result
    } = await this.#send(name, args, {
      ...options,
      maxLength: longestResultOf(this.#server),
    });
    return result;
  }

  async read(reader: Reader | undefined = this.#server.reader as Reader | undefined, takesRows = false): Promise<Json> {
    if (!reader)
      throw this.#fault(
        'mcp/no-reader',
        `an assertion reads its state, but domain.yaml declares no reader. Add "reader: { tool: ... }" to mcpServers.${this.#declared.name}`,
      );
    const result = await this.#ask('reader', reader.tool, reader.arguments);
    const reason = takesRows ? 'of which assertions take rows' : null;
    this.#requireClearRows('reader', reader, unclearRows(result, reader, reason));
    return stateOf(result, reader, this.#tool(reader.tool)?.outputSchema);
  }

  #requireClearRows(key: 'reader' | 'snapshot', { tool }: Reader, unclear: string | null): void {
    if (unclear !== null)
      throw this.#fault(
        'mcp/unclear-rows',
        `its ${key} ${tool} gives ${unclear}, so a list with one row would be an object. ${rowsAdvice(key)}`,
      );
  }

  /** Starts the server where it is not started yet, or its files or arguments are other ones, and makes the calls. */
  async setUp(data: Json): Promise<void> {
    const read = serverSetUpSchema.safeParse(data);
    if (!read.success) throw this.#setUpFault(read.error.issues.map(({ message }) => message).join('; '));
    const { files, args, calls } = read.data;
    if (files !== undefined || args !== undefined) {
      const server = this.#server;
      if (server.type === 'http') throw this.#setUpFault('a running server accepts calls, but not files and args');
      const given = { ...server, ...(files === undefined ? {} : { files }), ...(args === undefined ? {} : { args }) };
      // A server that is started again in a rollout has them already.
      const isStarted = this.#connection && !this.#hasChanged && sameStart(given, server);
      if (!isStarted) {
        await this.#drop();
        this.#server = given;
        if (files !== undefined) this.#instance.clear();
        await this.open();
      }
    }
    for (const { tool, arguments: given } of calls) {
      const { content, isError } = await this.call(tool, given as JsonObject);
      if (isError) throw this.#setUpFault(`${tool} failed: ${content}`);
      this.#hasChanged = true;
    }
  }

  #setUpFault(what: string): Fault {
    const problem = what.replace(/[.\s]+$/, '');
    return this.#fault('mcp/set-up', `setUp of the task: ${problem}. Correct setUp.${this.#declared.name} of the task`);
  }

  async close(): Promise<void> {
    await this.#drop();
    this.#instance.remove();
  }

  async #send(name: string, args: JsonObject, options: SendOptions): Promise<SentResult> {
    const tool = this.#tool(name);
    const argument = tool?.idempotencyKey;
    // The engine's own calls have no key, and a server may refuse a call without the argument.
    const { signal, idempotencyKey = argument === undefined ? undefined : randomUUID() } = options;
    const timeoutMs = options.timeoutMs ?? tool?.timeoutMs ?? this.#server.timeoutMs;
    const meta = idempotencyKey ? { _meta: { 'rehearsal/idempotency-key': idempotencyKey } } : {};
    const sent = sentArguments(tool?.parameters ?? {}, this.#instance.fill(args), options.integers);
    // The engine's own calls may name a tool that no seat is offered.
    const request = {
      name: tool ? nameOnServer(tool) : name,
      arguments: argument && idempotencyKey ? { ...sent, [argument]: idempotencyKey } : sent,
      ...meta,
    };
    try {
      const result = await this.#callOrReopen(request, tool, { ...options, timeoutMs });
      const mismatch = tool && mismatchOf(tool, result);
      const changedTools = this.#connection?.takeChangedTools() ?? false;
      if (changedTools)
        this.#log(
          `MCP server "${this.#declared.name}": after ${name}, the list of its tools has changed. ${keptTools}`,
        );
      const isKept = options.keepsSecrets && !result.isError;
      const redact = (text: string) => (isKept ? this.#instance.mask(text) : this.#redact(text));
      const number = isKept ? undefined : redactedNumber;
      const data = result.data === undefined ? undefined : withTexts(result.data, redact, number);
      return {
        content: redact(result.content),
        isError: result.isError,
        ...this.#redactAttached(result, data, redact),
        ...(mismatch === undefined ? {} : { mismatch: this.#redact(mismatch) }),
        ...(changedTools ? { changedTools } : {}),
        ...(result.texts === undefined ? {} : { texts: result.texts.map(redact) }),
        ...(data === undefined ? {} : { data }),
      };
    } catch (error) {
      if (isResult(error)) {
        const isTemporary = error instanceof ServerBusy ? { isTemporary: true } : {};
        return { content: `Error: ${this.#redact(errorTextForAgent(error))}`, isError: true, ...isTemporary };
      }
      signal?.throwIfAborted();
      throw await this.#callFault(name, timeoutMs, error);
    }
  }

  /** Calls a tool, and again on a fresh server where the old one refused the call or had ended, and kept nothing yet. */
  async #callOrReopen(
    request: { readonly name: string },
    tool: Tool | undefined,
    { timeoutMs, signal, maxLength }: SendOptions & { readonly timeoutMs: number },
  ): Promise<ReadResult> {
    const isWrite = tool?.effect === 'write';
    const make = async () => {
      if (!this.#connection || this.#connection.isClosed) throw new NotSent();
      const { resetTimeoutOnProgress, maxTotalTimeoutMs = Math.min(mostExtensions * timeoutMs, longestMs) } =
        this.#server;
      const total = resetTimeoutOnProgress ? { maxTotalTimeoutMs } : {};
      const hasResult = this.#hasResult;
      const sent = await this.#connection
        .callTool(request, { timeoutMs, signal, hasResult, ...total })
        .catch((error: unknown) => {
          // An error is a result, too.
          if (error instanceof ServerError) this.#hasResult = true;
          throw error;
        });
      this.#hasResult = true;
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
        await this.open(signal);
        isExecuted = true;
        return make();
      });
    } finally {
      this.#hasChanged ||= isWrite && isExecuted;
    }
  }

  /** Returns a text of the server without secrets, and with the placeholder for the folder of this instance. */
  #redact(text: string): string {
    return this.#instance.mask(this.#declared.filled.redact(text));
  }

  /** @param data the data of the result, redacted: it is the structured content if there is some */
  #redactAttached(result: ReadResult, data: Json | undefined, redact: (text: string) => string): Attachments {
    const { media, textParts, structured } = result;
    return attachmentsOf({
      ...result,
      media: media?.map((each) => {
        const shown = withTexts(each, redact);
        return shown.data === each.data ? shown : { ...shown, problem: each.problem ?? 'it contains a secret' };
      }),
      textParts: textParts && withTexts(textParts, redact),
      structured: structured === undefined ? undefined : JSON.stringify(data),
    });
  }

  /** Makes a call of the engine itself, whose result is data. `maxResultLength` is a limit for agents. */
  async #ask(purpose: string, tool: string, args: JsonObject, options: SendOptions = {}): Promise<SentResult> {
    const result = await this.#send(tool, args, options);
    if (!result.isError) return result;
    const why = `its ${purpose} ${tool} failed: ${result.content.replace(/[.\s]+$/, '')}`;
    if (result.isTemporary) throw this.#fault('mcp/unavailable', `${why}. Run the task again`);
    const place = `mcpServers.${this.#declared.name}.${purpose}`;
    throw this.#fault(`mcp/${purpose}`, `${why}. Correct ${place} in domain.yaml, or look at the log of the server`);
  }

  /** Returns the snapshot without secrets, as recordings have it. */
  async #takeSnapshot(snapshot: Reader, signal?: AbortSignal): Promise<Json> {
    const { tool, arguments: args } = snapshot;
    const result = await this.#ask('snapshot', tool, args, { keepsSecrets: true, ...(signal ? { signal } : {}) });
    const reason = listRestored(this.#server, (name) => this.#tool(name));
    this.#requireClearRows('snapshot', snapshot, unclearRows(result, snapshot, reason && `and ${reason}`));
    const lost = lostMedia(result);
    if (lost !== null)
      throw this.#fault(
        'mcp/snapshot',
        `its snapshot ${tool} gives ${lost} and other parts, but a snapshot keeps only texts. Name a tool under mcpServers.${this.#declared.name}.snapshot that gives a text, data or a single file, or write state: replay`,
      );
    const own = snapshotOf(result, snapshot, this.#tool(tool)?.outputSchema);
    let hasSecret = false;
    const recorded = withTexts(own, (text) => {
      const without = redacted(this.#declared.filled.redact(text));
      hasSecret ||= without !== text;
      return without;
    });
    if (hasSecret) this.#secretSnapshots.keep(this.#declared.name, recorded, own);
    return recorded;
  }

  /** Returns a recorded snapshot as the server gave it. Throws a `Fault` where only the recording without secrets is left. */
  #withSecrets(recorded: Json): Json {
    const { name, filled } = this.#declared;
    const own = this.#secretSnapshots.find(name, recorded);
    if (own !== undefined) return own;
    const text = JSON.stringify(recorded);
    const names = [...new Set([...filled.variables(), ...secretNames()])].filter((each) => text.includes(`[${each}]`));
    if (names.length === 0) return recorded;
    throw this.#fault(
      'fork/secret',
      `its snapshot has [${names.join('], [')}] in place of the value of ${names.join(', ')}, which recordings leave out, and the server would keep that text. Start the task from its beginning, or let the snapshot leave out the value`,
    );
  }

  async #startFault(error: unknown): Promise<Fault> {
    if (error instanceof OtherAnswer) return this.#fault(...otherAnswerProblem(null, error));
    const server = this.#server;
    if (server.type !== 'http') return this.#fault(...startProblem(server, error));
    if (this.#address && mayBeLegacy(error) && (await isLegacySse(this.#address.url, this.#address.headers)))
      return this.#fault(...legacyTransport(withoutQuery(this.#address.url.href)));
    return this.#fault(...httpProblem(server, null, error, this.#declared.filled.variables()));
  }

  async #callFault(tool: string, timeoutMs: number, error: unknown): Promise<Fault> {
    if (error instanceof Fault) return this.#ownFault(error);
    if (error instanceof TimeLimitExceeded) return this.#fault(...timeLimitProblem(tool, error, timeoutMs));
    if (error instanceof OtherAnswer) return this.#fault(...otherAnswerProblem(tool, error));
    const server = this.#server;
    if (server.type !== 'http') {
      await this.#drop();
      return this.#fault(...callProblem(tool, error));
    }
    const fault = this.#fault(...httpProblem(server, tool, error, this.#declared.filled.variables()));
    // A session outlives its connections: only a server that no longer knows it has lost it.
    if (fault.failure.code === 'mcp/session') await this.#drop();
    return fault;
  }

  /** An answer that is too long is the failure of this server. */
  #ownFault(fault: Fault): Fault {
    return fault instanceof AnswerTooLong ? this.#fault(...tooLongProblem(fault)) : fault;
  }

  #fault(...[code, what]: Problem): Fault {
    const server = this.#server;
    const { name, at, filled } = this.#declared;
    const where = server.type === 'http' ? withoutQuery(server.url) : [server.command, ...server.args].join(' ');
    const text = this.#output.describe(`MCP server "${name}" (${where}): ${what}`);
    const place = at ? { file: at.file, line: at.line } : {};
    return new Fault({ who: culpritOf(code), code, message: filled.redact(text), ...place });
  }

  async #drop(): Promise<void> {
    const connection = this.#connection;
    this.#connection = null;
    await connection?.close();
  }
}

/**
 * Returns whether an error may be that of a server with the older transport: it refuses what is posted to the address of its
 * stream, answers it with a text, or opens the stream.
 */
const mayBeLegacy = (error: unknown): boolean =>
  isRefused(error) || isUnexpectedBody(error) || isBroken(error) || error instanceof TimeLimitExceeded;

/** Returns whether two declarations of a server start it in the same way. */
const sameStart = (one: StdioServer, other: StdioServer): boolean =>
  one.files === other.files && one.args.join('\0') === other.args.join('\0');

/** Returns whether the agent reads an error as the result of its call. */
const isResult = (error: unknown): boolean =>
  [ServerError, UnreadableAnswer, ResultTooLong, AnswerTooLong].some((type) => error instanceof type);

/** A list of tools holds from the start of a run to its end: every rollout of it has the same tools. */
const keptTools =
  'The agent keeps the tools that were listed at the start. If it needs the others, log in with env, args or headers, so that the first list contains them';

/** Returns how many characters a result of a call by an agent may have. */
const longestResultOf = ({ maxResultLength = 10 * 1024 * 1024 }: McpServer) => maxResultLength;

/** The default number of time limits that a call may take if it reports progress. */
const mostExtensions = 10;
