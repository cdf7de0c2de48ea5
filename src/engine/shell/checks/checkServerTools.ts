import type { McpServer } from '../../core/domain/domain.ts';
import { leftOutTools } from '../../core/domain/leftOutTools.ts';
import { isAdapted } from '../../core/domain/serverToolName.ts';
import { isUntyped, nameOnServer, type Tool } from '../../core/domain/tool.ts';
import { firstNames } from '../../core/text/counted.ts';
import type { Diagnostic } from '../files/diagnostic.ts';
import type { Parts } from '../load/loadedDomain.ts';
import { compileOutputSchema } from '../load/schemaCompiler.ts';
import { replacing, respelt } from '../source/edit.ts';
import { keyOf, placeOf } from '../source/items.ts';
import { didYouMean } from '../source/nearest.ts';
import { type Note, notebook } from '../source/note.ts';
import { placeOfTool } from './checkSources.ts';

/**
 * Returns the findings about tools that MCP servers list: their names, those left out, their output schemas, and names in
 * domain.yaml that a server lacks.
 */
export function checkServerTools(parts: Parts, outsideTools: readonly Tool[]): readonly Diagnostic[] {
  const { found, note } = notebook();
  for (const { tools, text, hint } of leftOutTools(outsideTools))
    note(placeOfTool(parts, tools[0] as Tool), 'warning', 'tool/left-out', `${text}.`, hint);
  for (const tool of outsideTools) {
    checkName(parts, tool, note);
    checkOutputSchema(parts, tool, note);
  }
  for (const [server, declared] of Object.entries(parts.file.value.mcpServers)) {
    const tools = outsideTools.filter(({ source }) => source.type === 'mcp' && source.server === server);
    if (tools.length === 0) continue;
    checkRenames(parts, server, declared, tools, note);
    checkDeclaredNames(parts, server, declared, tools, note);
    checkStateTools(parts, server, declared, tools, note);
    checkRows(parts, server, declared, tools, note);
  }
  return found;
}

function checkName(parts: Parts, tool: Tool, note: Note): void {
  const { name, source, leftOut } = tool;
  const server = source.type === 'mcp' ? parts.file.value.mcpServers[source.server] : undefined;
  const own = nameOnServer(tool);
  const quoted = JSON.stringify(own);
  if (!leftOut && server && isAdapted(own, server))
    note(
      placeOfTool(parts, tool),
      'info',
      'tool/renamed',
      `The tool ${quoted} is called ${name}: names have at most 64 letters, digits, dashes and underscores.`,
      `To choose another name, write rename: { ${quoted}: NAME } under its server.`,
    );
}

function checkOutputSchema(parts: Parts, tool: Tool, note: Note): void {
  const schema = tool.outputSchema && compileOutputSchema(tool.outputSchema);
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
function checkRenames({ file }: Parts, server: string, { rename = {} }: McpServer, tools: readonly Tool[], note: Note) {
  const names = [...new Set(tools.map(nameOnServer))];
  for (const own of Object.keys(rename).filter((each) => !names.includes(each)))
    note(
      file.places.key(['mcpServers', server, 'rename', own]),
      'warning',
      'domain/unknown-tool',
      `The server ${server} has no tool ${JSON.stringify(own)} to rename.`,
      didYouMean(own, names, `Its tools are ${firstNames(names)}.`),
    );
}

/** A declaration under a name that no tool has would do nothing: a write would count as a read. */
function checkDeclaredNames({ file }: Parts, server: string, declared: McpServer, tools: readonly Tool[], note: Note) {
  const names = [...new Set(tools.map(({ name }) => name))];
  const listed = (['writes', 'idempotent'] as const).flatMap((key) =>
    declared[key].map((name, index) => ({ name, at: placeOf(file, 'mcpServers', server, key, index) })),
  );
  const keys = Object.keys(declared.tools).map((name) => ({
    name,
    at: keyOf(file, 'mcpServers', server, 'tools', name),
  }));
  for (const { name, at } of [...listed, ...keys].filter((each) => !names.includes(each.name))) {
    const meant = tools.find((tool) => nameOnServer(tool) === name)?.name;
    note(
      at,
      'error',
      'domain/unknown-tool',
      `The server ${server} has no tool ${JSON.stringify(name)} in this domain.`,
      meant === undefined
        ? didYouMean(name, names, `Its tools are ${firstNames(names)}.`)
        : `That is its name on the server. Write ${meant}, its name in this domain.`,
      meant === undefined ? respelt(at, name, names) : replacing(at, name, meant),
    );
  }
}

/** A tool that is to tell the state would be missed after the rollout: its own name and the one in the domain count. */
function checkStateTools({ file }: Parts, server: string, declared: McpServer, tools: readonly Tool[], note: Note) {
  const names = [...new Set(tools.flatMap((tool) => [tool.name, nameOnServer(tool)]))];
  for (const key of ['reader', 'snapshot', 'restore'] as const) {
    const name = declared[key]?.tool;
    if (name === undefined || names.includes(name)) continue;
    const at = placeOf(file, 'mcpServers', server, key, 'tool');
    note(
      at,
      'error',
      'domain/unknown-tool',
      `The server ${server} has no tool ${JSON.stringify(name)}.`,
      didYouMean(name, names, `Its tools are ${firstNames(names)}.`),
      respelt(at, name, names),
    );
  }
}

/** A list without a schema arrives as separate texts, so its kind depends on how many rows it has. */
function checkRows({ file }: Parts, server: string, { reader }: McpServer, tools: readonly Tool[], note: Note): void {
  if (!reader || reader.lines !== undefined || reader.rows !== undefined) return;
  const tool = tools.find((each) => each.name === reader.tool || nameOnServer(each) === reader.tool);
  if (tool && isUntyped(tool))
    note(
      placeOf(file, 'mcpServers', server, 'reader', 'tool'),
      'warning',
      'domain/unclear-rows',
      `If ${reader.tool} returns a list, one row is an object and no row is an empty text: the tool has no output schema.`,
      'Write rows: true under reader if it returns a list, otherwise rows: false.',
    );
}
