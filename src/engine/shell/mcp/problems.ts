import { StreamableHTTPError } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { SUPPORTED_PROTOCOL_VERSIONS } from '@modelcontextprotocol/sdk/types.js';
import * as z from 'zod';
import { type McpServer, type StdioServer, sseBridge } from '../../core/domain/domain.ts';
import { messageOf } from '../files/fault.ts';
import { withoutPage } from '../files/htmlPage.ts';
import { AnswerTooLong } from '../keys/boundFetch.ts';
import {
  Disconnected,
  isRefused,
  isUnexpectedBody,
  NotSent,
  type OtherAnswer,
  PageAnswer,
  ServerError,
  SessionLost,
  TimeLimitExceeded,
} from './errors.ts';
import { isAboutRights, meaningOfStatus } from './httpStatus.ts';

/** The code of a fault of a server, and what failed, why, and what to do next. */
export type Problem = readonly [code: string, what: string];

/** Milliseconds for a first start that downloads the server. */
const downloadMs = 120_000;

/** Problems that may pass: of the way to the server, for which the same command runs a rollout again, and of one call. */
const passing: Readonly<Record<string, { readonly isOfTransport: boolean; readonly isOfCall: boolean }>> = {
  'mcp/died': { isOfTransport: true, isOfCall: true },
  'mcp/other-answer': { isOfTransport: true, isOfCall: true },
  'mcp/session': { isOfTransport: true, isOfCall: false },
  'mcp/shared-session': { isOfTransport: true, isOfCall: false },
  'mcp/timeout': { isOfTransport: false, isOfCall: true },
  'mcp/unavailable': { isOfTransport: true, isOfCall: true },
  'mcp/unreachable': { isOfTransport: true, isOfCall: true },
};

/** Returns who is the cause of a problem with this code. */
export const culpritOf = (code: string) => (passing[code]?.isOfTransport ? 'infrastructure' : 'environment');

/** Returns whether the same call may work after a failure with this code. */
export const maySucceedLater = (code: string): boolean => passing[code]?.isOfCall ?? false;

const again = 'Run the task again. If it fails again, look at the log of the server';

export const sharedSession: Problem = [
  'mcp/shared-session',
  'it gave this rollout a session that another rollout has, so both would work on the same state. Let the server make a session for each client, or play one rollout at a time (--concurrency 1)',
];

/** @param url the address without anything secret */
export const legacyTransport = (url: string): Problem => [
  'mcp/legacy-sse',
  `it has the older transport HTTP+SSE, and Rehearsal speaks Streamable HTTP. ${sseBridge(url)}`,
];

/** Returns why a server on standard input and output could not be started. */
export function startProblem(server: StdioServer, error: unknown): Problem {
  if (error instanceof ServerError)
    return ['mcp/error', `it answers with ${error.text}. Look at the log of the server`];
  if (!(error instanceof TimeLimitExceeded))
    return ['mcp/start', `could not be started (${errorTextForAgent(error)}). Check the command`];
  const advice = downloads(server)
    ? `${server.command} downloads the package before its first start. Run the command once in a terminal, and start again when it waits for input`
    : 'Check the command';
  return ['mcp/start', `could not be started (it did not answer within ${startLimitOf(server) / 1000} s). ${advice}`];
}

/** Returns why a call of a server on standard input and output has no result. */
export function callProblem(tool: string, error: unknown): Problem {
  if (error instanceof NotSent)
    return [
      'mcp/session',
      `the server ended before ${tool} was called, so what it kept for the rollout is gone. ${again}`,
    ];
  const why =
    error instanceof Disconnected
      ? `the server closed the connection before it answered the call of ${tool}`
      : `${tool} has no result (${messageOf(error)})`;
  return ['mcp/died', `${why}. ${again}`];
}

export function timeLimitProblem(what: string, { limitMs }: TimeLimitExceeded, timeoutMs: number): Problem {
  const raise =
    limitMs === undefined
      ? 'timeoutMs of the server, or of the tool under tools:,'
      : 'maxTotalTimeoutMs of the server, which calls with progress have,';
  return [
    'mcp/timeout',
    `${what} did not answer within ${(limitMs ?? timeoutMs) / 1000} s. Raise ${raise} in domain.yaml`,
  ];
}

/**
 * Returns the problem of a server that answered another request.
 * @param tool the tool of the call; null for another request
 */
export const otherAnswerProblem = (tool: string | null, error: OtherAnswer): Problem => [
  'mcp/other-answer',
  `${resultless(tool)}${error.message}. ${again}`,
];

const resultless = (tool: string | null) => (tool === null ? '' : `${tool} has no result: `);

/** Returns the problem of a server whose answers are longer than they may be. */
export function tooLongProblem({ longest }: AnswerTooLong): Problem {
  const size = `${longest / 1e6} MB`;
  return [
    'mcp/too-long',
    `it answered with more than ${size}. Let it answer with less, or raise maxMessageSize of the server in domain.yaml`,
  ];
}

/** Returns whether a server refuses a request itself, or answers with what cannot be read. */
export const isMisunderstood = (error: unknown): boolean =>
  error instanceof ServerError || isRefused(error) || error instanceof z.core.$ZodError;

/** Returns whether a server answers with what is not a message, or is longer than a message may be. */
export const isUnreadable = (error: unknown): boolean =>
  [z.core.$ZodError, SyntaxError, AnswerTooLong].some((type) => error instanceof type) || isUnexpectedBody(error);

