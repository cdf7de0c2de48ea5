import { isAdapted } from '../../core/serverToolName.ts';
import { nameOnServer, type Tool } from '../../core/tool.ts';
import type { Diagnostic } from '../diagnostic.ts';
import { placeOfTool } from './checkSources.ts';
import type { Parts } from './loadedDomain.ts';
import { didYouMean } from './nearest.ts';
import { notebook } from './note.ts';

/** Returns what to say of the names of the tools of MCP servers, and of the tools that are left out. */
export function checkServerTools(parts: Parts, outsideTools: readonly Tool[]): readonly Diagnostic[] {
  const { found, note } = notebook();
  const { mcpServers } = parts.file.value;
  for (const tool of outsideTools) {
    const server = tool.source.type === 'mcp' ? mcpServers[tool.source.server] : undefined;
    const own = nameOnServer(tool);
    const quoted = JSON.stringify(own);
    if (tool.leftOut) {
      const { reason, hint } = tool.leftOut;
      note(placeOfTool(parts, tool), 'warning', 'tool/left-out', `The tool ${quoted} is left out: ${reason}.`, hint);
    } else if (server && isAdapted(own, server))
      note(
        placeOfTool(parts, tool),
        'info',
        'tool/renamed',
        `The tool ${quoted} is called ${tool.name}: names have at most 64 letters, digits, dashes and underscores.`,
        `To choose another name, write rename: { ${quoted}: NAME } under its server.`,
      );
  }
  for (const [name, { rename = {} }] of Object.entries(mcpServers)) {
    const owns = outsideTools.flatMap((tool) =>
      tool.source.type === 'mcp' && tool.source.server === name ? [nameOnServer(tool)] : [],
    );
    if (owns.length === 0) continue;
    for (const own of Object.keys(rename).filter((each) => !owns.includes(each)))
      note(
        parts.file.places.key(['mcpServers', name, 'rename', own]),
        'warning',
        'domain/unknown-tool',
        `The server ${name} has no tool ${JSON.stringify(own)} to rename.`,
        didYouMean(own, owns, `Its tools are ${owns.join(', ')}.`),
      );
  }
  return found;
}
