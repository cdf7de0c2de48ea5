import type { RolloutEvent } from '../../engine/core/events/event.ts';
import { type JsonObject, jsonOf } from '../../engine/core/values/json.ts';
import { exactJson, rawJson } from '../../engine/core/values/largeIntegers.ts';
import { deepest, isTooDeep } from '../../engine/core/values/nesting.ts';
import { withDrafts } from '../../engine/shell/load/drafts.ts';
import { type ScratchResult, ScratchTools, sourceWrites } from '../../engine/shell/scratchTools.ts';
import { type Command, defineCommand } from '../options/command.ts';
import { json, text } from '../options/option.ts';
import { openTools, taskNamed } from '../options/rolloutOptions.ts';
import { hasColours, UsageError } from '../terminal/io.ts';
import { lineText, transcriptOf } from '../terminal/transcript.ts';

export const call: Command = defineCommand({
  name: 'call',
  takes: 2,
  summary: 'call one tool on a temporary database and show what it changes',
  usage: 'DOMAIN TOOL [options]',
  about: `
Calls a tool once, on a temporary database, and prints its result and its changes, also those to the state of an MCP
server that declares a reader. If the arguments do not match the JSON Schema of the tool, it is not called. \`npx rehearsal
tools\` lists the tools.
`,
  options: {
    arguments: text('JSON', 'arguments of the call (default: {})'),
    task: text('TASK', 'start with the state of this task or draft (default: the database of the domain)'),
    json,
  },
  after: 'Exit code 0: the tool returned a result. 1: it returned an error. 2: it could not be called.',
  run: async (options, [folder, tool], io) => {
    const domain = withDrafts(openTools(io, folder));
    if (tool === undefined) throw new UsageError('name a tool; "npx rehearsal tools" lists those of a domain');
    const id = options.task === undefined ? null : taskNamed(domain, options.task, io.cwd).id;
    const args = argumentsIn(options.arguments ?? '{}');
    const tools = await ScratchTools.open(domain, {
      task: id ?? undefined,
      readKey: (name) => io.environment[name],
      signal: io.signal,
      log: (line) => io.err(`${line}\n`),
    });
    const result = await called(tools, tool, args).finally(() => tools.close());
    if (options.json) io.out(`${JSON.stringify({ tool, task: id, ...result })}\n`);
    else for (const line of happened(result).flatMap(transcriptOf)) io.out(`${lineText(line, hasColours(io))}\n`);
    return result.isError ? 1 : 0;
  },
});

/** Calls the tool. What it changes in the state of an MCP server that declares a reader is among the writes. */
async function called(tools: ScratchTools, tool: string, args: JsonObject): Promise<ScratchResult> {
  const before = await tools.stateAround(tool);
  const result = await tools.call(tool, args);
  const after = before && (await tools.stateAround(tool));
  return before && after ? { ...result, writes: [...result.writes, ...sourceWrites(before, after)] } : result;
}

/** The result as a transcript says about it. */
function happened({ isError, content, writes }: ScratchResult): readonly RolloutEvent[] {
  const returned: RolloutEvent = { type: 'toolReturned', callId: '', isError, content };
  return writes.length > 0 ? [returned, { type: 'databaseWritten', callId: '', writes }] : [returned];
}

function argumentsIn(given: string): JsonObject {
  if (isTooDeep(jsonOf(given))) throw new UsageError(`--arguments is nested deeper than ${deepest} levels`);
  let value: unknown;
  try {
    value = exactJson(given);
  } catch (error) {
    throw new UsageError(`--arguments is not JSON: ${(error as Error).message}. Write it as '{"name": "value"}'`);
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new UsageError(`--arguments is not an object. Write it as '{"name": "value"}'`);
  return rawJson(given) as JsonObject;
}
