import { boundFetch } from './boundFetch.ts';
import { Fault } from './fault.ts';

/**
 * A `fetch` for a transport that reads answers as event streams. It says when the stream of a posted request ends with
 * no answer in it and can't be resumed, or is too long: the client would go on waiting for its time-out.
 */
export function watchedFetch(
  onCut: (error?: Error) => void,
): (url: string | URL, init?: RequestInit) => Promise<Response> {
  return async (url, init) => {
    const response = await boundFetch(url, init);
    const isStream = response.headers.get('content-type')?.includes('text/event-stream');
    if (init?.method !== 'POST' || !response.body || !isStream) return response;
    const body = watched(response.body, onCut);
    return new Response(body, { status: response.status, statusText: response.statusText, headers: response.headers });
  };
}

function watched(body: ReadableStream<Uint8Array>, onCut: (error?: Error) => void): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let text = '';
  const ended = () => {
    const isAnswered = /^data:.*"(?:result|error)":/m.test(text);
    const isResumable = /^id:/m.test(text);
    if (!isAnswered && !isResumable) onCut();
  };
  return new ReadableStream({
    pull: async (controller) => {
      try {
        const { done, value } = await reader.read();
        if (done) {
          controller.close();
          ended();
          return;
        }
        text += decoder.decode(value, { stream: true });
        controller.enqueue(value);
      } catch (error) {
        controller.error(error);
        if (error instanceof Fault) onCut(error);
        else ended();
      }
    },
    cancel: (reason) => reader.cancel(reason),
  });
}
