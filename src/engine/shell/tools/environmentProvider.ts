import { hostedName } from '../../core/domain/domain.ts';
import type { Tool } from '../../core/domain/tool.ts';
import { EnvironmentSource } from './environmentSource.ts';
import { pythonTool } from './pythonTool.ts';
import type { ProviderContext, ToolProvider } from './toolProvider.ts';

/** Provides the tools of the environments in Python, which keep their own state or work on the domain's database. */
export function environmentProvider({ domain: { file }, environment, onHosted }: ProviderContext): ToolProvider {
  const toolsOf = async (name: string): Promise<readonly Tool[]> => {
    const { timeoutMs = 0, tools = {} } = file.environments[name] ?? {};
    const process = environment(name);
    const described = await process.describe();
    const isHosted = hostedName(file) === name;
    if (isHosted) onHosted({ name, ...process.hosted });
    const type = isHosted ? ('python' as const) : ('environment' as const);
    return described.map((each) => pythonTool(each, { type, environment: name }, timeoutMs, tools[each.name]));
  };
  return {
    describe: async () => (await Promise.all(Object.keys(file.environments).map(toolsOf))).flat(),
    open: async ({ session, signal, isWanted, add }) => {
      for (const [name, declared] of Object.entries(file.environments)) {
        if (declared.state === 'database' || !isWanted(name)) continue;
        const tools = await toolsOf(name);
        const source = new EnvironmentSource(name, declared, environment(name), session, tools);
        signal.throwIfAborted();
        await source.reset();
        add(name, source);
      }
    },
  };
}
