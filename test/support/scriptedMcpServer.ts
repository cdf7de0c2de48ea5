import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { onTestFinished } from 'vitest';
import type { HttpServer } from '../../src/engine/core/domain.ts';
import type { JsonObject } from '../../src/engine/core/json.ts';

type Call = { readonly name: string; readonly arguments: JsonObject };

/** What a scripted server answers; nothing of it is checked, so that it can be wrong in any way. */
export type McpScript = {
  /** The result of `tools/list`. */
  readonly list?: unknown;
  readonly call?: (call: Call) => unknown;
  /** Keys of the result of `initialize` in place of the usual ones. */
  readonly start?: object;
};

/** A server on loopback in this process that answers JSON-RPC as its script says, without a library. It ends with the test. */
export async function scriptedMcpServer(
  script: McpScript,
): Promise<{ readonly url: string; readonly calls: readonly Call[] }> {
  const calls: Call[] = [];
  const answer = (method: string, params: Call | undefined): unknown => {
    if (method === 'initialize')
      return {
        protocolVersion: '2025-06-18',
        capabilities: { tools: {} },
        serverInfo: { name: 'scripted', version: '1' },
        ...script.start,
      };
    if (method === 'tools/list') return script.list;
    if (!params) return {};
    calls.push(params);
    return script.call?.(params) ?? { content: [] };
  };
  const server = createServer(async (request, response) => {
    const { id, method, params } = request.method === 'POST' ? await message(request) : unasked;
    if (id === undefined) {
      response.writeHead(request.method === 'POST' ? 202 : 405).end();
      return;
    }
    const result = answer(method, params);
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ jsonrpc: '2.0', id, result }));
  });
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`, calls };
}

type Message = { readonly id?: number; readonly method: string; readonly params?: Call };
const unasked: Message = { method: '' };
const message = async (request: IncomingMessage): Promise<Message> => JSON.parse(await text(request)) as Message;

/** The declaration of an HTTP server in domain.yaml, as it is read. */
export const declaredHttp = (url: string, more: Partial<HttpServer> = {}): HttpServer => ({
  type: 'http',
  url,
  headers: {},
  state: 'none',
  writes: [],
  idempotent: [],
  timeoutMs: 60_000,
  tools: {},
  ...more,
});
