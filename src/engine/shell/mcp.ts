import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { ErrorCode, McpError } from '@modelcontextprotocol/sdk/types.js';
import type { McpServer } from '../core/domain.ts';
import type { Json, JsonObject } from '../core/json.ts';
import type { Tool } from '../core/tool.ts';
import type { Location } from './diagnostic.ts';
import { Fault } from './fault.ts';
import { argumentProblems } from './load/arguments.ts';

export type McpResult = { readonly content: string; readonly isError: boolean };

/** One running MCP server: the instance of one rollout. */
export type McpInstance = {
  readonly tools: readonly Tool[];
  readonly call: (name: string, args: JsonObject, signal?: AbortSignal) => Promise<McpResult>;
  /** The server's state by its declared reader. */
  readonly read: () => Promise<Json>;
  readonly close: () => Promise<void>;
};

/** Environment variables that a server needs to start at all; everything else must be declared. */
const passedOn = ['PATH', 'HOME', 'TMPDIR', 'TEMP', 'SYSTEMROOT', 'APPDATA', 'LOCALAPPDATA'];

/**
 * Starts a stdio MCP server as its own process and lists its tools. The server's JSON Schemas are kept verbatim.
 * `${domainFolder}` and `${instanceFolder}` (a fresh folder for this instance alone) are filled in command, args, env and cwd.
 * A server that does not start, dies or prints rubbish is a `Fault` of the environment that names it.
 * @param at where the server is declared
 */
export async function startMcpServer(
  name: string,
  server: McpServer,
  folder: string,
  at?: Location,
): Promise<McpInstance> {
  const env = Object.fromEntries(
    passedOn.flatMap((key) => (process.env[key] === undefined ? [] : [[key, process.env[key] as string]])),
  );
  const scratch = mkdtempSync(join(tmpdir(), 'rehearsal-mcp-'));
  const filled = (text: string) => text.replaceAll('${domainFolder}', folder).replaceAll('${instanceFolder}', scratch);
  const declared = Object.fromEntries(Object.entries(server.env).map(([key, value]) => [key, filled(value)]));
  const command = filled(server.command);
  const args = server.args.map(filled);
  const transport = new StdioClientTransport({
    command,
    args,
    env: { ...env, ...declared },
    cwd: server.cwd ? filled(server.cwd) : folder,
    stderr: 'pipe',
  });
  const close = async () => {
    await client.close().catch(() => undefined);
    rmSync(scratch, { recursive: true, force: true });
  };
  const client = new Client({ name: 'rehearsal', version: '0.1.0' });
  let lastWords = '';
  let rubbish = '';
  transport.stderr?.on('data', (chunk: Buffer) => {
    lastWords = (lastWords + chunk.toString()).slice(-400);
  });
  const fault = (code: string, what: string) =>
    new Fault({
      who: 'environment',
      code,
      message: `MCP server "${name}" (${[command, ...args].join(' ')}): ${what}${rubbish}${lastWords.trim() ? `. Its last words: ${lastWords.trim()}` : ''}`,
      ...(at ? { file: at.file, line: at.line } : {}),
    });
  client.onerror = (error) => {
    if (error instanceof SyntaxError || error.name === 'ZodError')
      rubbish = '; it prints text that is no MCP message on its standard output';
  };
  try {
    await client.connect(transport, { timeout: server.timeoutMs });
    const { tools } = await client.listTools({}, { timeout: server.timeoutMs });
    return instance(
      client,
      name,
      server,
      tools.map((tool) => described(name, server, tool)),
      fault,
      close,
    );
  } catch (error) {
    await close();
    throw error instanceof Fault
      ? error
      : fault('mcp/start', `could not be started (${messageOf(error)}). Check the command`);
  }
}

function instance(
  client: Client,
  name: string,
  server: McpServer,
  tools: readonly Tool[],
  fault: (code: string, what: string) => Fault,
  close: () => Promise<void>,
): McpInstance {
  const call = async (toolName: string, args: JsonObject, signal?: AbortSignal): Promise<McpResult> => {
    const problem = argumentProblem(tools, toolName, args);
    if (problem) return { content: `Error: ${problem}`, isError: true };
    try {
      const result = await client.callTool({ name: toolName, arguments: args as Record<string, unknown> }, undefined, {
        timeout: server.timeoutMs,
        ...(signal ? { signal } : {}),
      });
      return { content: textOf(result), isError: result.isError === true };
    } catch (error) {
      if (error instanceof McpError && error.code === ErrorCode.InvalidParams)
        return { content: `Error: ${error.message}`, isError: true };
      if (error instanceof McpError && error.code === ErrorCode.RequestTimeout)
        throw fault('mcp/timeout', `${toolName} did not answer within ${server.timeoutMs / 1000} s`);
      throw fault('mcp/died', `${toolName} has no result (${messageOf(error)})`);
    }
  };
  const read = async (): Promise<Json> => {
    if (!server.reader)
      throw fault(
        'mcp/no-reader',
        `an assertion looks into its state, but domain.yaml declares no reader. Add "reader: { tool: ... }" to mcpServers.${name}`,
      );
    const { content, isError } = await call(server.reader.tool, server.reader.arguments as JsonObject);
    if (isError) throw fault('mcp/reader', `its reader ${server.reader.tool} failed: ${content}`);
    try {
      return JSON.parse(content) as Json;
    } catch {
      return content;
    }
  };
  return { tools, call, read, close };
}

type Listed = Awaited<ReturnType<Client['listTools']>>['tools'][number];

function described(server: string, declared: McpServer, tool: Listed): Tool {
  return {
    name: tool.name,
    description: tool.description ?? '',
    parameters: tool.inputSchema as unknown as JsonObject,
    effect: declared.writes.includes(tool.name) || tool.annotations?.readOnlyHint === false ? 'write' : 'read',
    owner: 'agent',
    source: { type: 'mcp', server },
    timeoutMs: declared.timeoutMs,
    idempotent: declared.idempotent.includes(tool.name) || tool.annotations?.idempotentHint === true,
  };
}

function argumentProblem(tools: readonly Tool[], name: string, args: JsonObject): string | null {
  const tool = tools.find((each) => each.name === name);
  if (!tool) return `there is no tool named "${name}"`;
  const problems = argumentProblems(tool, args).map(({ message }) => message);
  return problems.length === 0 ? null : `the arguments of ${name} do not fit: ${problems.join(' ')}`;
}

function textOf(result: Awaited<ReturnType<Client['callTool']>>): string {
  const parts = Array.isArray(result.content) ? (result.content as readonly { type: string; text?: string }[]) : [];
  return parts.map((part) => (part.type === 'text' ? (part.text ?? '') : JSON.stringify(part))).join('\n');
}

const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error));
