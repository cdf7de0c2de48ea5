import type { JsonObject } from '../../src/engine/core/values/json.ts';
import { rawMcpServer, resultBody } from './rawMcpServer.ts';

type Call = { readonly name: string; readonly arguments: JsonObject };

/** The answers of a scripted server. They are not checked, so they can be wrong in any way. */
export type McpScript = {
  /** The result of `tools/list`. */
  readonly list?: unknown;
  readonly call?: (call: Call) => unknown;
  /** Keys that replace the usual ones in the result of `initialize`. */
  readonly start?: object;
};

/** Starts a server in this process that answers according to a script. It ends with the test. */
export async function scriptedMcpServer(
  script: McpScript,
): Promise<{ readonly url: string; readonly calls: readonly Call[] }> {
  const calls: Call[] = [];
  const answer = (method: string, params: Call): unknown => {
    switch (method) {
      case 'initialize': {
        const serverInfo = { name: 'scripted', version: '1' };
        return { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo, ...script.start };
      }
      case 'tools/list':
        return script.list;
      case 'tools/call':
        calls.push(params);
        return script.call?.(params) ?? { content: [] };
      default:
        return undefined;
    }
  };
  const { url } = await rawMcpServer({
    reply: ({ id, method, params }) => {
      const result = answer(method, params as Call);
      return result === undefined ? undefined : { body: resultBody(id, JSON.stringify(result)) };
    },
  });
  return { url, calls };
}
