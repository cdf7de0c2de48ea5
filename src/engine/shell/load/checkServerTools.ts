import { isAdapted } from '../../core/serverToolName.ts';
import { nameOnServer, type Tool } from '../../core/tool.ts';
import type { Diagnostic } from '../diagnostic.ts';
import { placeOfTool } from './checkSources.ts';
import type { Parts } from './loadedDomain.ts';
import { didYouMean } from './nearest.ts';
import { type Note, notebook } from './note.ts';
import { compileSchema } from './schemaCompiler.ts';

/** Returns the findings about tools that MCP servers list: their names, those left out, and their output schemas. */
export function checkServerTools(parts: Parts, outsideTools: readonly Tool[]): readonly Diagnostic[] {
  const { found, note } = notebook();
  for (const tool of outsideTools) {
    checkName(parts, tool, note);
    checkOutputSchema(parts, tool, note);
  }
  checkRenames(parts, outsideTools, note);
  return found;
}

function checkName(parts: Parts, tool: Tool, note: Note): void {
  const { name, source, leftOut } = tool;
  const server = source.type === 'mcp' ? parts.file.value.mcpServers[source.server] : undefined;
  const own = nameOnServer(tool);
  const quoted = JSON.stringify(own);
  if (leftOut)
    note(
      placeOfTool(parts, tool),
      'warning',
      'tool/left-out',
      `The tool ${quoted} is left out: ${leftOut.reason}.`,
      leftOut.hint,
    );
  else if (server && isAdapted(own, server))
    note(
      placeOfTool(parts, tool),
      'info',
      'tool/renamed',
      `The tool ${quoted} is called ${name}: names have at most 64 letters, digits, dashes and underscores.`,
      `To choose another name, write rename: { ${quoted}: NAME } under its server.`,
    );
}

function checkOutputSchema(parts: Parts, tool: Tool, note: Note): void {
  const schema = tool.outputSchema && compileSchema(tool.outputSchema);
  if (schema && 'problem' in schema)
    note(
      placeOfTool(parts, tool),
      'info',
      'tool/unchecked-schema',
      `The results of ${tool.name} are not checked: its output schema cannot be compiled (${schema.problem}).`,
      'The schema is that of its server. Report it to the author of the server.',
    );
}

/** A name under `rename` that its server does not list is often a misspelling. */
function checkRenames({ file }: Parts, outsideTools: readonly Tool[], note: Note): void {
  for (const [server, { rename = {} }] of Object.entries(file.value.mcpServers)) {
    const names = outsideTools
      .filter(({ source }) => source.type === 'mcp' && source.server === server)
      .map(nameOnServer);
    if (names.length === 0) continue;
    for (const own of Object.keys(rename).filter((each) => !names.includes(each)))
      note(
        file.places.key(['mcpServers', server, 'rename', own]),
        'warning',
        'domain/unknown-tool',
        `The server ${server} has no tool ${JSON.stringify(own)} to rename.`,
        didYouMean(own, names, `Its tools are ${names.join(', ')}.`),
      );
  }
}
