import { ErrorCode } from '@modelcontextprotocol/sdk/types.js';
import * as z from 'zod';
import type { McpServer } from '../../core/domain/domain.ts';
import { isAdapted, serverToolName } from '../../core/domain/serverToolName.ts';
import { declaredLimits, nameOnServer, type Tool } from '../../core/domain/tool.ts';
import { firstNames } from '../../core/text/counted.ts';
import { issueText } from '../../core/text/issueText.ts';
import { schemaWithDigits } from '../../core/values/exactSchema.ts';
import { isObject, type Json, type JsonObject, withoutNulls } from '../../core/values/json.ts';
import { deepest, isTooDeep } from '../../core/values/nesting.ts';
import { isMapOfSchemas, isSchemaData } from '../load/schemaPatterns.ts';
import type { McpConnection } from './connection.ts';
import type { FaultOf } from './declared.ts';
import { ServerError } from './errors.ts';
import { exactResult } from './message.ts';
import { errorTextForAgent, isMisunderstood, isUnreadable } from './problems.ts';

/** A tool of a server, with what the server says about its effect: undefined where it says nothing. */
export type ListedTool = { readonly tool: Tool; readonly isReadOnly: boolean | undefined };

type ListedServer = { readonly name: string; readonly declared: McpServer };

/** More pages of tools than any server has. */
const mostPages = 1000;

/** The tools of a page. Some servers give the list itself as the result, which is read as its content. */
const pageSchema = z
  .looseObject({ tools: z.preprocess(withNames, z.array(z.unknown()).nullish()), content: z.unknown().optional() })
  .transform(({ tools, content }) => ({ tools: tools ?? content ?? [] }))
  .pipe(z.object({ tools: z.array(z.unknown()) }));

/** The cursor of the next page. Some servers mark the last page with another value than null, such as an empty text. */
const cursorSchema = z.looseObject({ nextCursor: z.union([z.string(), z.number()]).nullish().catch(null) });

type Page = {
  readonly tools: readonly unknown[];
  /** Why the tools of this page cannot be read. */
  readonly problem?: string;
  readonly nextCursor?: number | string | undefined;
};

/** Returns a list of the tools that a server gives as a map by name; anything else as it is. */
function withNames(tools: unknown): unknown {
  if (!isObject(tools as Json)) return tools;
  return Object.entries(tools as JsonObject).map(([name, tool]) => (isObject(tool) ? { name, ...tool } : { name }));
}

const hint = z.boolean().nullish().catch(undefined);
/** A tool in a list, without what nothing here reads. A wrong value of an optional field counts as absent. */
const toolSchema = z.object({
  name: z.string().min(1),
  description: z.string().nullish().catch(undefined),
  inputSchema: z.unknown().optional(),
  outputSchema: z.record(z.string(), z.unknown()).nullish().catch(undefined),
  annotations: z.object({ readOnlyHint: hint, destructiveHint: hint, idempotentHint: hint }).nullish().catch(undefined),
  execution: z.object({ taskSupport: z.string().nullish() }).nullish().catch(undefined),
});
type WrittenTool = z.infer<typeof toolSchema>;

/**
 * Returns the tools of all pages of a server's list. A tool that cannot be used has `leftOut`, its reason, and so has a page
 * whose tools cannot be read or are those of the pages before. Throws a fault for a list without a readable page, and for one
 * without an end.
 */
export async function listTools(
  connection: McpConnection,
  server: ListedServer,
  timeoutMs: number,
  faultOf: FaultOf,
): Promise<readonly ListedTool[]> {
  const found: ListedTool[] = [];
  const names = new Set<string>();
  const cursors = new Set<number | string>();
  let cursor: number | string | undefined;
  for (let number = 1; number <= mostPages; number += 1) {
    const { tools, problem, nextCursor } = await readPage(connection, cursor, timeoutMs, faultOf);
    const own = tools.flatMap((tool) => toolSchema.safeParse(tool).data?.name ?? []);
    // Some servers know no cursors and give the first page again.
    const isRepeated = own.length > 0 && own.every((name) => names.has(name));
    const reason = isRepeated ? `its tools are on the pages before (${firstNames(own)})` : problem;
    if (reason !== undefined) found.push({ tool: leaveOutPage(server, number, reason), isReadOnly: undefined });
    else found.push(...tools.map((tool, at) => readTool(server, tool, found.length + at + 1)));
    const isLast = nextCursor === undefined || isRepeated || (own.length === 0 && cursors.has(nextCursor));
    if (isLast) return withoutClashes(server, found);
    cursor = nextCursor;
    cursors.add(cursor);
    for (const name of own) names.add(name);
  }
  throw faultOf('mcp/endless-list', `its tool list does not end: every page names a next page. ${reportTo}`);
}

