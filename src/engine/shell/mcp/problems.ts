import { StreamableHTTPError } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import * as z from 'zod';
import type { McpServer, StdioServer } from '../../core/domain.ts';
import { issueText } from '../../core/issueText.ts';
import { isAnswerTooLong, longestAnswer } from '../boundFetch.ts';
import { messageOf } from '../fault.ts';
import { withoutPage } from '../htmlPage.ts';
import { Disconnected, isAboutRights, isTemporary, ServerError, SessionLost, TimeLimitExceeded } from './errors.ts';

/** The code of a fault of a server, and what failed, why, and what to do next. */
export type Problem = readonly [code: string, what: string];

/** Milliseconds for a first start that downloads the server. */
const downloadMs = 120_000;

/** Problems of the way to the server: the same command runs such a rollout again. */
const lostTransport: readonly string[] = [
  'mcp/died',
  'mcp/unreachable',
  'mcp/unavailable',
  'mcp/session',
  'mcp/shared-session',
];

/** Returns who is the cause of a problem with this code. */
export const culpritOf = (code: string) => (lostTransport.includes(code) ? 'infrastructure' : 'environment');

const again = 'Run the task again. If it fails again, look at the log of the server';

export const sharedSession: Problem = [
  'mcp/shared-session',
  'it gave this rollout a session that another rollout has, so both would work on the same state. Let the server make a session for each client, or play one rollout at a time (--concurrency 1)',
];

/** @param url the address without anything secret */
export function legacyTransport(url: string): Problem {
  const bridge = `command: npx, args: [-y, mcp-remote, ${url}, --transport, sse-only]`;
  return [
    'mcp/legacy-sse',
    `it has the older transport HTTP+SSE, and Rehearsal speaks Streamable HTTP. Use the address of its Streamable HTTP endpoint, or declare a bridge in place of type: http and url: ${bridge}`,
  ];
}

/** Returns why a server on standard input and output could not be started. */
export function startProblem(server: StdioServer, error: unknown): Problem {
  if (!(error instanceof TimeLimitExceeded))
    return ['mcp/start', `could not be started (${wordsOf(error)}). Check the command`];
  const advice = downloads(server)
    ? `${server.command} downloads the package before its first start. Run the command once in a terminal, and start again when it waits for input`
    : 'Check the command';
  return ['mcp/start', `could not be started (it did not answer within ${startLimitOf(server) / 1000} s). ${advice}`];
}

/** Returns why a call of a server on standard input and output has no result. */
export function callProblem(tool: string, error: unknown): Problem {
  const why =
    error instanceof Disconnected
      ? `the server closed the connection before it answered the call of ${tool}`
      : `${tool} has no result (${messageOf(error)})`;
  return ['mcp/died', `${why}. ${again}`];
}

export function timeLimitProblem(what: string, timeoutMs: number): Problem {
  return [
    'mcp/timeout',
    `${what} did not answer within ${timeoutMs / 1000} s. Raise timeoutMs of the server, or of the tool under tools:, in domain.yaml`,
  ];
}

/**
 * Returns why an HTTP server could not be reached, or why a call has no result.
 * @param tool the tool of the call; null while the connection is opened
 * @param variables the environment variables that the request is filled with
 */
export function httpProblem(
  { timeoutMs }: McpServer,
  tool: string | null,
  error: unknown,
  variables: readonly string[],
): Problem {
  const what = tool === null ? '' : `${tool} has no result: `;
  if (error instanceof TimeLimitExceeded) return timeLimitProblem('it', timeoutMs);
  if (error instanceof ServerError)
    return ['mcp/error', `${what}it answers with ${error.text}. Check the url, and look at the log of the server`];
  if (error instanceof SessionLost && tool !== null)
    return [
      'mcp/session',
      `${what}it no longer knows this session, so what it kept for the rollout is gone. Run the task again, or let the server keep its sessions longer`,
    ];
  const status = (error instanceof StreamableHTTPError && error.code) || 0;
  if (status > 0) return statusProblem(status, what, error, variables);
  const cause = causeOf(error);
  if (isRefusal(cause))
    return ['mcp/unreachable', `${what}it cannot be reached (${cause}). Start the server, and check the url`];
  if (isBroken(error)) return ['mcp/died', `${what}the connection broke before the answer. ${again}`];
  return ['mcp/protocol', `${what}it did not answer with MCP (${misreadText(error)}). Check the url`];
}

function statusProblem(status: number, what: string, error: unknown, variables: readonly string[]): Problem {
  if (isAboutRights(status)) {
    const check = variables.length > 0 ? ` and the value of ${variables.join(', ')}` : '';
    return ['mcp/refused', `${what}it refuses the request (${status}). Check headers in domain.yaml${check}`];
  }
  const answer = `${what}it answers ${status} (${withoutPage(messageOf(error))})`;
  return isTemporary(status)
    ? ['mcp/unavailable', `${answer}. ${again}`]
    : ['mcp/error', `${answer}. Check the url, and look at the log of the server`];
}

/** Returns why an answer could not be read, in one line: the message of a schema has a line for each of its issues. */
function misreadText(error: unknown): string {
  // The SDK throws the class of zod's core, which is not a `ZodError`.
  if (!(error instanceof z.core.$ZodError)) return withoutPage(messageOf(error));
  return error.issues.some(({ path }) => path.length > 0)
    ? `its answer cannot be read: ${issueText(error, 'the message')}`
    : 'its answer is not a JSON-RPC message';
}

/** Returns what the agent reads of an error in place of a result. */
export function wordsOf(error: unknown): string {
  if (error instanceof ServerError) return error.text;
  if (error instanceof z.core.$ZodError) return misreadText(error);
  return isAnswerTooLong(error) ? `the result is longer than ${longestAnswer / 1e6} MB` : messageOf(error);
}

/** Returns whether a connection ended before the answer. One that was refused never existed. */
export function isBroken(error: unknown): boolean {
  if (error instanceof Disconnected) return true;
  const isFetch = error instanceof TypeError && /fetch failed|terminated/.test(error.message);
  return isFetch && !isRefusal(causeOf(error));
}

const causeOf = (error: unknown) => (error as { cause?: { code?: string } } | null)?.cause?.code;

const isRefusal = (cause: string | undefined) => cause === 'ECONNREFUSED' || cause === 'ENOTFOUND';

/** Returns how long a server may take to start: a download takes longer than a call. */
export function startLimitOf(server: McpServer): number {
  return server.type !== 'http' && downloads(server) ? Math.max(server.timeoutMs, downloadMs) : server.timeoutMs;
}

/** Returns whether a command may download the server before it starts it. */
function downloads({ command }: StdioServer): boolean {
  return /(?:^|[\\/])(?:npx|bunx|pnpx|pnpm|npm|yarn|uvx|uv|pipx|docker|podman)(?:\.(?:cmd|exe))?$/i.test(command);
}
