import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { finished, PassThrough, type Readable, type Writable } from 'node:stream';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import {
  CallToolRequestSchema,
  type ContentBlock,
  ContentBlockSchema,
  ErrorCode,
  type JSONRPCMessage,
  ListToolsRequestSchema,
  type RequestId,
} from '@modelcontextprotocol/sdk/types.js';
import type { Offered } from '../../core/domain/tool.ts';
import { exactSchema } from '../../core/values/exactSchema.ts';
import { isObject, type Json, type JsonObject, jsonOf } from '../../core/values/json.ts';
import { exactJsonOf, rawJson } from '../../core/values/largeIntegers.ts';
import { type Attachments, type Media, mediaText, partsOf, type ResultPart } from '../../core/values/media.ts';
import { isTooDeep } from '../../core/values/nesting.ts';
import { longestLine, readLines } from '../files/boundedLines.ts';
import { version } from '../files/version.ts';
import { argumentsOf, exactRequest } from '../mcp/exactRequest.ts';
import { ForwardingTransport, type Received, type Sent } from '../mcp/forwardingTransport.ts';
import { batchOf } from '../mcp/message.ts';

/** The result of a call, as the seat that made it sees it. */
export type ShownResult = Attachments & {
  readonly content: string;
  readonly isError: boolean;
};

/** The tools of a rollout, as they are shown to an agent that calls them over MCP. */
export type ShownTools = {
  /** Those that are offered now; a client may ask again. */
  readonly tools: readonly Offered[];
  /** Names of those that only read; without it, the list has no hints. */
  readonly reads?: ReadonlySet<string>;
  /** The instructions that the agent must follow; MCP calls them the server's instructions. */
  readonly instructions: string;
  /**
   * @param args `JSON.stringify` writes all digits of their numbers
   * @param signal aborts when the client cancels the call
   */
  readonly call: (name: string, args: JsonObject, signal?: AbortSignal) => Promise<ShownResult>;
};

/**
 * Answers one request of MCP over Streamable HTTP. The address identifies the session, so a client may connect as
 * often as it likes.
 */
export async function answerMcp(
  request: IncomingMessage,
  response: ServerResponse,
  body: unknown,
  shown: ShownTools,
): Promise<void> {
  const server = serverOf(shown);
  const transport = new StreamableHTTPServerTransport({});
  response.on('close', () => void server.close());
  await server.connect(new ForwardingTransport(transport as Transport));
  await transport.handleRequest(request, response, body);
}

type ServeOptions = {
  /** Ends the server at once. */
  readonly signal?: AbortSignal;
  readonly input?: Readable;
  readonly output?: Writable;
};

/** Serves tools on standard input and output, until the input has ended and every request has its answer. */
export async function serveMcp(
  shown: ShownTools,
  { signal, input = process.stdin, output = process.stdout }: ServeOptions = {},
): Promise<void> {
  const server = serverOf(shown);
  const lines = exactLines(input, (id, why) => void transport.send(refusalOf(id, why)));
  const transport: CountingTransport = new CountingTransport(new StdioServerTransport(lines, output));
  const closed = new Promise<void>((resolve) => {
    server.onclose = resolve;
    signal?.addEventListener('abort', () => resolve(), { once: true });
  });
  await server.connect(transport);
  await Promise.race([closed, once(lines, 'end').then(() => transport.waitUntilIdle())]);
  await server.close();
  // Otherwise the process waits for the end of its input.
  input.destroy();
}

/**
 * Parts go out as they came in. A file without an address gets one, which the protocol requires. Annotations that clients
 * refuse are left out.
 */
function contentPart(part: ResultPart): ContentBlock {
  if (typeof part === 'string') return { type: 'text', text: part };
  if ('json' in part) return resourceIn(part.json);
  const block = 'text' in part ? { type: 'text' as const, text: part.text } : mediaBlock(part);
  const annotated = { ...block, annotations: part.annotations };
  return part.annotations && ContentBlockSchema.safeParse(annotated).success ? (annotated as ContentBlock) : block;
}

function mediaBlock(media: Media): ContentBlock {
  const { mimeType, data, uri, problem } = media;
  // Clients refuse the whole result for it.
  if (problem !== undefined) return { type: 'text', text: mediaText(media) };
  const [kind] = mimeType.split('/');
  if (uri === undefined && (kind === 'image' || kind === 'audio')) return { type: kind, mimeType, data };
  return { type: 'resource', resource: { uri: uri ?? `data:${mimeType}`, mimeType, blob: data } };
}

/** Returns the file or the link that a JSON text is; the text where a server wrote one that clients refuse. */
function resourceIn(json: string): ContentBlock {
  const value = exactJsonOf(json);
  return ContentBlockSchema.safeParse(value).success ? (value as ContentBlock) : { type: 'text', text: json };
}