/** Leaves out each tool whose adapted name another one has, and each one that is listed again. */
function withoutClashes({ declared }: ListedServer, all: readonly ListedTool[]): readonly ListedTool[] {
  const usable = all.filter(({ tool }) => tool.leftOut === undefined);
  const taken = new Set(usable.flatMap(({ tool }) => (isAdapted(nameOnServer(tool), declared) ? [] : [tool.name])));
  const seen = new Set<string>();
  return all.map((each) => {
    const { tool } = each;
    if (tool.leftOut) return each;
    const own = nameOnServer(tool);
    const isRepeated = seen.has(own);
    const isTaken = isAdapted(own, declared) && taken.has(tool.name);
    seen.add(own);
    taken.add(tool.name);
    if (isRepeated) return { ...each, tool: { ...tool, leftOut: repeated } };
    return isTaken ? { ...each, tool: { ...tool, leftOut: clashOf(own, tool.name) } } : each;
  });
}

const reportTo = 'Report it to the author of the server';
const report = `${reportTo}. Its other tools can be used.`;
const reportPage = `${reportTo}. The tools of its other pages can be used.`;
const repeated = { reason: 'the server lists another tool with this name', hint: report };
const clashOf = (own: string, name: string) => ({
  reason: `its name would become ${name}, which another tool of the server has`,
  hint: `Write rename: { ${JSON.stringify(own)}: NAME } under its server in domain.yaml.`,
});

/**
 * Reads a page as the server wrote it: the SDK refuses the whole page for one value that it does not expect. Throws where it
 * is the only one and cannot be read, and where the first page is refused.
 */
async function readPage(
  connection: McpConnection,
  cursor: number | string | undefined,
  timeoutMs: number,
  faultOf: FaultOf,
): Promise<Page> {
  const isFirst = cursor === undefined;
  try {
    const sent = await pageOf(connection, cursor, timeoutMs);
    const nextCursor = cursorSchema.parse(sent).nextCursor || undefined;
    const { success, data, error } = pageSchema.safeParse(sent);
    if (success) return { ...data, nextCursor };
    const words = issueText(error, 'the list');
    if (isFirst && nextCursor === undefined)
      throw faultOf('mcp/list', `its answer to tools/list cannot be read (${words}). ${reportTo}`);
    return { tools: [], problem: `it cannot be read (${words})`, nextCursor };
  } catch (error) {
    const isMessage = !isUnreadable(error);
    if (isFirst || (isMessage && !isMisunderstood(error))) throw error;
    return {
      tools: [],
      problem: `${isMessage ? 'the server refuses it' : 'it cannot be read'} (${errorTextForAgent(error)})`,
    };
  }
}

async function pageOf(
  connection: McpConnection,
  cursor: number | string | undefined,
  timeoutMs: number,
): Promise<object> {
  try {
    return exactResult(await connection.listTools(cursor === undefined ? {} : { cursor }, timeoutMs));
  } catch (error) {
    const isUnknown = error instanceof ServerError && error.code === ErrorCode.MethodNotFound;
    if (isUnknown && !connection.client.getServerCapabilities()?.tools) return { tools: [] };
    throw error;
  }
}

/** @param place the place of the tool in the list, from 1: the name of a tool that has none */
function readTool(server: ListedServer, written: unknown, place: number): ListedTool {
  const read = toolSchema.safeParse(written);
  if (!read.success) return { tool: leaveOut(server, `tool ${place}`, 'it has no name'), isReadOnly: undefined };
  const { name, inputSchema, annotations } = read.data;
  const parameters = problemOf(read.data) ?? parametersOf(inputSchema);
  const tool =
    typeof parameters === 'string' ? leaveOut(server, name, parameters) : describeTool(server, read.data, parameters);
  return { tool, isReadOnly: readOnlyHintOf(annotations) };
}

/** Returns why a tool cannot be used whatever its arguments are, or null. */
function problemOf({ name, execution, inputSchema, outputSchema }: WrittenTool): string | null {
  // A name of several lines could pass for more of a file or a message that quotes it.
  if (/\p{Cc}/u.test(name)) return 'its name has a control character';
  if (isTooDeep(inputSchema) || isTooDeep(outputSchema)) return `its schemas are more than ${deepest} levels deep`;
  return execution?.taskSupport === 'required' ? 'it needs tasks of MCP, which Rehearsal does not support' : null;
}

