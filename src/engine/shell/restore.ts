import type { Domain } from '../core/domain.ts';
import type { RolloutEvent } from '../core/event.ts';
import { Fault } from './fault.ts';
import type { McpInstance } from './mcp.ts';

/**
 * Brings fresh tool sources to the state that a recording's prefix left: `replay` makes the recorded calls
 * again and compares every result; `none` refuses as soon as a write was recorded.
 */
export async function restoreSources(
  mcp: ReadonlyMap<string, McpInstance>,
  domain: Domain,
  servers: Domain['file']['mcpServers'],
  events: readonly RolloutEvent[],
): Promise<void> {
  const calls = new Map(
    events.flatMap((event) => (event.type === 'toolCalled' ? [[event.call.id, event.call] as const] : [])),
  );
  for (const event of events) {
    if (event.type !== 'toolReturned') continue;
    const call = calls.get(event.callId);
    const tool = domain.tools.find(({ name }) => name === call?.name);
    if (!call || tool?.source.type !== 'mcp' || typeof call.arguments === 'string') continue;
    const { server } = tool.source;
    if (servers[server]?.state === 'none') {
      if (tool.effect === 'write')
        throw new Fault({
          who: 'environment',
          code: 'fork/no-state',
          message: `can't go on from here: "${server}" declares state: none, and ${call.name} changed it. Declare state: replay in domain.yaml if its calls can be made again`,
        });
      continue;
    }
    const { content } = (await mcp.get(server)?.call(call.name, call.arguments)) ?? { content: '' };
    if (content !== event.content)
      throw new Fault({
        who: 'environment',
        code: 'fork/mismatch',
        message: `can't go on from here: ${call.name} of "${server}" answered differently when it was made again. Recorded: ${event.content.slice(0, 120)}. Now: ${content.slice(0, 120)}`,
      });
  }
}
