import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

type Request = {
  readonly stream?: boolean;
  readonly messages: readonly { readonly role: string; readonly content: unknown }[];
  readonly tools?: readonly { readonly function: { readonly name: string } }[];
};

/** A request in the form of Gemini. */
type GeminiRequest = { readonly contents: readonly { readonly parts: unknown }[] };

const calling = (...calls: readonly (readonly [id: string, name: string, args: object])[]) => ({
  content: null,
  tool_calls: calls.map(([id, name, args], index) => ({
    ...{ index, id: `call_${id}`, type: 'function' },
    function: { name, arguments: JSON.stringify(args) },
  })),
});

/** Returns the model's answer: two calls after the question, a text after their results and after thanks. */
function answerTo({ messages, tools = [] }: Request): {
  readonly content: string | null;
  readonly tool_calls?: readonly { readonly function: { readonly name: string; readonly arguments: string } }[];
} {
  const last = JSON.stringify(messages.at(-1)?.content ?? '');
  const words = last.includes('shipped on')
    ? 'Both have shipped.'
    : last.includes('Thanks')
      ? 'You are welcome.'
      : null;
  if (words === null) return calling(['W1', 'get_order', { order_id: 'W1' }], ['W2', 'get_order', { order_id: 'W2' }]);
  // Some libraries end a turn with a call.
  const hasEnd = tools.some((tool) => tool.function.name === 'final_answer');
  return hasEnd ? calling(['end', 'final_answer', { answer: words }]) : { content: words };
}

/** The same answer in the form of Gemini. */
function geminiAnswer({ contents }: GeminiRequest): object {
  const answer = answerTo({ messages: [{ role: 'user', content: contents.at(-1)?.parts }] });
  const calls = (answer.tool_calls ?? []).map((call) => ({
    functionCall: { name: call.function.name, args: JSON.parse(call.function.arguments) },
  }));
  const parts = answer.content === null ? calls : [{ text: answer.content }];
  return { candidates: [{ content: { role: 'model', parts }, finishReason: 'STOP' }], modelVersion: 'scripted' };
}

/**
 * Serves a scripted model on loopback, as chat completions whole and streamed, and in the form of Gemini. Refuses the
 * first request with status 500, so that an agent has a failed attempt.
 */
export async function serveOrderModel(): Promise<{ readonly url: string; readonly close: () => void }> {
  let requests = 0;
  const server = createServer(async (request, response) => {
    const body = JSON.parse(Buffer.concat(await Array.fromAsync(request)).toString() || '{}') as Request &
      GeminiRequest;
    requests += 1;
    if (requests === 1) {
      response
        .writeHead(500, { 'content-type': 'application/json', 'x-should-retry': 'false' })
        .end('{"error":{"message":"overloaded","type":"server_error"}}');
      return;
    }
    if (request.url?.includes(':generateContent')) {
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(geminiAnswer(body)));
      return;
    }
    const message = { role: 'assistant', ...answerTo(body) };
    const finish_reason = message.tool_calls ? 'tool_calls' : 'stop';
    const usage = { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 };
    const part = { id: `c${requests}`, created: 1_700_000_000, model: 'scripted', usage };
    if (!body.stream) {
      const choices = [{ index: 0, finish_reason, message }];
      response
        .writeHead(200, { 'content-type': 'application/json' })
        .end(JSON.stringify({ ...part, object: 'chat.completion', choices }));
      return;
    }
    const chunks = [
      { delta: message, finish_reason: null },
      { delta: {}, finish_reason },
    ].map((choice) => ({ ...part, usage: null, object: 'chat.completion.chunk', choices: [{ index: 0, ...choice }] }));
    const end = { ...part, object: 'chat.completion.chunk', choices: [] };
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const chunk of [...chunks, end]) response.write(`data: ${JSON.stringify(chunk)}\n\n`);
    response.end('data: [DONE]\n\n');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const close = () => {
    server.closeAllConnections();
    server.close();
  };
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`, close };
}
