import { pythonWith } from './benchmarks/copy.ts';

/** A Python that has the official MCP SDK. */
export const mcpPython = pythonWith(['mcp==2.3.0'], {
  name: 'mcp-2.3.0',
  variable: 'REHEARSAL_MCP_PYTHON',
  bytes: 70e6,
});
