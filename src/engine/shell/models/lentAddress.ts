import { randomBytes, randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { rawJson } from '../../core/values/largeIntegers.ts';
import { messageOf } from '../files/fault.ts';
import { exactRequest } from '../mcp/exactRequest.ts';
import { isLocalRequest, isSameToken } from '../processes/loopback.ts';
import type { ShownTools } from '../tools/mcpServer.ts';
import type { Loan } from './agentProgram.ts';
import { type ModelAnswer, streamed } from './lentModel.ts';

/** Answers the requests to the addresses that an agent is lent. */
export type Lender = {
  /** Null if no model is lent. */
  readonly complete: ((request: unknown) => Promise<ModelAnswer>) | null;
  readonly modelName: string;
  readonly tools: ShownTools;
};

export type LentAddress = {
  readonly rollout: string;
  readonly loan: Loan;
  /** Closes both addresses, which then answer that the rollout has ended. */
  readonly close: () => void;
};

type Lent = { readonly key: string; readonly lender: Lender };

const longestBody = 32 * 2 ** 20;

/** One server for all rollouts of this process, begun with the first one that lends. It keeps no process alive. */
let server: Promise<LoanServer> | null = null;

/** Lends a rollout's agent two addresses on this machine, and a key that opens them. */
export async function lendAddress(lender: Lender): Promise<LentAddress> {
  server ??= LoanServer.open();
  return (await server).lend(lender);
}

class LoanServer {
  readonly #server: Server;
  readonly #lent = new Map<string, Lent>();

  constructor() {
    this.#server = createServer((request, response) => {
      this.#answer(request, response).catch((error: unknown) => say(response, 500, messageOf(error), 'server_error'));
    });
    // A tool's result may wait for a person who looks at a breakpoint.
    this.#server.requestTimeout = 0;
    this.#server.on('connection', (socket) => socket.unref());
    this.#server.unref();
  }

  static async open(): Promise<LoanServer> {
    const opened = new LoanServer();
    await new Promise<void>((resolve, reject) => {
      opened.#server.once('error', reject);
      opened.#server.listen(0, '127.0.0.1', resolve);
    });
    return opened;
  }

  lend(lender: Lender): LentAddress {
    const rollout = randomUUID();
    const key = randomBytes(24).toString('base64url');
    this.#lent.set(rollout, { key, lender });
    const address = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/rollouts/${rollout}`;
    return {
      rollout,
      loan: { base_url: `${address}/v1`, api_key: key, mcp_url: `${address}/mcp` },
      close: () => {
        this.#lent.delete(rollout);
      },
    };
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (!isLocalRequest(request.headers))
      return say(response, 403, 'only programs of this machine are answered', 'not_local');
    const [, rollout = '', path = ''] = /^\/rollouts\/([^/]+)(\/[^?]*)/.exec(request.url ?? '') ?? [];
    const lent = this.#lent.get(rollout);
    if (!lent) return say(response, 410, 'this rollout has ended, or there never was one', 'rollout_ended');
    if (!isKey(request.headers.authorization, lent.key))
      return say(response, 401, "send the lent key as 'Authorization: Bearer KEY'", 'invalid_api_key');
    const { lender } = lent;
    const asked = `${request.method} ${path}`;
    if (asked === 'GET /v1/models')
      return send(response, 200, { object: 'list', data: [{ id: lender.modelName, object: 'model', created: 0 }] });
    if (asked !== 'POST /v1/chat/completions' && asked !== 'POST /mcp')
      return say(response, path === '/mcp' ? 405 : 404, `there is nothing at ${asked}${adviceFor(path)}`, 'not_found');
    const body = await readBody(request, path === '/mcp' ? exactRequest : rawJson);
    if (body === null) return say(response, 400, 'the body is not JSON', 'invalid_json');
    if (path === '/mcp') {
      const { answerMcp } = await import('../tools/mcpServer.ts');
      return answerMcp(request, response, body, lender.tools);
    }
    if (!lender.complete)
      return say(response, 404, 'no model is lent to this agent: name one as "model" in its file', 'no_model');
    const answer = await lender.complete(body);
    const wantsStream = (body as { readonly stream?: unknown }).stream === true;
    if (answer.status !== 200 || !wantsStream) return send(response, answer.status, answer.body);
    response.writeHead(200, { 'content-type': 'text/event-stream' }).end(streamed(answer.body));
  }
}

function adviceFor(path: string): string {
  const advice = 'the model is lent for chat completions. Let your SDK use those, not responses';
  return path.startsWith('/v1/responses') ? `: ${advice}` : '';
}

async function readBody(request: IncomingMessage, parse: (text: string) => unknown): Promise<object | null> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > longestBody) return null;
    chunks.push(chunk);
  }
  try {
    const value = parse(Buffer.concat(chunks).toString());
    return typeof value === 'object' ? value : null;
  } catch {
    return null;
  }
}

function isKey(authorization: string | undefined, key: string): boolean {
  return isSameToken(/^Bearer (.+)$/i.exec(authorization ?? '')?.[1] ?? '', key);
}

function say(response: ServerResponse, status: number, message: string, code: string): void {
  send(response, status, { error: { message, type: 'invalid_request_error', code, param: null } });
}

function send(response: ServerResponse, status: number, body: object): void {
  if (response.headersSent) return;
  // The engine has tried again already where that helps.
  response.writeHead(status, { 'content-type': 'application/json', 'x-should-retry': 'false' });
  response.end(JSON.stringify(body));
}
