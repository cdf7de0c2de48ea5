import { ErrorCode, McpError } from '@modelcontextprotocol/sdk/types.js';
import { EventSourceParserStream } from 'eventsource-parser/stream';
import * as z from 'zod';
import { boundFetch } from '../keys/boundFetch.ts';

/** Why a request of a server is refused, by its method. */
const reasons: Readonly<Record<string, string>> = {
  'elicitation/create': 'a rollout has no person who could answer. Give the tool an argument for it',
  'roots/list': 'a server gets its folders as arguments, as ${instanceFolder} in domain.yaml',
  'sampling/createMessage': 'the models of a rollout are those of its seats. Let the server call a model itself',
};

/** Returns the error that answers a request of a server. No capability for any of them is announced. */
export function refusalOf(method: string): McpError {
  const reason = reasons[method] ?? 'Rehearsal answers only ping';
  return new McpError(ErrorCode.MethodNotFound, `Rehearsal does not support ${method}: ${reason}`);
}

const taskSchema = z.looseObject({ taskId: z.string() });

/** Returns what the agent reads where a server started a task instead of returning a result; null for a result. */
export function taskRefusal(tool: string, result: object): string | null {
  const { task, content } = result as { readonly task?: unknown; readonly content?: unknown };
  // Data may have a field of this name, too. Only the id shows that it is a task of MCP.
  if (content !== undefined || !taskSchema.safeParse(task).success) return null;
  return `Error: ${tool} started a task instead of returning a result. Rehearsal does not support MCP tasks. Change the server so that this call returns its result directly.`;
}

/** The time that a server may take to show that it has the older transport, in ms. */
const probeMs = 2000;

/** Returns whether an address is that of the older transport HTTP+SSE, which begins with a stream that names an endpoint. */
export async function isLegacySse(url: URL, headers: Readonly<Record<string, string>>): Promise<boolean> {
  const signal = AbortSignal.timeout(probeMs);
  try {
    const response = await boundFetch(url, { headers: { ...headers, accept: 'text/event-stream' }, signal });
    if (!response.ok || !response.headers.get('content-type')?.includes('text/event-stream')) {
      await response.body?.cancel();
      return false;
    }
    const reader = response.body
      ?.pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>)
      .pipeThrough(new EventSourceParserStream())
      .getReader();
    const first = await reader?.read();
    await reader?.cancel();
    return first?.value?.event === 'endpoint';
  } catch {
    return false;
  }
}
