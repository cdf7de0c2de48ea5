import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { chatCompletion, sendJson } from '../support/chatResponse.ts';
import { type Cases, caseIn, caseName } from './cases.ts';
import type { Message, Seat } from './chatFaults.ts';
import { chatPlace } from './plan.ts';

export type Endpoint = { readonly base: string; readonly close: () => void };

/** A seat whose every request is refused with a status. */
export type Refused = { readonly seat: Seat; readonly status: number };

/** Serves the models of all seats, and strikes them as planned. */
export async function serveCases(cases: Cases, refused: Refused | null = null): Promise<Endpoint> {
  const seen = new Map<string, number>();
  const server = createServer(async (request, response) => {
    const text = Buffer.concat(await Array.fromAsync(request)).toString();
    const seat = request.url?.split('/')[1] as Seat;
    if (seat === refused?.seat) {
      sendJson(response, refused.status, { error: { message: 'slow down' } }, { 'retry-after-ms': '50' });
      return;
    }
    // The judge of a rollout that ended at once reads of no case.
    const at = caseIn(text) ?? -1;
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
      sendJson(response, 200, chatCompletion(message));
      return;
    }
    cases.onStruck(at);
    fault.fault.strike(message, response, caseName(at));
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
