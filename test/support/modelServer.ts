import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

export type ModelRequest = { readonly messages: readonly { readonly role: string; readonly content: string }[] };

/** A test server that speaks like a model's endpoint and answers what a test says; null never answers. */
export async function modelServer(
  answer: (request: ModelRequest, nth: number) => string | null,
): Promise<{ readonly url: string; readonly requests: ModelRequest[] }> {
  const requests: ModelRequest[] = [];
  const server = createServer(async (request, response) => {
    const body = JSON.parse(Buffer.concat(await Array.fromAsync(request)).toString()) as ModelRequest;
    requests.push(body);
    const content = answer(body, requests.length);
    if (content === null) return;
    const message = { role: 'assistant', content };
    const completion = { id: 'c', object: 'chat.completion', created: 0, model: 'm', choices: [{ index: 0, message }] };
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(completion));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`, requests };
}
