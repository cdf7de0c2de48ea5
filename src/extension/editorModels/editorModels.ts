import { randomBytes } from 'node:crypto';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import * as vscode from 'vscode';
import { isLocalRequest, isSameToken } from '../../engine/shell/processes/loopback.ts';
import { showInformationMessage } from '../workspace/messages.ts';
import type { EditorAnswer, EditorMessage } from './editorChat.ts';

/** Names of the environment of the commands that the editor starts; the seats of the engine read them. */
const urlName = 'REHEARSAL_EDITOR_URL';
const tokenName = 'REHEARSAL_EDITOR_TOKEN';

/** Longest request that is read: the conversation of a rollout is far shorter. */
const longestRequest = 32 * 1024 * 1024;

class Refusal extends Error {
  readonly status: number;
  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/**
 * Lends the editor's language models to the commands that the editor starts, as an OpenAI-compatible endpoint on the
 * loopback interface that wants a token. So a seat `editor:MODEL` is the same seat as every other model. What it plays is
 * a preview: these models take no system prompt, and each decides which settings of the seat it follows.
 */
export class EditorModels implements vscode.Disposable {
  readonly #token = randomBytes(24).toString('hex');
  #server: Promise<Server> | undefined;

  /**
   * Returns what a child process needs to ask them; nothing where no one trusts the workspace. Listens from the first
   * time on.
   */
  async environment(): Promise<Record<string, string>> {
    if (!vscode.workspace.isTrusted) return {};
    this.#server ??= this.#listen();
    const { port } = (await this.#server).address() as AddressInfo;
    return { [urlName]: `http://127.0.0.1:${port}/v1`, [tokenName]: this.#token };
  }

  dispose(): void {
    void this.#server?.then((server) => {
      server.close();
      server.closeAllConnections();
    });
  }

  async #listen(): Promise<Server> {
    const { createServer } = await import('node:http');
    const server = createServer((request, response) => void this.#respond(request, response));
    server.unref();
    return new Promise((resolve, reject) => {
      server.once('error', reject).listen(0, '127.0.0.1', () => resolve(server));
    });
  }

  async #respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const source = new vscode.CancellationTokenSource();
    response.once('close', () => source.cancel());
    try {
      if (!isLocalRequest(request.headers)) throw new Refusal(403, 'only programs of this machine are answered');
      if (!this.#isOurs(request.headers.authorization)) throw new Refusal(401, 'the token is missing or wrong');
      const answer = await answered(request, source.token);
      send(response, 200, answer);
    } catch (error) {
      const { status, message } = refusalOf(error);
      send(response, status, { error: { message, type: 'editor' } });
    } finally {
      source.dispose();
    }
  }

  #isOurs(authorization = ''): boolean {
    return isSameToken(authorization, `Bearer ${this.#token}`);
  }
}

function send(response: ServerResponse, status: number, body: object): void {
  if (response.destroyed) return;
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

async function answered(request: IncomingMessage, token: vscode.CancellationToken): Promise<object> {
  const { pathname } = new URL(request.url ?? '/', 'http://127.0.0.1');
  if (request.method === 'GET' && pathname === '/v1/models') {
    const models = await vscode.lm.selectChatModels();
    return { object: 'list', data: models.map(({ id, vendor }) => ({ id, object: 'model', owned_by: vendor })) };
  }
  if (request.method !== 'POST' || pathname !== '/v1/chat/completions') throw new Refusal(404, 'there is nothing here');
  const { completionOf, parseRequest } = await import('./editorChat.ts');
  const asked = parseRequest(await bodyOf(request));
  if (typeof asked === 'string') throw new Refusal(400, asked);
  const { messages, tools, modelOptions } = asked;
  const model = await modelNamed(asked.model);
  const response = await model.sendRequest(
    messages.map(chatMessage),
    {
      justification: 'A rehearsal asks it in place of an agent or a user.',
      modelOptions,
      ...(tools.length > 0 ? { tools: [...tools] } : {}),
    },
    token,
  );
  return completionOf(asked.model, await collected(response));
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  let length = 0;
  for await (const part of request as AsyncIterable<Buffer>) {
    length += part.length;
    if (length > longestRequest) throw new Refusal(413, 'the request is too long');
    parts.push(part);
  }
  return Buffer.concat(parts).toString('utf8');
}

async function modelNamed(id: string): Promise<vscode.LanguageModelChat> {
  const models = await vscode.lm.selectChatModels();
  const found = models.find((model) => model.id === id);
  if (found) return found;
  const names = models.map((model) => model.id).join(', ');
  throw new Refusal(404, `VS Code has no language model "${id}"; it has ${names || 'none'}`);
}

function chatMessage({ role, parts }: EditorMessage): vscode.LanguageModelChatMessage {
  const content = parts.map((part) => {
    switch (part.type) {
      case 'text':
        return new vscode.LanguageModelTextPart(part.text);
      case 'call':
        return new vscode.LanguageModelToolCallPart(part.id, part.name, part.input);
      case 'result':
        return new vscode.LanguageModelToolResultPart(part.id, [new vscode.LanguageModelTextPart(part.text)]);
      default:
        return part satisfies never;
    }
  });
  const { User, Assistant } = vscode.LanguageModelChatMessageRole;
  return new vscode.LanguageModelChatMessage(role === 'user' ? User : Assistant, content);
}

async function collected({ stream }: vscode.LanguageModelChatResponse): Promise<EditorAnswer> {
  let text = '';
  const calls: { id: string; name: string; input: object }[] = [];
  for await (const part of stream) {
    if (part instanceof vscode.LanguageModelTextPart) text += part.value;
    else if (part instanceof vscode.LanguageModelToolCallPart)
      calls.push({ id: part.callId, name: part.name, input: part.input });
  }
  return { text, calls };
}

/** Returns the status for an error: the editor's refusal is not retried; other errors of a model are. */
function refusalOf(error: unknown): { readonly status: number; readonly message: string } {
  if (error instanceof Refusal) return error;
  const message = error instanceof Error ? error.message : String(error);
  if (!(error instanceof vscode.LanguageModelError)) return { status: 502, message };
  const statuses: Readonly<Record<string, number>> = { NoPermissions: 403, Blocked: 403, NotFound: 404 };
  return { status: statuses[error.code] ?? 502, message: message || error.code };
}

/**
 * Asks which of the editor's language models takes a seat.
 * @returns the seat, or undefined if the user cancelled or there are none
 */
export async function pickEditorModel(): Promise<string | undefined> {
  const models = await vscode.lm.selectChatModels();
  if (models.length === 0) {
    void showInformationMessage(
      'VS Code has no language model: sign in to GitHub Copilot or add a model in its chat. Set your own endpoint in rehearsal.model.',
    );
    return undefined;
  }
  const items = models.map(({ id, name, vendor }) => ({ label: name, description: `preview · ${vendor}`, id }));
  const placeHolder = 'Which model of VS Code? Training never uses its rollouts';
  const picked = await vscode.window.showQuickPick(items, { placeHolder });
  return picked && `editor:${picked.id}`;
}
