import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { caseIn, caseName } from './cases.ts';
import { type ChatFault, completion, type Message, type Seat, send } from './chatFaults.ts';
import { type McpServer, mcpServer } from './mcpServer.ts';
import { chatPlace, type Plan } from './plan.ts';

/** What the endpoint knows of the cases: whose agent is wrong, who is struck, and who was. */
export type Cases = {
  /** The plan of a case; undefined for one that is left alone. */
  readonly planOf: (at: number) => Plan | undefined;
  /** Whether the agent of a case leaves its work undone, so that its reward is 0. */
  readonly isWrong: (at: number) => boolean;
  /** Called once for each case, when it is first struck. */
  readonly onStruck: (at: number) => void;
};

export type Endpoint = { readonly base: string; readonly mcp: McpServer; readonly close: () => void };

/** Serves the models of all seats and the MCP server, and strikes them as planned. */
export async function serveCases(cases: Cases): Promise<Endpoint> {
  const mcp = mcpServer(cases);
  const seen = new Map<string, number>();
  const server = createServer(async (request, response) => {
    const text = Buffer.concat(await Array.fromAsync(request)).toString();
    if (request.url === '/mcp') mcp.handle(request, response, text);
    else answerChat(request, response, text);
  });
  const answerChat = (request: IncomingMessage, response: ServerResponse, text: string) => {
    const seat = request.url?.split('/')[1] as Seat;
    const at = caseIn(text);
    if (request.method !== 'POST' || at === null) {
      send(response, 404, { error: { message: 'not here' } });
      return;
    }
    const message = said(seat, at, text, cases.isWrong(at));
    const plan = cases.planOf(at);
    const fault = plan && chatPlace(plan, seat);
    const key = `${at} ${seat}`;
    const nth = seen.get(key) ?? 0;
    const fits = fault?.fault.fits?.(message) ?? true;
    // Only requests that can be struck are counted.
    if (fault && fits) seen.set(key, nth + 1);
    const isStruck = fault && fits && (fault.fault.isLasting ? nth >= fault.nth : nth === fault.nth);
    if (!isStruck) {
      send(response, 200, completion(message));
      return;
    }
    cases.onStruck(at);
    (fault.fault as ChatFault).strike(message, response, seat);
  };
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    base: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    mcp,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

type Request = { readonly messages: readonly { readonly role: string; readonly content: unknown }[] };

const text = (content: string): Message => ({ role: 'assistant', content });

/** What the model of a seat says: it does its work, and makes a call again that has failed. */
function said(seat: Seat, at: number, body: string, isWrong: boolean): Message {
  const { messages } = JSON.parse(body) as Request;
  if (seat === 'judge') return text('{"reason": "It names the case.", "holds": true}');
  if (seat === 'tool') return text('{"result": {"sky": "clear"}}');
  const name = caseName(at);
  const calls = [
    ['look', { case: name }],
    ['settle', { case: name, note: isWrong ? 'later' : 'done' }],
    ['weather', { case: name }],
    ['visit', { case: name }],
  ] as const;
  if (seat === 'user') {
    const isTold = messages.some(({ role, content }) => role === 'user' && String(content).includes('is settled'));
    return text(isTold ? 'Thank you, goodbye. ###STOP###' : `Hello, I would like ${name} settled, please.`);
  }
  const results = messages.filter(({ role, content }) => role === 'tool' && !String(content).startsWith('Error'));
  const call = calls[results.length];
  if (!call) return text(`Your ${name} is settled.`);
  const [tool, args] = call;
  const id = `call_${messages.length}`;
  return {
    role: 'assistant',
    content: null,
    tool_calls: [{ id, type: 'function', function: { name: tool, arguments: JSON.stringify(args) } }],
  };
}
