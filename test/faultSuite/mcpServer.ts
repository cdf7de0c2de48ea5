import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { caseIn } from './cases.ts';
import type { Cases } from './endpoint.ts';
import { toolPlace } from './plan.ts';

export type McpServer = {
  readonly handle: (request: IncomingMessage, response: ServerResponse, text: string) => void;
  /** Sessions that are open. */
  readonly sessions: ReadonlyMap<string, readonly string[]>;
  /** Gives the next client the session of another one, once for each time that it is called. */
  readonly shareNext: () => void;
  /** How often a client was given the session of another one. */
  readonly shared: () => number;
};

type Message = {
  readonly id: number;
  readonly method: string;
  readonly params?: { readonly name?: string; readonly arguments?: { readonly case?: string } };
};

const json = { 'content-type': 'application/json' };
const schema = { type: 'object', properties: { case: { type: 'string' } } };
const tools = [
  { name: 'visit', description: 'Notes a visit.', inputSchema: { ...schema, required: ['case'] } },
  { name: 'visits', description: 'All visits.', inputSchema: { type: 'object' }, annotations: { readOnlyHint: true } },
];

/** An MCP server over HTTP whose state is the visits of each session. */
export function mcpServer(cases: Cases): McpServer {
  const sessions = new Map<string, string[]>();
  const seen = new Map<string, number>();
  let owed = 0;
  let shared = 0;
  const newSession = (): string => {
    const [other] = sessions.keys();
    if (owed > 0 && other !== undefined) {
      owed -= 1;
      shared += 1;
      return other;
    }
    const own = randomUUID();
    sessions.set(own, []);
    return own;
  };
  const handle = (request: IncomingMessage, response: ServerResponse, text: string) => {
    const id = String(request.headers['mcp-session-id'] ?? '');
    if (request.method === 'DELETE') {
      sessions.delete(id);
      response.writeHead(200).end();
      return;
    }
    if (request.method !== 'POST') {
      response.writeHead(405).end();
      return;
    }
    const message = JSON.parse(text) as Message;
    const reply = (result: object, headers: Record<string, string> = {}) =>
      void response
        .writeHead(200, { ...json, ...headers })
        .end(JSON.stringify({ jsonrpc: '2.0', id: message.id, result }));
    if (message.method === 'initialize') {
      const serverInfo = { name: 'visits', version: '1' };
      reply(
        { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo },
        { 'mcp-session-id': newSession() },
      );
      return;
    }
    const visits = sessions.get(id);
    if (!visits) response.writeHead(404, json).end('{"error": "Session not found"}');
    else if (message.method === 'tools/list') reply({ tools });
    else if (message.method === 'tools/call') call(id, visits, message, response, reply);
    else if (message.id === undefined) response.writeHead(202).end();
    else reply({});
  };
  const call = (
    session: string,
    visits: string[],
    { id, params }: Message,
    response: ServerResponse,
    reply: (result: object) => void,
  ) => {
    const perform = () => {
      if (params?.name === 'visit') visits.push(String(params.arguments?.case));
      const shown = params?.name === 'visit' ? 'noted' : JSON.stringify(visits);
      return { content: [{ type: 'text', text: shown }] };
    };
    // The reader has no case in its arguments: it is about the one that was visited in its session.
    const at = caseIn(params?.arguments?.case ?? visits[0] ?? '');
    const plan = at === null ? undefined : cases.planOf(at);
    const fault = plan && toolPlace(plan, params?.name ?? '');
    const key = `${at} ${params?.name}`;
    const nth = seen.get(key) ?? 0;
    if (fault) seen.set(key, nth + 1);
    if (at === null || !fault || (nth > 0 && !fault.isLasting)) {
      reply(perform());
      return;
    }
    cases.onStruck(at);
    fault.strike({ id, response, perform, forget: () => void sessions.delete(session) });
  };
  return {
    handle,
    sessions,
    shareNext: () => {
      owed += 1;
    },
    shared: () => shared,
  };
}
