import type { ServerResponse } from 'node:http';

const usage = { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 };

/** Returns a chat completion with a message. `choice` has further fields of its choice, `more` of the completion. */
export function chatCompletion(message: object, choice: object = {}, more: object = {}): object {
  const choices = [{ index: 0, finish_reason: 'stop', message, ...choice }];
  return { id: 'c', object: 'chat.completion', created: 0, model: 'm', choices, usage, ...more };
}

/** Sends a JSON text or a value. The client retries after the shortest pause, so that a test need not wait. */
export function sendJson(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): void {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  response.writeHead(status, { 'content-type': 'application/json', 'retry-after-ms': '1', ...headers }).end(text);
}

/** Closes the connection in the middle of an answer. */
export function breakOff(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' });
  response.write('{"id": "c", "choices": [{', () => response.destroy());
}
