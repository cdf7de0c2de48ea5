import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

/** The answer of an endpoint to every request. `null` never answers. A header that is null is left out. */
export type Answer = {
  readonly status: number;
  readonly body: unknown;
  readonly headers?: Readonly<Record<string, string | null>>;
} | null;

/** Headers that make a client retry at once. */
export const askedAtOnce = { 'x-should-retry': null, 'retry-after-ms': '1' };

/** Starts a model endpoint on loopback that lives as long as the test. Returns its base URL. */
export async function endpoint(
  answerOf: (request: number, body: string, headers: IncomingHttpHeaders) => Answer,
): Promise<string> {
  let requests = 0;
  const server: Server = createServer(async (request, response) => {
    const asked = Buffer.concat(await Array.fromAsync(request)).toString();
    const answer = answerOf(requests++, asked, request.headers);
    if (!answer) return;
    const { status, body, headers } = answer;
    const all = { 'content-type': 'application/json', 'x-should-retry': 'false', ...headers };
    const sent = Object.entries(all).flatMap(([name, value]) => (value === null ? [] : [[name, value] as const]));
    response.writeHead(status, Object.fromEntries(sent)).end(typeof body === 'string' ? body : JSON.stringify(body));
  });
  await listenAnew(server);
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
}

const usedPorts = new Set<number>();

/** Listens on loopback at a port that no endpoint of this process had before: the limits of an endpoint are remembered. */
export async function listenAnew(server: Server): Promise<void> {
  for (;;) {
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    const { port } = server.address() as AddressInfo;
    if (!usedPorts.has(port)) {
      usedPorts.add(port);
      return;
    }
    await new Promise((done) => server.close(done));
  }
}

/** Returns a chat completion with a message of the assistant. */
export function completion(message: object): Answer {
  const choices = [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: null, ...message } }];
  return { status: 200, body: { id: 'c', object: 'chat.completion', created: 0, model: 'm', choices } };
}
