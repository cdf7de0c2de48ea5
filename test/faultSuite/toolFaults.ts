import type { ServerResponse } from 'node:http';
import { resultBody, textResult } from '../support/rawMcpListener.ts';
import type { ChatFault } from './chatFaults.ts';

/** A request to the MCP server that a fault may be injected into, and its answer without the fault. */
export type ToolRequest = {
  readonly id: number;
  readonly response: ServerResponse;
  /** Executes the request and returns the result, as JSON. */
  readonly perform: () => string;
  /** The number of times that the fault was already injected into the rollout. */
  readonly times: number;
  /** Ends the session, so that the server no longer knows it. */
  readonly forget: () => void;
};

/** One fault of the MCP server. */
export type ToolFault = Pick<ChatFault, 'name' | 'outcomes' | 'isSlow'> & {
  /** The tool whose calls it is injected into: `visit` writes for the agent, and `visits` is the reader of the state. */
  readonly tool: 'visit' | 'visits';
  /** Whether it is injected into every call from the chosen one on, instead of that one alone. */
  readonly isLasting?: boolean;
  readonly inject: (request: ToolRequest) => void;
};

const json = { 'content-type': 'application/json' };
const stream = { 'content-type': 'text/event-stream' };
const error = (id: number, code: number, message: string) => ({
  jsonrpc: '2.0',
  id,
  error: { code, message },
});
const event = (message: string) => `event: message\ndata: ${message}\n\n`;
const same = { unchanged: /./ };
const gone = /connection broke|can't be reached|no longer knows/;

const misaddressed = { isLasting: true, outcomes: { unscored: /it answers with the id/ } };
/** The client waits for an answer until its time limit. */
const unanswered = { isLasting: true, isSlow: true, outcomes: { unscored: /did not answer within/ } };
const answerToEarlier = ({ id, response, perform }: ToolRequest) =>
  response.writeHead(200, json).end(resultBody(id - 1, perform()));
const gatewayPage = ({ response }: ToolRequest) =>
  response.writeHead(502, { 'content-type': 'text/html' }).end('<html><body><h1>502 Bad Gateway</h1></body></html>');
const loseSession = ({ response, forget }: ToolRequest) => {
  forget();
  response.writeHead(404, json).end('{"error": "Session not found"}');
};

