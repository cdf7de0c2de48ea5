import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

type Message = { readonly role: string; readonly content: string };
export type ModelRequest = { readonly messages: readonly Message[] };

/** Answers the nth request with a text, or with fields of a message and a `finish_reason`. null never answers. */
export type ScriptedAnswer = (request: ModelRequest, nth: number) => string | object | null;

/** An endpoint of a scripted model, with each request that it received, parsed and as sent. */
export type ScriptedModel = {
  readonly url: string;
  readonly requests: ModelRequest[];
  readonly bodies: string[];
  readonly close: () => void;
};

/** The token usage that an endpoint reports with each answer, and the key that it requires. */
type Terms = { readonly used?: Usage; readonly key?: string };
type Usage = { readonly prompt_tokens: number; readonly completion_tokens: number };

/** The token usage of an answer by default. */
export const usualUsage: Usage = { prompt_tokens: 7, completion_tokens: 3 };

/** Serves a scripted model on loopback until it is closed. Refuses and does not record requests without its key. */
export async function serveModel(
  answer: ScriptedAnswer,
  { used = usualUsage, key }: Terms = {},
): Promise<ScriptedModel> {
  const { prompt_tokens, completion_tokens } = used;
  const usage = { prompt_tokens, completion_tokens, total_tokens: prompt_tokens + completion_tokens };
  const requests: ModelRequest[] = [];
  const bodies: string[] = [];
  const server = createServer(async (request, response) => {
    const text = Buffer.concat(await Array.fromAsync(request)).toString();
    const send = (status: number, body: object) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    if (key !== undefined && request.headers.authorization !== `Bearer ${key}`) {
      send(401, { error: { message: 'Incorrect API key provided' } });
      return;
    }
    if (request.method === 'GET') {
      send(200, { object: 'list', data: [] });
      return;
    }
    bodies.push(text);
    const body = JSON.parse(text) as ModelRequest;
    requests.push(body);
    const said = answer(body, requests.length);
    if (said === null) return;
    const fields = typeof said === 'string' ? { content: said } : said;
    const { finish_reason = 'stop', ...message } = { role: 'assistant', content: null, ...fields } as {
      readonly finish_reason?: string;
    };
    const choices = [{ index: 0, finish_reason, message }];
    send(200, { id: 'c', object: 'chat.completion', created: 0, model: 'm', choices, usage });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const close = () => {
    server.closeAllConnections();
    server.close();
  };
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`, requests, bodies, close };
}

/** Returns a message that calls tools, each given by its name and arguments. */
export function calling(...calls: readonly (readonly [name: string, args: object])[]): object {
  const tool_calls = calls.map(([name, args], index) => ({
    id: `${name}_${index}`,
    type: 'function',
    function: { name, arguments: JSON.stringify(args) },
  }));
  return { tool_calls };
}