/**
 * Returns a schema of arguments that the official clients take. They refuse the whole list of tools for a property that is
 * not an object, although `true` and `false` are JSON Schemas.
 */
function clientSchema({ properties, required, ...schema }: JsonObject): JsonObject {
  const names = Array.isArray(required) ? required.filter((name) => typeof name === 'string') : [];
  return {
    ...schema,
    ...(isObject(properties ?? null)
      ? {
          properties: Object.fromEntries(
            Object.entries(properties as JsonObject).map(([name, each]) => [name, clientProperty(each)]),
          ),
        }
      : {}),
    ...(names.length > 0 ? { required: names } : {}),
  };
}

function clientProperty(schema: Json): Json {
  if (isObject(schema)) return schema;
  return schema === false ? { not: {} } : {};
}

/**
 * Returns an input with each message in a line, as MCP of 2025-03-26 allows several in a list. A number that is too large for
 * JavaScript is a text of its digits.
 * @param onUnread called with the id of a request that is too long or too deep; null where its place is unusual
 */
function exactLines(input: Readable, onUnread: (id: RequestId | null, why: string) => void): Readable {
  const lines = new PassThrough();
  const read = (line: string) => {
    const value = jsonOf(line);
    if (value === undefined) lines.write(`${line}\n`);
    else if (isTooDeep(value, deepestRequest)) onUnread(idIn(line, line), tooDeep);
    else for (const each of batchOf(line)) lines.write(`${JSON.stringify(exactRequest(each))}\n`);
  };
  readLines(input, read, {
    // Without it, a line that is too long would be given in pieces, which are not messages.
    onTooLong: () => undefined,
    onLeftOut: (start, end) => onUnread(idIn(start, end), tooLong),
  });
  finished(input, { writable: false }, () => lines.end());
  return lines;
}

const id = String.raw`"id"\s*:\s*(\d+|"[^"\\]*")`;
const idAtStart = new RegExp(String.raw`^\s*\{(?:\s*"(?:jsonrpc|method)"\s*:\s*"[^"]*"\s*,)*\s*${id}`);
const idAtEnd = new RegExp(String.raw`,\s*${id}\s*\}\s*$`);

/** Returns the id of a request whose middle is unknown: clients write it near the start or at the end. */
function idIn(start: string, end: string): RequestId | null {
  const [, written = 'null'] = idAtEnd.exec(end) ?? idAtStart.exec(start) ?? [];
  return JSON.parse(written) as RequestId | null;
}

const tooLong = `the request is longer than ${longestLine / 1e6} million characters. Send less, such as a path in place of a file`;

/** Levels of lists and objects in a request. The stack is not enough to write a much deeper one. */
const deepestRequest = 1000;
const tooDeep = `the request is nested deeper than ${deepestRequest} levels`;

/** Returns the answer to a request that is not read. */
const refusalOf = (id: RequestId | null, message: string): JSONRPCMessage =>
  ({ jsonrpc: '2.0', id, error: { code: ErrorCode.InvalidRequest, message } }) as JSONRPCMessage;

function serverOf(shown: ShownTools): Server {
  const { instructions, reads } = shown;
  const server = new Server({ name: 'rehearsal', version }, { capabilities: { tools: {} }, instructions });
  server.setRequestHandler(ListToolsRequestSchema, () => ({
    tools: shown.tools.map(({ name, description, parameters }) => ({
      name,
      description,
      inputSchema: { type: 'object' as const, ...clientSchema(exactSchema(parameters)) },
      ...(reads ? { annotations: { readOnlyHint: reads.has(name) } } : {}),
    })),
  }));
  server.setRequestHandler(CallToolRequestSchema, async ({ params }, { signal }) => {
    const { content, isError, ...attached } = await shown.call(params.name, argumentsOf(params), signal);
    const { structured } = attached;
    const structuredContent = structured === undefined ? {} : { structuredContent: rawJson(structured) as JsonObject };
    return { content: partsOf(content, attached).map(contentPart), ...structuredContent, isError };
  });
  return server;
}

/** A transport that counts the requests without an answer. */
class CountingTransport extends ForwardingTransport {
  readonly #open = new Set<unknown>();
  #wake: () => void = () => undefined;

  /** Resolves when every request has its answer. */
  async waitUntilIdle(): Promise<void> {
    while (this.#open.size > 0)
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
  }

  protected override received(...[message, extra]: Received): void {
    if ('method' in message && 'id' in message) this.#open.add(message.id);
    // A cancelled request gets no answer.
    if ('method' in message && message.method === 'notifications/cancelled')
      this.#settle(message.params?.['requestId']);
    super.received(message, extra);
  }

  override async send(...[message, options]: Sent): Promise<void> {
    await super.send(message, options);
    if (!('method' in message)) this.#settle(message.id);
  }

  #settle(id: unknown): void {
    this.#open.delete(id);
    this.#wake();
  }
}
