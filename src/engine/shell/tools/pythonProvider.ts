import { pythonTool } from './pythonTool.ts';
import type { ProviderContext, ToolProvider } from './toolProvider.ts';

/** Provides the tools of tools.py. */
export const pythonProvider = ({ python, domain }: ProviderContext): ToolProvider => ({
  describe: async () => {
    const described = (await python?.describe()) ?? [];
    return described.map((each) => pythonTool(each, { type: 'python' }, domain.file.toolTimeoutMs));
  },
});
