import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { chatCompletion, sendJson } from '../support/chatResponse.ts';
import { type Cases, caseIn, caseName } from './cases.ts';
import type { ChatBody, Message, Seat } from './chatFaults.ts';
import { chatPlace } from './plan.ts';
import { streamed } from './streamed.ts';

export type Endpoint = { readonly base: string; readonly close: () => void };

/** A seat whose every request is refused with a status. */
export type Refused = { readonly seat: Seat; readonly status: number };

/** A call of a tool, as the agent makes it. */
type ToolCall = readonly [tool: string, args: object];
/** Returns the calls of the agent in the case of a name. */
export type Calls = (name: string, isWrong: boolean) => readonly ToolCall[];

/** Serves the models of all seats, and injects the planned faults. */
export async function serveCases(
  cases: Cases,
  refused: Refused | null = null,
  calls: Calls = deskCalls,
): Promise<Endpoint> {
  const seen = new Map<string, number>();
  const earlier = new Map<string, Message>();
  const server = createServer(async (request, plain) => {
    const text = Buffer.concat(await Array.fromAsync(request)).toString();
    // A harness may request the models of its endpoint before it starts.
    if (request.method === 'GET') {
      sendJson(plain, 200, { object: 'list', data: [{ id: 'm', object: 'model' }] });
      return;
    }
    const body = JSON.parse(text) as ChatBody;
    const response = body.stream === true ? streamed(plain) : plain;
    // A client without a path before /v1 is an agent's.
    const [, first] = request.url?.split('/') ?? [];
    const seat = (first === 'v1' ? 'agent' : first) as Seat;
    if (seat === refused?.seat) {
      sendJson(response, refused.status, { error: { message: 'slow down' } }, { 'retry-after-ms': '50' });
      return;
    }
    // If a rollout ended at once, the judge's request does not name a case.
    const at = caseIn(text) ?? -1;
    const message = said(seat, at, body, cases.isWrong(at), calls);
    const plan = cases.planOf(at);
    const fault = plan && chatPlace(plan, seat);
    const key = `${at} ${seat}`;
    const before = earlier.get(key);
    earlier.set(key, message);
    const nth = seen.get(key) ?? 0;
    const fits = fault?.fault.fits?.(message) ?? true;
    // Only requests that the fault can be injected into are counted.
    if (fault && fits) seen.set(key, nth + 1);
    const isAffected = fault && fits && (fault.fault.isLasting ? nth >= fault.nth : nth === fault.nth);
    if (!isAffected) {
      sendJson(response, 200, chatCompletion(message));
      return;
    }
    cases.onInjected(at);
    fault.fault.inject({ response, body, message, before, times: nth - fault.nth, name: caseName(at) });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    base: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

const deskCalls: Calls = (name, isWrong) => [
  ['look', { case: name }],
  ['settle', { case: name, note: isWrong ? 'later' : 'done' }],
  ['weather', { case: name }],
  ['visit', { case: name }],
];

const text = (content: string): Message => ({ role: 'assistant', content });

/** Returns the message of a seat's model: it does its work, and repeats a call that has failed. */
function said(seat: Seat, at: number, { messages }: ChatBody, isWrong: boolean, calls: Calls): Message {
  if (seat === 'judge') {
    // Thoughts must not be part of what the judge reads, whichever seat had them.
    const isLeaked = JSON.stringify(messages).includes('settled on Thursday');
    return text(`{"reason": "It names the case.", "holds": ${!isLeaked}}`);
  }
  if (seat === 'tool') return text('{"result": {"sky": "clear"}}');
  const name = caseName(at);
  if (seat === 'user') {
    const isTold = messages.some(({ role, content }) => role === 'user' && String(content).includes('is settled'));
    if (isTold) return text('Thank you, goodbye. ###STOP###');
    const times = messages.filter(({ role }) => role === 'assistant').length;
    return text(`${times === 0 ? 'Hello, I' : `I still (${times})`} would like ${name} settled, please.`);
  }
  const results = messages.filter(({ role, content }) => role === 'tool' && !/^(Error|error: )/.test(String(content)));
  const call = calls(name, isWrong)[results.length];
  if (!call) return text(`Your ${name} is settled.`);
  const [tool, args] = call;
  const id = `call_${messages.length}`;
  return {
    role: 'assistant',
    content: null,
    tool_calls: [{ id, type: 'function', function: { name: tool, arguments: JSON.stringify(args) } }],
  };
}
