import type { McpServer } from '../../core/domain/domain.ts';
import type { Task } from '../../core/domain/task.ts';
import { isLeftOut, serverOf, type Tool } from '../../core/domain/tool.ts';
import type { JsonObject } from '../../core/values/json.ts';
import { underSource } from '../../core/verifiers/assertions.ts';
import { comparable } from '../../core/verifiers/volatile.ts';
import { Fault } from '../files/fault.ts';
import type { LoadedDomain } from '../load/loadedDomain.ts';
import { type Placed, placeOf } from '../source/items.ts';
import type { Note } from '../source/note.ts';
import { RolloutTools } from '../tools/rolloutTools.ts';
import { SharedTools } from '../tools/sharedTools.ts';

/** A server in whose state one rollout sees what another one writes, and the task and the call that show it. */
export type SharedServer = { readonly name: string; readonly task: string; readonly tool: string };

/**
 * Finds servers whose instances work on one state although domain.yaml does not say so: two rollouts have an instance each,
 * one makes the gold actions of a task, and the other one reads the state. A server without a reader, or without a gold
 * action that writes, is not tried, and neither is one whose state changes by itself.
 */
export async function findSharedServers(
  loaded: LoadedDomain,
  tasks: readonly Placed<Task>[],
  signal: AbortSignal,
): Promise<readonly SharedServer[]> {
  const found: SharedServer[] = [];
  for (const [name, server] of Object.entries(loaded.file.mcpServers)) {
    if (!server.reader || server.sharedState || signal.aborted) continue;
    const writes = writingTools(loaded, name);
    const task = tasks.map(({ value }) => value).find(({ actions }) => actions.some(({ tool }) => writes.has(tool)));
    const tool = task && (await writeThatIsSeen(loaded, name, writes, task, signal).catch(noneIfFault));
    if (task && tool) found.push({ name, task: task.id, tool });
  }
  return found;
}

export function noteSharedServers({ parts }: LoadedDomain, servers: readonly SharedServer[], note: Note): void {
  for (const { name, task, tool } of servers)
    note(
      placeOf(parts.file, 'mcpServers', name),
      'error',
      'domain/shared-state',
      `Rollouts share the state of the server ${name}: what ${tool} of the task ${task} wrote was seen in another session.`,
      `Give each rollout its own state, for example under \${instanceFolder}. If the server has only one, add sharedState: true to mcpServers.${name}, and reset it with setUp.${name}.calls of each task.`,
    );
}

/** Returns the domain with the servers declared as shared, so that its rollouts use them one at a time. */
export function withSharedServers(loaded: LoadedDomain, servers: readonly SharedServer[]): LoadedDomain {
  const declared = Object.fromEntries(
    servers.map(({ name }) => [name, { ...loaded.file.mcpServers[name], sharedState: true }] as const),
  ) as Readonly<Record<string, McpServer>>;
  const file = { ...loaded.file, mcpServers: { ...loaded.file.mcpServers, ...declared } };
  return { ...loaded, file, domain: { ...loaded.domain, file } };
}

const writingTools = ({ domain }: LoadedDomain, server: string): ReadonlyMap<string, Tool> =>
  new Map(
    domain.tools.flatMap((tool) => {
      return serverOf(tool) === server && tool.effect === 'write' && !isLeftOut(tool)
        ? [[tool.name, tool] as const]
        : [];
    }),
  );

/** Returns the first gold action that changes the state which another rollout reads; undefined if none does. */
async function writeThatIsSeen(
  loaded: LoadedDomain,
  name: string,
  writes: ReadonlyMap<string, Tool>,
  task: Task,
  signal: AbortSignal,
): Promise<string | undefined> {
  const shared = new SharedTools(loaded, () => undefined);
  // Both are in one turn: another server may have one state for all, as domain.yaml says.
  const [writer, reader] = [new RolloutTools(shared), new RolloutTools(shared, true)];
  const volatile = loaded.file.mcpServers[name]?.volatile;
  const read = async () => comparable([underSource(name, await reader.read(name))], volatile).texts[0];
  try {
    await writer.open(task, name);
    await reader.open(task, name);
    const start = await read();
    if ((await read()) !== start) return undefined;
    for (const [step, { tool, arguments: args }] of task.actions.entries()) {
      const write = writes.get(tool);
      if (!write) continue;
      const call = { type: 'tool', source: name, name: tool, arguments: args as JsonObject, step } as const;
      await writer.call(write, call, undefined, signal);
      if ((await read()) !== start) return tool;
    }
    return undefined;
  } finally {
    await Promise.all([writer.close(), reader.close()]);
    shared.close();
  }
}

/** A server that fails is a finding of the rollouts that follow. */
function noneIfFault(error: unknown): undefined {
  if (!(error instanceof Fault)) throw error;
  return undefined;
}
