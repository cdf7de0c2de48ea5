import { listenRawMcp, type RawServer, resultBody, textResult } from '../support/rawMcpListener.ts';
import { type Cases, caseIn } from './cases.ts';
import { toolPlace } from './plan.ts';

/** The faults when clients open their sessions, by the number of the opening, from 1. */
export type Openings = {
  /** The client is given the session of another one. */
  readonly shared: ReadonlySet<number>;
  /** The connection is closed. */
  readonly broken: ReadonlySet<number>;
};
export const usualOpenings: Openings = { shared: new Set(), broken: new Set() };

export type VisitServer = RawServer & {
  /** The number of times that a client got the session of another one. */
  readonly shared: () => number;
  /** The number of connections that were closed when they were opened. */
  readonly broken: () => number;
  readonly close: () => void;
};

const schema = { type: 'object', properties: { case: { type: 'string' } } };
const tools = [
  { name: 'visit', description: 'Notes a visit.', inputSchema: { ...schema, required: ['case'] } },
  { name: 'visits', description: 'All visits.', inputSchema: schema, annotations: { readOnlyHint: true } },
];
const opening = { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 'v', version: '1' } };

/**
 * Starts an MCP server over HTTP whose state is the visits of each session, and injects the planned faults.
 * @param isPerCase whether the state is that of a case, whatever the session. The reader then names the case.
 */
export async function visitServer(cases: Cases, openings: Openings, isPerCase = false): Promise<VisitServer> {
  const visitsOf = new Map<string, string[]>();
  const seen = new Map<string, number>();
  let opened = 0;
  let shared = 0;
  let broken = 0;
  const server = await listenRawMcp({
    reply: ({ id, method, params, headers, text }, { sessions }) => {
      if (method === 'tools/list') return { body: resultBody(id, JSON.stringify({ tools })) };
      if (method === 'initialize') {
        opened += 1;
        if (openings.broken.has(opened)) {
          broken += 1;
          return (response) => void response.destroy();
        }
        const [other] = sessions;
        if (other === undefined || !openings.shared.has(opened)) return undefined;
        shared += 1;
        return (response) =>
          response
            .writeHead(200, { 'content-type': 'application/json', 'mcp-session-id': other })
            .end(resultBody(id, JSON.stringify(opening)));
      }
      if (method !== 'tools/call') return undefined;
      const session = String(headers['mcp-session-id']);
      const owner = isPerCase ? String(caseIn(text)) : session;
      const visits = visitsOf.get(owner) ?? [];
      visitsOf.set(owner, visits);
      const perform = () => {
        if (params.name === 'visit') visits.push(/"case":\s*"(.*?)"/.exec(text)?.[1] ?? '');
        return textResult(params.name === 'visit' ? 'noted' : JSON.stringify(visits));
      };
      // The reader has no case in its arguments: it is about the one that was visited in its session.
      const at = (params.name === 'visits' ? null : caseIn(text)) ?? caseIn(visits[0] ?? '');
      const plan = at === null ? undefined : cases.planOf(at);
      const fault = plan && toolPlace(plan, params.name ?? '');
      const key = `${at} ${params.name}`;
      const nth = seen.get(key) ?? 0;
      if (fault) seen.set(key, nth + 1);
      if (at === null || !fault || (nth > 0 && !fault.isLasting)) return { body: resultBody(id, perform()) };
      cases.onInjected(at);
      return (response) =>
        fault.inject({ id, response, perform, times: nth, forget: () => void sessions.delete(session) });
    },
  });
  return { ...server, shared: () => shared, broken: () => broken };
}
