import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

export type ModelRequest = { readonly messages: readonly { readonly role: string; readonly content: string }[] };

/**
 * A test server that speaks like a model's endpoint and answers what a test says: a text, or fields of a message; null
 * never answers. It keeps every request, parsed and as it was sent.
 * @param used the tokens that every answer says it took
 */
export async function modelServer(
  answer: (request: ModelRequest, nth: number) => string | object | null,
  used = { prompt_tokens: 7, completion_tokens: 3 },
): Promise<{ readonly url: string; readonly requests: ModelRequest[]; readonly bodies: string[] }> {
  const requests: ModelRequest[] = [];
  const bodies: string[] = [];
  const server = createServer(async (request, response) => {
    bodies.push(Buffer.concat(await Array.fromAsync(request)).toString());
    const body = JSON.parse(bodies.at(-1) ?? '') as ModelRequest;
    requests.push(body);
    const said = answer(body, requests.length);
    if (said === null) return;
    const message = { role: 'assistant', content: null, ...(typeof said === 'string' ? { content: said } : said) };
    const choices = [{ index: 0, finish_reason: 'stop', message }];
    const usage = { ...used, total_tokens: used.prompt_tokens + used.completion_tokens };
    const completion = { id: 'c', object: 'chat.completion', created: 0, model: 'm', choices, usage };
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(completion));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`, requests, bodies };
}

/** A message that calls tools, each given as its name and arguments. */
export function calling(...calls: readonly (readonly [name: string, args: object])[]): object {
  const tool_calls = calls.map(([name, args], index) => ({
    id: `${name}_${index}`,
    type: 'function',
    function: { name, arguments: JSON.stringify(args) },
  }));
  return { tool_calls };
}
