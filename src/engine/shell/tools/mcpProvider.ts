import type { McpServer } from '../../core/domain/domain.ts';
import { isLeftOut, type Tool } from '../../core/domain/tool.ts';
import { Fault } from '../files/fault.ts';
import { shortKeysIn } from '../keys/placeholders.ts';
import { comparableSchema } from '../load/comparableSchema.ts';
import type { ProviderContext, ToolProvider } from './toolProvider.ts';
import type { ToolSource } from './toolSource.ts';

/** Provides the tools of the MCP servers. */
export function mcpProvider({ domain, log, secretSnapshots }: ProviderContext): ToolProvider {
  const { folder, file, locations } = domain;
  /** The tools of each server as it described them when the run began. The agent is shown these. */
  const described = new Map<string, readonly Tool[]>();

  async function startServer(
    name: string,
    server: McpServer,
    now: string,
    start: { readonly signal: AbortSignal | undefined; readonly isSetUp?: boolean },
  ): Promise<ToolSource> {
    // The client is loaded only for domains that have servers: it would double the time to the first stop.
    const { startMcpServer } = await import('./mcp.ts');
    const at = locations.mcpServers.get(name);
    return startMcpServer(name, server, folder, { at, now, ...start, log, secretSnapshots });
  }

  /** Short values are not replaced: they are often words, such as `none` or `test`. */
  function warnOfShortKeys(name: string, server: McpServer): void {
    for (const variable of shortKeysIn(JSON.stringify(server), process.env))
      log(
        `MCP server "${name}": the value of ${variable} has fewer than 8 characters, so results and recordings may show it. Use a longer one if it is a real key`,
      );
  }

  function requireSame(name: string, tools: readonly Tool[]): void {
    // A tool that is left out may have the name of another one.
    const usable = tools.filter((tool) => !isLeftOut(tool));
    const before = described.get(name)?.filter((tool) => !isLeftOut(tool)) ?? [];
    const nowOf = ({ name: own }: Tool) => usable.find((tool) => tool.name === own);
    const changed = before.find(
      (tool) => comparableSchema(nowOf(tool)?.parameters ?? null) !== comparableSchema(tool.parameters),
    );
    if (!changed) return;
    const problem = nowOf(changed)
      ? `its tool ${changed.name} has different arguments from when the run started`
      : `it no longer lists its tool ${changed.name}`;
    const { file: place, line } = locations.mcpServers.get(name) ?? {};
    throw new Fault({
      who: 'environment',
      code: 'mcp/changed',
      message: `MCP server "${name}": ${problem}, and the agent is shown the tools of the start. Run the command again`,
      ...(place ? { file: place } : {}),
      ...(line ? { line } : {}),
    });
  }

  return {
    describe: async (signal) => {
      const lists = Object.entries(file.mcpServers).map(async ([name, server]) => {
        const started = await startServer(name, server, file.now, { signal });
        await started.close();
        warnOfShortKeys(name, server);
        described.set(name, started.tools);
        return started.tools;
      });
      return (await Promise.all(lists)).flat();
    },
    /** A server that the task gives files or arguments is not started: `setUp` does that. */
    open: async ({ now, setUp = {}, signal, isWanted, add }) => {
      for (const [name, server] of Object.entries(file.mcpServers)) {
        if (!isWanted(name)) continue;
        const isSetUp = server.type !== 'http' && restarts(setUp[name]);
        const source = await startServer(name, server, now ?? file.now, { signal, isSetUp });
        add(name, source);
        if (!isSetUp) requireSame(name, source.tools);
      }
    },
  };
}

/** Returns whether the setup of a task starts a server with other files or arguments. */
const restarts = (setUp: unknown): boolean => {
  const { files, args } = (setUp ?? {}) as { readonly files?: unknown; readonly args?: unknown };
  return files !== undefined || args !== undefined;
};
