import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export type RawRequest = {
  readonly id: number;
  readonly method: string;
  readonly params: { readonly name?: string; readonly _meta?: { readonly progressToken?: number } };
  readonly headers: IncomingMessage['headers'];
  /** The whole request, as it arrived. */
  readonly text: string;
  /** The path of the request, with its query. */
  readonly path: string | undefined;
};

/** The reply of a server to a request: a text in place of the whole body, or a function that writes the response. */
export type RawReply =
  | { readonly status?: number; readonly body: string }
  | ((response: ServerResponse) => void)
  | undefined;

export type RawServer = {
  readonly url: string;
  /** The open sessions. */
  readonly sessions: Set<string>;
  /** The number of sessions that were opened, and the number of sessions that a DELETE ended. */
  readonly counts: { opened: number; ended: number };
  /** The name of each called tool, in order. */
  readonly calls: string[];
  /** The last call, as it arrived. */
  lastCall: string;
};

export type Raw = {
  /** The reply to a request; undefined for the usual one. */
  readonly reply?: (request: RawRequest, server: RawServer) => RawReply;
  /** The reply to a request of a session that is not open. */
  readonly unknownSession?: { readonly status: number; readonly body: string };
  /** Handles a GET. By default, the server has no stream. */
  readonly get?: (response: ServerResponse) => void;
  /** Receives what the client answers to requests of the server, as JSON texts. */
  readonly onAnswer?: (answer: string) => void;
  /** The session of every client; by default each has its own. */
  readonly session?: string;
  /** The status of a DELETE; by default the session ends. `never` leaves it without an answer. */
  readonly deleteStatus?: number | 'never';
};

/** Returns the usual body of an answer with a result, a JSON text. */
export const resultBody = (id: number, result: string) => `{"jsonrpc":"2.0","id":${id},"result":${result}}`;
/** Returns the result of a tool that answers with a text. */
export const textResult = (text: string) => JSON.stringify({ content: [{ type: 'text', text }] });

/**
 * Starts an MCP server over HTTP in this process, written without the SDK, so that its bytes can be any. It has the
 * tools `look`, `write` and `login`, which answer with their name.
 */
export async function listenRawMcp(raw: Raw = {}): Promise<RawServer & { readonly close: () => void }> {
  const sessions = new Set<string>();
  const calls: string[] = [];
  const http = createServer(async (request, response) => {
    const session = String(request.headers['mcp-session-id'] ?? '');
    if (request.method === 'DELETE') {
      if (raw.deleteStatus === undefined && sessions.delete(session)) server.counts.ended += 1;
      if (raw.deleteStatus !== 'never') response.writeHead(raw.deleteStatus ?? 200).end();
      return;
    }
    if (request.method !== 'POST') {
      if (raw.get) raw.get(response);
      else response.writeHead(405).end();
      return;
    }
    const text = await textOf(request);
    const message = {
      params: {},
      ...JSON.parse(text),
      headers: request.headers,
      path: request.url,
      text,
    } as RawRequest;
    if (session !== '' && !sessions.has(session)) {
      const { status, body } = raw.unknownSession ?? { status: 404, body: 'no such session' };
      response.writeHead(status, { 'content-type': 'application/json' }).end(body.replace('ID', String(message.id)));
      return;
    }
    if (message.method === undefined) raw.onAnswer?.(text);
    if (message.method === 'tools/call') {
      calls.push(message.params.name ?? '');
      server.lastCall = text;
    }
    const reply = raw.reply?.(message, server) ?? usual(message);
    if (typeof reply === 'function') reply(response);
    else {
      const opened = message.method === 'initialize' ? (raw.session ?? randomUUID()) : '';
      if (opened !== '') {
        sessions.add(opened);
        server.counts.opened += 1;
      }
      const headers = { 'content-type': 'application/json', ...(opened === '' ? {} : { 'mcp-session-id': opened }) };
      response.writeHead(reply.status ?? 200, headers).end(reply.body);
    }
  });
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  const server = {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`,
    sessions,
    counts: { opened: 0, ended: 0 },
    calls,
    lastCall: '',
    close: () => {
      http.closeAllConnections();
      http.close();
    },
  };
  return server;
}

function usual({ id, method, params }: RawRequest): { readonly status?: number; readonly body: string } {
  const serverInfo = { name: 'raw', version: '1' };
  const tool = (name: string) => ({ name, inputSchema: { type: 'object' } });
  switch (method) {
    case 'initialize': {
      const capabilities = { tools: {} };
      return { body: resultBody(id, JSON.stringify({ protocolVersion: '2025-06-18', capabilities, serverInfo })) };
    }
    case 'tools/list':
      return { body: resultBody(id, JSON.stringify({ tools: ['look', 'write', 'login'].map(tool) })) };
    case 'tools/call':
      return { body: resultBody(id, textResult(params.name ?? '')) };
    case 'ping':
      return { body: resultBody(id, '{}') };
    default:
      return { status: 202, body: '' };
  }
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}
