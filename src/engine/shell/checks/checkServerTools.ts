import type { McpServer } from '../../core/domain/domain.ts';
import { leftOutTools } from '../../core/domain/leftOutTools.ts';
import { argumentOf, listRestored } from '../../core/domain/listRestored.ts';
import { isAdapted } from '../../core/domain/serverToolName.ts';
import { nameOnServer, serverOf, type Tool } from '../../core/domain/tool.ts';
import { typeOfSchema } from '../../core/expression/type.ts';
import { firstNames } from '../../core/text/counted.ts';
import { isObject, type JsonObject } from '../../core/values/json.ts';
import { takesRows } from '../../core/verifiers/assertions.ts';
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
export function checkServerTools(parts: Parts, externalTools: readonly Tool[]): readonly Diagnostic[] {
  const { found, note } = notebook();
  for (const { tools, text, hint } of leftOutTools(externalTools))
    note(placeOfTool(parts, tools[0] as Tool), 'warning', 'tool/left-out', `${text}.`, hint);
  for (const tool of externalTools) {
    checkName(parts, tool, note);
    checkOutputSchema(parts, tool, note);
  }
  for (const [server, declared] of Object.entries(parts.file.value.mcpServers)) {
    const tools = externalTools.filter((tool) => serverOf(tool) === server);
    if (tools.length === 0) continue;
    checkRenames(parts, server, declared, tools, note);
    checkDeclaredNames(parts, server, declared, tools, note);
    checkStateTools(parts, server, declared, tools, note);
    checkRows(parts, server, declared, tools, note);
  }
  return found;
}

function checkName(parts: Parts, tool: Tool, note: Note): void {
  const { name, leftOut } = tool;
  const listed = serverOf(tool);
  const server = listed === null ? undefined : parts.file.value.mcpServers[listed];
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

/** A list without a schema may arrive as separate texts. Its kind then depends on how many rows it has. */
function checkRows(parts: Parts, server: string, declared: McpServer, tools: readonly Tool[], note: Note): void {
  const toolOf = (name: string | undefined) => tools.find((each) => each.name === name || nameOnServer(each) === name);
  const { reader, snapshot } = declared;
  for (const [key, shape, reason] of [
    ['reader', reader, rowsAsserted(parts, server)],
    ['snapshot', snapshot, listRestored(declared, toolOf) ?? listDescribed(declared, toolOf)],
  ] as const) {
    const tool = toolOf(shape?.tool);
    if (!shape || !tool || tool.outputSchema !== undefined) continue;
    if (shape.rows !== undefined || ('lines' in shape && shape.lines !== undefined)) continue;
    if (reason === null && !isOfFastMcp(tool)) continue;
    note(
      placeOf(parts.file, 'mcpServers', server, key, 'tool'),
      'warning',
      'domain/unclear-rows',
      `If ${shape.tool} returns each row as a separate text, one row is an object and no row is an empty text: the tool has no output schema${reason === null ? '' : `, and ${reason}`}.`,
      `Write rows: true under ${key} if it returns a list, otherwise rows: false.`,
    );
  }
}

/** Returns whether a tool is a function of FastMCP, by the title of its arguments. It gives each item of a list as a text. */
const isOfFastMcp = ({ parameters: { title } }: Tool): boolean =>
  typeof title === 'string' && title.endsWith('Arguments');

/** Returns which task takes rows of the state of a server, in a clause; null if no task does. */
function rowsAsserted({ tasks }: Parts, server: string): string | null {
  const task = tasks.find(({ value }) => value.assertions.some((each) => each.in === server && takesRows(each)));
  return task ? `the task ${task.value.id} takes rows of the state` : null;
}

/** Returns which tool calls the snapshot of a server a list, in a clause; null if none does. */
function listDescribed({ snapshot, restore }: McpServer, toolOf: (name: string | undefined) => Tool | undefined) {
  const argument = argumentOf(toolOf(restore?.tool), restore?.argument ?? '');
  const { list, text } = typeOfSchema(argument, '');
  // A list can go back as its JSON.
  if (!restore || (!list && !text)) return null;
  if (isObject(argument ?? null) && ofList.test(String((argument as JsonObject)['description'])))
    return `the description of ${restore.argument} speaks of a list`;
  return ofList.test(toolOf(snapshot?.tool)?.description ?? '') ? 'its description speaks of a list' : null;
}

const ofList = /^\s*lists?\b|\b(?:array|list) of\b|\b(?:a|an|JSON) (?:array|list)\b/i;
