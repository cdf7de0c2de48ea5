import { ScratchTools } from '../../engine/shell/scratchTools.ts';
import { type Command, defineCommand } from '../options/command.ts';
import { flag, text } from '../options/option.ts';
import { openTools, taskNamed } from '../options/rolloutOptions.ts';

export const mcp: Command = defineCommand({
  name: 'mcp',
  takes: 1,
  summary: "serve a domain's tools over MCP, on a temporary database",
  usage: 'DOMAIN [--task TASK]',
  about: `
Serves the agent's tools of a domain to any MCP client, over standard input and output, until the input ends. They work
on their own database, which is discarded afterwards: nothing is recorded, and the domain does not change. Tools that end
a rollout (to hand over to a person) are left out. A cancelled call of an MCP server, a Python environment or a simulated
tool ends at once. A TypeScript tool runs to its end, or to its time limit.
`,
  options: {
    task: text('TASK', 'start from the state of this task, with its faults'),
    json: flag('print errors as JSON'),
  },
  run: async ({ task: named }, [folder], io) => {
    const domain = openTools(io, folder);
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
});
