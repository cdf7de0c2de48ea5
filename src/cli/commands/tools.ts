import { describeSimulated } from '../../engine/core/domain/simulatedTool.ts';
import { isLeftOut, type Tool } from '../../engine/core/domain/tool.ts';
import { exactSchema } from '../../engine/core/values/exactSchema.ts';
import { describeCodeTools, describeExternalTools } from '../../engine/shell/describe.ts';
import { loadDomain } from '../../engine/shell/domain/loadDomain.ts';
import { hasExternalTools } from '../../engine/shell/load/loadedDomain.ts';
import { argumentsOf } from '../../engine/shell/source/note.ts';
import { type Command, defineCommand } from '../options/command.ts';
import { flag } from '../options/option.ts';
import { domainFolder } from '../options/rolloutOptions.ts';
import type { Io } from '../terminal/io.ts';

export const tools: Command = defineCommand({
  name: 'tools',
  takes: 1,
  summary: 'list the tools of a domain, with their effects and arguments',
  usage: 'DOMAIN [options]',
  about: `
Runs the domain's code in a worker, starts its servers and environments, and lists their tools and the simulated tools.
Errors in other files of the domain do not matter.
`,
  options: {
    local: flag('do not start servers and environments: list only tools whose code is in the domain'),
    json: flag('machine-readable output, with the JSON Schema of the arguments'),
  },
  run: async ({ local, json }, [named], io) => {
    const all = await describedTools(domainFolder(io, named), local === true, io);
    if (json) io.out(`${JSON.stringify({ tools: all.map(withExactSchemas) })}\n`);
    else for (const tool of all) io.out(`${lineOf(tool)}\n`);
    return 0;
  },
});

async function describedTools(folder: string, isLocal: boolean, io: Io): Promise<readonly Tool[]> {
  const loaded = loadDomain(folder, { soundness: false });
  const asked = isLocal ? { ...loaded, file: { ...loaded.file, mcpServers: {}, environments: {} } } : loaded;
  const code = loaded.toolsFile === null ? [] : await describeCodeTools(loaded, io);
  const external = hasExternalTools(asked) ? await describeExternalTools(asked, io) : [];
  const simulated = loaded.parts.simulated.map(({ value }) => describeSimulated(value));
  return [...code, ...simulated, ...external.filter((tool) => !isLeftOut(tool))];
}

function withExactSchemas({ parameters, outputSchema, ...tool }: Tool): Tool {
  const output = outputSchema === undefined ? {} : { outputSchema: exactSchema(outputSchema) };
  return { ...tool, parameters: exactSchema(parameters), ...output };
}

function lineOf(tool: Tool): string {
  const by = tool.owner === 'user' ? ', called by the user' : '';
  return `${tool.name}(${argumentsOf(tool).join(', ')}): ${tool.effect}${by}. ${tool.description}`;
}