const noArguments: JsonObject = { type: 'object', properties: {} };

/**
 * Returns the schema of a tool's arguments as the server wrote it; an absent one has no properties. Returns a reason where
 * it cannot describe arguments, which are always an object.
 */
function parametersOf(written: unknown): JsonObject | string {
  const isEmptyList = Array.isArray(written) && written.length === 0;
  if (written === undefined || written === null || written === true || isEmptyList) return noArguments;
  if (!isObject(written as Json)) return 'its inputSchema is not an object';
  const schema = withMaps(withoutNulls(schemaWithDigits(written as JsonObject))) as JsonObject;
  const types = [schema['type'] ?? 'object'].flat().map((type) => String(type).toLowerCase());
  if (!types.includes('object')) return `its inputSchema has the type ${types.join(', ')}, and arguments are an object`;
  return Object.keys(schema).length === 0 ? noArguments : { ...schema, type: 'object' };
}

/** Returns a schema with an empty object in place of each map, and each schema in a map, that PHP writes as an empty list. */
function withMaps(schema: Json): Json {
  if (Array.isArray(schema)) return schema.map(withMaps);
  if (!isObject(schema)) return schema;
  return Object.fromEntries(
    Object.entries(schema).map(([key, value]) => {
      if (isSchemaData(key)) return [key, value];
      return [key, isMapOfSchemas(key) ? mapOfSchemas(value) : withMaps(value)];
    }),
  );
}

function mapOfSchemas(written: Json): Json {
  const map = withoutList(written);
  if (!isObject(map)) return withMaps(map);
  return Object.fromEntries(Object.entries(map).map(([name, schema]) => [name, withMaps(withoutList(schema))]));
}

const withoutList = (value: Json): Json => (Array.isArray(value) && value.length === 0 ? {} : value);

/** Returns what a server says about a tool's effect. `destructiveHint` is about a tool that changes something. */
function readOnlyHintOf(said: WrittenTool['annotations']): boolean | undefined {
  return said?.readOnlyHint ?? (said?.destructiveHint === true ? false : undefined);
}

function describeTool({ name: server, declared }: ListedServer, tool: WrittenTool, parameters: JsonObject): Tool {
  const name = serverToolName(tool.name, declared);
  const limits = (Object.hasOwn(declared.tools, name) ? declared.tools[name] : undefined) ?? {};
  const isWrite = declared.writes.includes(name) || readOnlyHintOf(tool.annotations) === false;
  const isIdempotent = declared.idempotent.includes(name) || tool.annotations?.idempotentHint === true;
  return {
    name,
    description: tool.description ?? '',
    parameters: withoutKey(parameters, limits.idempotencyKey),
    ...(tool.outputSchema ? { outputSchema: schemaWithDigits(tool.outputSchema as JsonObject) } : {}),
    effect: isWrite ? 'write' : 'read',
    owner: 'agent',
    source: { type: 'mcp', server, ...(name === tool.name ? {} : { tool: tool.name }) },
    timeoutMs: limits.timeoutMs ?? declared.timeoutMs,
    idempotent: limits.idempotent ?? isIdempotent,
    ...declaredLimits(limits),
  };
}

function leaveOut({ name: server, declared }: ListedServer, name: string, reason: string): Tool {
  return {
    name,
    description: '',
    parameters: noArguments,
    effect: 'read',
    owner: 'agent',
    source: { type: 'mcp', server },
    timeoutMs: declared.timeoutMs,
    idempotent: false,
    leftOut: { reason, hint: report },
  };
}

/** Returns a placeholder for the tools of a page. */
function leaveOutPage(server: ListedServer, page: number, reason: string): Tool {
  const what = `Page ${page} of its list of tools`;
  return { ...leaveOut(server, `page ${page}`, reason), leftOut: { what, reason, hint: reportPage } };
}

/** Returns the schema without the argument that the engine fills. */
function withoutKey(schema: JsonObject, key: string | undefined): JsonObject {
  if (key === undefined) return schema;
  const { [key]: _, ...properties } = (schema.properties ?? {}) as JsonObject;
  const required = Array.isArray(schema.required) ? { required: schema.required.filter((name) => name !== key) } : {};
  return { ...schema, properties, ...required };
}