/** Returns the problem of a server that was not understood, and that named a protocol version which is not known. */
export function versionProblem(version: string, error: unknown): Problem {
  const known = SUPPORTED_PROTOCOL_VERSIONS.join(', ');
  return [
    'mcp/version',
    `it speaks version ${version} of MCP, and Rehearsal speaks ${known} (${errorTextForAgent(error)}). Use a release of the server that speaks one of these`,
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
  const what = resultless(tool);
  if (error instanceof TimeLimitExceeded) return timeLimitProblem('it', error, timeoutMs);
  if (error instanceof ServerError)
    return ['mcp/error', `${what}it answers with ${error.text}. Check the url, and look at the log of the server`];
  if (error instanceof SessionLost && tool !== null)
    return [
      'mcp/session',
      `${what}it no longer knows this session, so what it kept for the rollout is gone. Run the task again, or let the server keep its sessions longer`,
    ];
  if (error instanceof SessionLost)
    return [
      'mcp/protocol',
      `it no longer knows the session that it has just opened (${misreadText(error)}). Let the server keep its sessions. If several processes answer at the url, send each session to the process that opened it`,
    ];
  const status = (error instanceof StreamableHTTPError && error.code) || 0;
  if (status > 0) return statusProblem(status, what, error, variables);
  const cause = causeOf(error);
  if (cannotConnect(error))
    return ['mcp/unreachable', `${what}it cannot be reached (${cause}). ${connectAdvice(cause)}`];
  if (isBroken(error))
    return ['mcp/died', `${what}the connection broke before the answer${cause ? ` (${cause})` : ''}. ${again}`];
  if (error instanceof PageAnswer)
    return [
      'mcp/protocol',
      `${what}${error.message} instead of MCP, so a login or a proxy is in front of it. Check the url and the headers`,
    ];
  return ['mcp/protocol', `${what}it did not answer with MCP (${misreadText(error)}). Check the url`];
}

function statusProblem(status: number, what: string, error: unknown, variables: readonly string[]): Problem {
  const meaning = meaningOfStatus(status);
  if (isAboutRights(status)) {
    const check = variables.length > 0 ? ` and the value of ${variables.join(', ')}` : '';
    return ['mcp/refused', `${what}it refuses the request (${status}). Check headers in domain.yaml${check}`];
  }
  if (meaning === 'redirect')
    return ['mcp/error', `${what}it redirects to another address (${status}). Write that address as the url`];
  const answer = `${what}it answers ${status} (${withoutPage(messageOf(error))})`;
  return meaning === 'gateway' || meaning === 'busy'
    ? ['mcp/unavailable', `${answer}. ${again}`]
    : ['mcp/error', `${answer}. Check the url, and look at the log of the server`];
}

/** Returns why an answer could not be read, in one line: the message of a schema has a line for each of its issues. */
function misreadText(error: unknown): string {
  // The SDK throws the class of zod's core, which is not a `ZodError`.
  return error instanceof z.core.$ZodError ? 'its answer is not a JSON-RPC message' : withoutPage(messageOf(error));
}

/** Returns what the agent reads of an error in place of a result. */
export function errorTextForAgent(error: unknown): string {
  if (error instanceof ServerError) return error.text;
  if (error instanceof z.core.$ZodError) return misreadText(error);
  return error instanceof AnswerTooLong
    ? `the result is longer than ${error.longest / 1e6} MB, which is the maxMessageSize of the server`
    : messageOf(error);
}

/** Returns whether a connection ended before the answer. One that was refused never existed. */
export function isBroken(error: unknown): boolean {
  if (error instanceof Disconnected) return true;
  const isFetch = error instanceof TypeError && /fetch failed|terminated/.test(error.message);
  return isFetch && !cannotConnect(error);
}

type Cause = { readonly code?: string; readonly syscall?: string };

const causeOf = (error: unknown) => (error as { readonly cause?: Cause } | null)?.cause?.code;

/** Codes of Node for a connection that was not made. */
const connectCodes: readonly string[] = [
  'EADDRNOTAVAIL',
  'EAI_AGAIN',
  'EAI_FAIL',
  'ECONNREFUSED',
  'EHOSTDOWN',
  'EHOSTUNREACH',
  'ENETDOWN',
  'ENETUNREACH',
  'ENOTFOUND',
  'UND_ERR_CONNECT_TIMEOUT',
];
/** Codes for a certificate whose issuer is unknown. */
const issuerCodes = /^(?:DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_(?:GET_ISSUER|VERIFY)\w*)$/;
/** Codes for a connection without TLS, or with a certificate that does not count. */
const securityCodes = /^(?:CERT_|ERR_SSL_|ERR_TLS_|UNABLE_TO_)\w+$/;

const isSecurity = (code: string) => issuerCodes.test(code) || securityCodes.test(code);

function cannotConnect(error: unknown): boolean {
  const { code = '', syscall } = (error as { readonly cause?: Cause } | null)?.cause ?? {};
  return connectCodes.includes(code) || isSecurity(code) || (code === 'ETIMEDOUT' && syscall === 'connect');
}

function connectAdvice(code = ''): string {
  if (issuerCodes.test(code))
    return 'Set NODE_EXTRA_CA_CERTS to the path of a file with the certificate of its issuer, and start again';
  return isSecurity(code) ? 'Check the url, and the certificate of the server' : 'Start the server, and check the url';
}

/** Returns how long a server may take to start: a download takes longer than a call. */
export function startLimitOf(server: McpServer): number {
  return server.type !== 'http' && downloads(server) ? Math.max(server.timeoutMs, downloadMs) : server.timeoutMs;
}

/** Returns whether a command may download the server before it starts it. */
function downloads({ command }: StdioServer): boolean {
  return /(?:^|[\\/])(?:npx|bunx|pnpx|pnpm|npm|yarn|uvx|uv|pipx|docker|podman)(?:\.(?:cmd|exe))?$/i.test(command);
}
