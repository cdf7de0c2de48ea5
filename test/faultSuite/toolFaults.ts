import type { ServerResponse } from 'node:http';
import type { ChatFault } from './chatFaults.ts';

/** A request to the MCP server that may be struck, and what it would answer. */
export type ToolRequest = {
  readonly id: number | string;
  readonly response: ServerResponse;
  /** Does what is asked and returns the result. */
  readonly perform: () => object;
  /** Ends the session, so that the server no longer knows it. */
  readonly forget: () => void;
};

/** One way in which the MCP server strikes a call. */
export type ToolFault = Pick<ChatFault, 'name' | 'outcomes' | 'isSlow'> & {
  /** The tool whose calls are struck: `visit` writes for the agent, and `visits` is the reader of the state. */
  readonly tool: 'visit' | 'visits';
  /** Whether it strikes every call from the chosen one on, and not that one alone. */
  readonly isLasting?: boolean;
  readonly strike: (request: ToolRequest) => void;
};

const json = { 'content-type': 'application/json' };
const stream = { 'content-type': 'text/event-stream' };
const answer = (id: number | string, result: object) => ({ jsonrpc: '2.0', id, result });
const error = (id: number | string, code: number, message: string) => ({
  jsonrpc: '2.0',
  id,
  error: { code, message },
});
const event = (message: object) => `event: message\ndata: ${JSON.stringify(message)}\n\n`;
const same = { unchanged: /./ };
const gone = /connection broke|can't be reached|no longer knows/;

export const toolFaults: readonly ToolFault[] = [
  {
    name: 'the tool raises an error',
    tool: 'visit',
    strike: ({ id, response }) => response.writeHead(200, json).end(JSON.stringify(error(id, -32603, 'boom'))),
    outcomes: same,
  },
  {
    name: 'an error with status 500',
    tool: 'visit',
    strike: ({ id, response }) => response.writeHead(500, json).end(JSON.stringify(error(id, -32000, 'boom'))),
    outcomes: same,
  },
  {
    name: 'null in place of each absent field',
    tool: 'visit',
    strike: ({ id, response, perform }) => {
      const result = { structuredContent: null, isError: null, _meta: null, ...perform() };
      response.writeHead(200, json).end(JSON.stringify({ ...answer(id, result), error: null }));
    },
    outcomes: same,
  },
  {
    name: 'the answer comes in a stream, after messages of the server',
    tool: 'visit',
    strike: ({ id, response, perform }) => {
      const params = { level: 'info', data: 'at work' };
      response
        .writeHead(200, stream)
        .end(event({ jsonrpc: '2.0', method: 'notifications/message', params }) + event(answer(id, perform())));
    },
    outcomes: same,
  },
  {
    name: 'the answer comes twice',
    tool: 'visit',
    strike: ({ id, response, perform }) => {
      const once = event(answer(id, perform()));
      response.writeHead(200, stream).end(once + once);
    },
    outcomes: same,
  },
  {
    name: 'the answer is that of an earlier request',
    tool: 'visit',
    isLasting: true,
    strike: ({ id, response, perform }) =>
      response.writeHead(200, json).end(JSON.stringify(answer(Number(id) - 1, perform()))),
    isSlow: true,
    outcomes: { unscored: /did not answer within/ },
  },
  {
    name: 'the answer to the reader is that of an earlier request',
    tool: 'visits',
    isLasting: true,
    strike: ({ id, response, perform }) =>
      response.writeHead(200, json).end(JSON.stringify(answer(Number(id) - 1, perform()))),
    isSlow: true,
    outcomes: { unscored: /did not answer within/ },
  },
  {
    name: 'no answer',
    tool: 'visit',
    isLasting: true,
    strike: () => undefined,
    isSlow: true,
    outcomes: { unscored: /did not answer within/ },
  },
  {
    name: 'the response is lost after the write',
    tool: 'visit',
    strike: ({ response, perform }) => {
      perform();
      response.destroy();
    },
    outcomes: { unscored: gone },
  },
  {
    name: 'the session is lost before anything was done in it',
    tool: 'visit',
    strike: ({ response, forget }) => {
      forget();
      response.writeHead(404, json).end('{"error": "Session not found"}');
    },
    outcomes: same,
  },
  {
    name: 'the session is lost after the write',
    tool: 'visits',
    isLasting: true,
    strike: ({ response, forget }) => {
      forget();
      response.writeHead(404, json).end('{"error": "Session not found"}');
    },
    outcomes: { unscored: gone },
  },
  {
    name: 'the environment is dead before the write',
    tool: 'visit',
    isLasting: true,
    strike: ({ response }) => void response.destroy(),
    outcomes: { unscored: gone },
  },
  {
    name: 'the environment is dead after the write',
    tool: 'visits',
    isLasting: true,
    strike: ({ response }) => void response.destroy(),
    outcomes: { unscored: gone },
  },
  {
    name: 'the reader answers with an error',
    tool: 'visits',
    isLasting: true,
    strike: ({ id, response }) => response.writeHead(200, json).end(JSON.stringify(error(id, -32603, 'boom'))),
    outcomes: { unscored: /its reader visits failed/ },
  },
  {
    name: 'the answer is not JSON',
    tool: 'visit',
    isLasting: true,
    strike: ({ response }) => response.writeHead(200, json).end('{"jsonrpc": "2.0", "id": '),
    outcomes: { unscored: /no result/ },
  },
  {
    name: 'the result is longer than the server may answer',
    tool: 'visit',
    strike: ({ id, response, perform }) => {
      perform();
      const text = 'x'.repeat(3000);
      response.writeHead(200, json).end(JSON.stringify(answer(id, { content: [{ type: 'text', text }] })));
    },
    outcomes: same,
  },
];
