import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';

type Completion = { readonly choices?: readonly Choice[]; readonly usage?: unknown };
type Choice = { readonly message?: { readonly tool_calls?: unknown }; readonly finish_reason?: unknown };

/**
 * Lets an endpoint that answers with whole chat completions answer a request for a stream: what it sends with status 200
 * becomes events. A connection that breaks, a stream, and an answer with another status stay as they are.
 */
export function streamed(response: ServerResponse): ServerResponse {
  const writeHead = response.writeHead.bind(response);
  return Object.assign(response, {
    writeHead: (status: number, headers: OutgoingHttpHeaders) => {
      if (status !== 200 || headers['content-type'] === 'text/event-stream') return writeHead(status, headers);
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
  const { choices, usage, ...rest } = JSON.parse(text) as Completion;
  if (choices === undefined) return [text];
  const chunk = (more: object) => JSON.stringify({ ...rest, object: 'chat.completion.chunk', ...more });
  const parts = choices.flatMap(({ message, finish_reason = 'stop', ...choice }, index) => [
    chunk({ choices: [{ index, ...choice, delta: deltaOf(message ?? {}), finish_reason: null }] }),
    chunk({ choices: [{ index, ...choice, delta: {}, finish_reason }] }),
  ]);
  return [...parts, chunk({ choices: [], ...(usage !== undefined && { usage }) }), '[DONE]'];
}

function deltaOf(message: { readonly tool_calls?: unknown }): object {
  if (!Array.isArray(message.tool_calls)) return message;
  return { ...message, tool_calls: message.tool_calls.map((call: object, index) => ({ index, ...call })) };
}
