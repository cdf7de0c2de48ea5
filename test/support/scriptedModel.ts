import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

type Message = { readonly role: string; readonly content: string };
export type ModelRequest = { readonly messages: readonly Message[] };

/** What a model says to a request, the nth: a text, or fields of a message and a `finish_reason`; null never answers. */
export type ScriptedAnswer = (request: ModelRequest, nth: number) => string | object | null;

/** An endpoint of a scripted model, with every request it took, parsed and as it was sent. */
export type ScriptedModel = {
  readonly url: string;
  readonly requests: ModelRequest[];
  readonly bodies: string[];
  readonly close: () => void;
};

/** What an endpoint says of the tokens that an answer took, and the key that it wants. */
type Terms = { readonly used?: Usage; readonly key?: string };
type Usage = { readonly prompt_tokens: number; readonly completion_tokens: number };

/** What every answer says it took, unless told otherwise. */
export const usualUsage: Usage = { prompt_tokens: 7, completion_tokens: 3 };

/** Serves a scripted model on loopback until it is closed. Who has not its key is refused, and leaves no request. */
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

/** A message that calls tools, each given as its name and arguments. */
export function calling(...calls: readonly (readonly [name: string, args: object])[]): object {
  const tool_calls = calls.map(([name, args], index) => ({
    id: `${name}_${index}`,
    type: 'function',
    function: { name, arguments: JSON.stringify(args) },
  }));
  return { tool_calls };
}
