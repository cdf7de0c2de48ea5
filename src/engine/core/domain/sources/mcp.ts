import type { SourceKind } from './sourceKind.ts';

/** `tool` is the name of the tool on the server, where that is another one. */
type Mcp = { readonly type: 'mcp'; readonly server: string; readonly tool?: string };

/** Tools of an MCP server. */
export const mcp: SourceKind<Mcp> = ({ server, tool }) => ({
  runs: 'atSource',
  state: server,
  declaredAt: ['mcpServers', server],
  hosted: null,
  nameThere: tool,
  isInFiles: false,
  isForeign: true,
  isRepeatable: true,
  simulation: null,
  label: tool === undefined ? `server ${server}` : `${tool} of the server ${server}`,
});
