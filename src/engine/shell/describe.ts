import type { DomainFile } from '../core/domain.ts';
import type { Tool } from '../core/tool.ts';
import { Fault } from './fault.ts';
import { startLane } from './lane/laneProcess.ts';
import type { Locations } from './load/loadedDomain.ts';

type Described = { readonly folder: string; readonly file: DomainFile };
type Located = Described & { readonly locations: Pick<Locations, 'mcpServers'> };

/** The code tools of a domain, described by a lane that ends afterwards. Throws a `Fault` that names file and line. */
export function describeCodeTools({ folder, file }: Described): Promise<readonly Tool[]> {
  const { promise, resolve, reject } = Promise.withResolvers<readonly Tool[]>();
  const lane = startLane(
    { folder, toolsFile: file.tools, timeoutMs: file.toolTimeoutMs },
    {
      onMessage: (message) => {
        if (message.type === 'described') resolve(message.tools);
        else if (message.type === 'notDescribed') reject(new Fault(message.failure));
      },
      onDeath: ({ failure }) => reject(new Fault(failure)),
    },
  );
  return promise.finally(() => lane.kill());
}

/** The tools of every MCP server of a domain; each server is started once and ended. */
export async function describeMcpTools({ folder, file, locations }: Located): Promise<readonly Tool[]> {
  const lists = await Promise.all(
    Object.entries(file.mcpServers).map(async ([name, server]) => {
      // The client is loaded only for domains that have servers: it would double the time to the first stop.
      const { startMcpServer } = await import('./mcp.ts');
      const started = await startMcpServer(name, server, folder, locations.mcpServers.get(name));
      await started.close();
      return started.tools;
    }),
  );
  return lists.flat();
}
