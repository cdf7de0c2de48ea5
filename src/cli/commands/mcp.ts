import { ScratchTools } from '../../engine/shell/scratchTools.ts';
import type { Command } from '../options/command.ts';
import { text } from '../options/command.ts';
import { openDomain, taskNamed } from '../options/rolloutOptions.ts';

export const mcp: Command = {
  name: 'mcp',
  takes: 1,
  summary: "serve a domain's tools over MCP, on a scratch database",
  help: `rehearsal mcp DOMAIN [--task TASK]

Serves the agent's tools of a domain to any MCP client, over standard input and output, until the input ends. They work
on their own database, which is discarded afterwards: nothing is recorded, and the domain stays as it is. Tools that end
a rollout (to hand over to a person) are left out. A cancelled call of an MCP server, a Python environment or a simulated
tool ends at once. A TypeScript tool runs to its end, or to its time limit.

  --task TASK        the task whose start the database has, and whose faults the tools have
  --json             what could not be done as JSON too
`,
  options: { task: { type: 'string' } },
  run: async (given, io) => {
    const domain = openDomain(io, given.positionals[0]);
    const named = text(given, 'task');
    const task = named === undefined ? undefined : taskNamed(domain, named, io.cwd);
    const tools = await ScratchTools.open(domain, {
      task: task?.id,
      readKey: (name) => io.environment[name],
      log: (line) => io.err(`${line}\n`),
    });
    try {
      const { serveMcp } = await import('../../engine/shell/tools/mcpServer.ts');
      await serveMcp(tools.shown, { signal: io.signal });
    } finally {
      await tools.close();
    }
    return 0;
  },
};
