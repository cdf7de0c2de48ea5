import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { isObject, type Json, jsonOf } from '../../src/engine/core/values/json.ts';

type Completion = { readonly choices?: readonly Choice[]; readonly usage?: unknown };
type Message = { readonly tool_calls?: unknown };
type Choice = { readonly message?: Message; readonly delta?: Message; readonly finish_reason?: unknown };

/**
 * Lets an endpoint that answers with whole chat completions answer a request for a stream: what it sends with status 200
 * becomes events. A connection that breaks, a stream, a page, and an answer with another status stay as they are.
 */
export function streamed(response: ServerResponse): ServerResponse {
  const writeHead = response.writeHead.bind(response);
  return Object.assign(response, {
    writeHead: (status: number, headers: OutgoingHttpHeaders) => {
      if (status !== 200 || headers['content-type'] !== 'application/json') return writeHead(status, headers);
      const end = response.end.bind(response);
      // The announced length is that of the whole completion.
      const { 'content-length': _, ...others } = headers;
      writeHead(status, { ...others, 'content-type': 'text/event-stream' });
      const send = (text: string) =>
        end(
          events(text)
            .map((event) => `data: ${event}\n\n`)
            .join(''),
        );
      return Object.assign(response, { end: send });
    },
  });
}

/** Returns the events of a stream with the content of a chat completion. */
function events(text: string): readonly string[] {
  const value = jsonOf(text) as Json | undefined;
  if (!isObject(value) || !Array.isArray(value['choices'])) return text.trim().split('\n');
  const { choices = [], usage, ...rest } = value as unknown as Completion;
  const chunk = (more: object) => JSON.stringify({ ...rest, object: 'chat.completion.chunk', ...more });
  const parts = choices.flatMap(({ message, delta, finish_reason = 'stop', ...choice }, index) => [
    chunk({ choices: [{ index, ...choice, delta: deltaOf(message ?? delta ?? {}), finish_reason: null }] }),
    chunk({ choices: [{ index, ...choice, delta: {}, finish_reason }] }),
  ]);
  return [...parts, chunk({ choices: [], ...(usage !== undefined && { usage }) }), '[DONE]'];
}

function deltaOf(message: Message): object {
  if (!Array.isArray(message.tool_calls)) return message;
  return { ...message, tool_calls: message.tool_calls.map((call: object, index) => ({ index, ...call })) };
}