export const toolFaults: readonly ToolFault[] = [
  {
    name: 'the tool raises an error',
    tool: 'visit',
    inject: ({ id, response }) => response.writeHead(200, json).end(JSON.stringify(error(id, -32603, 'boom'))),
    outcomes: same,
  },
  {
    name: 'an error with status 500',
    tool: 'visit',
    inject: ({ id, response }) => response.writeHead(500, json).end(JSON.stringify(error(id, -32000, 'boom'))),
    outcomes: same,
  },
  {
    name: 'the tool reports an error',
    tool: 'visit',
    inject: ({ id, response }) => {
      const result = { isError: true, content: [{ type: 'text', text: 'Error: busy' }] };
      response.writeHead(200, json).end(resultBody(id, JSON.stringify(result)));
    },
    outcomes: same,
  },
  {
    name: 'an HTML page from a gateway',
    tool: 'visit',
    inject: gatewayPage,
    outcomes: { unscored: /visit has no result: it answers 502/ },
  },
  {
    name: 'a result without content',
    tool: 'visit',
    inject: ({ id, response, perform }) => {
      perform();
      response.writeHead(200, json).end(resultBody(id, '{}'));
    },
    outcomes: same,
  },
  {
    name: 'null in place of each absent field',
    tool: 'visit',
    inject: ({ id, response, perform }) => {
      const result = { structuredContent: null, isError: null, _meta: null, ...JSON.parse(perform()) };
      response.writeHead(200, json).end(JSON.stringify({ jsonrpc: '2.0', id, result, error: null }));
    },
    outcomes: same,
  },
  {
    name: 'the answer comes in a stream, after messages from the server',
    tool: 'visit',
    inject: ({ id, response, perform }) => {
      const note = { jsonrpc: '2.0', method: 'notifications/message', params: { level: 'info', data: 'at work' } };
      response.writeHead(200, stream).end(event(JSON.stringify(note)) + event(resultBody(id, perform())));
    },
    outcomes: same,
  },
  {
    name: 'the answer comes twice',
    tool: 'visit',
    inject: ({ id, response, perform }) => {
      const once = event(resultBody(id, perform()));
      response.writeHead(200, stream).end(once + once);
    },
    outcomes: same,
  },
  {
    name: 'an error in a stream, in place of the answer',
    tool: 'visit',
    inject: ({ id, response }) => response.writeHead(200, stream).end(event(JSON.stringify(error(id, -32603, 'boom')))),
    outcomes: same,
  },
  {
    name: 'the stream ends before the answer to the write',
    tool: 'visit',
    inject: ({ response, perform }) => {
      perform();
      response.writeHead(200, stream).end();
    },
    outcomes: { unscored: gone },
  },
  {
    name: 'the stream is cut off in the middle of the answer to the write',
    tool: 'visit',
    inject: ({ id, response, perform }) => {
      const whole = event(resultBody(id, perform()));
      response.writeHead(200, stream).write(whole.slice(0, whole.length / 2), () => response.destroy());
    },
    outcomes: { unscored: gone },
  },
  {
    name: 'the answer belongs to an earlier request',
    tool: 'visit',
    ...misaddressed,
    inject: answerToEarlier,
  },
  {
    name: 'the answer to the reader belongs to an earlier request',
    tool: 'visits',
    ...misaddressed,
    inject: answerToEarlier,
  },
  {
    name: 'no answer',
    tool: 'visit',
    ...unanswered,
    inject: () => undefined,
  },
  {
    name: 'no answer, and each later answer belongs to an earlier request',
    tool: 'visit',
    ...unanswered,
    inject: (request) => (request.times === 0 ? undefined : answerToEarlier(request)),
  },
  {
    name: 'the response is lost after the write',
    tool: 'visit',
    inject: ({ response, perform }) => {
      perform();
      response.destroy();
    },
    outcomes: { unscored: gone },
  },
  {
    name: 'the session is lost before anything was done in it',
    tool: 'visit',
    inject: loseSession,
    outcomes: same,
  },
  {
    name: 'the session is lost after the write',
    tool: 'visits',
    isLasting: true,
    inject: loseSession,
    outcomes: { unscored: gone },
  },
  {
    name: 'the environment dies before the write',
    tool: 'visit',
    isLasting: true,
    inject: ({ response }) => void response.destroy(),
    outcomes: { unscored: gone },
  },
  {
    name: 'the environment dies after the write',
    tool: 'visits',
    isLasting: true,
    inject: ({ response }) => void response.destroy(),
    outcomes: { unscored: gone },
  },
  {
    name: 'the reader answers with an error',
    tool: 'visits',
    isLasting: true,
    inject: ({ id, response }) => response.writeHead(200, json).end(JSON.stringify(error(id, -32603, 'boom'))),
    outcomes: { unscored: /its reader visits failed/ },
  },
  {
    name: 'the reader answers with an HTML page from a gateway',
    tool: 'visits',
    isLasting: true,
    inject: gatewayPage,
    outcomes: { unscored: /visits has no result: it answers 502/ },
  },
  {
    name: 'the answer is cut off',
    tool: 'visit',
    isLasting: true,
    inject: ({ response }) => response.writeHead(200, json).end('{"jsonrpc": "2.0", "id": '),
    outcomes: { unscored: gone },
  },
  {
    name: 'an HTML page with status 200',
    tool: 'visit',
    inject: ({ response }) =>
      response
        .writeHead(200, { 'content-type': 'text/html' })
        .end('<!doctype html><title>Sign in</title><h1>Sign in</h1>'),
    outcomes: { unscored: /answered with an HTML page \("Sign in"\) instead of MCP/ },
  },
  {
    name: 'the result is longer than the limit of the server',
    tool: 'visit',
    inject: ({ id, response, perform }) => {
      perform();
      response.writeHead(200, json).end(resultBody(id, textResult('x'.repeat(3000))));
    },
    outcomes: same,
  },
];
