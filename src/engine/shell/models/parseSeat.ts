import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import {
  checkpointScheme,
  type ModelSeat,
  modelFreeSeats,
  namedModel,
  type SeatSpec,
} from '../../core/domain/seatSpec.ts';
import { throwUnlessApproved } from '../approvals/approvals.ts';
import { effectsOfAgent } from '../approvals/effects.ts';
import { throwUnlessAllowed } from '../keys/keyOrigins.ts';
import { readAgentFile } from '../load/agentFile.ts';
import { suggestion } from '../source/nearest.ts';

/** The environment in which the editor says where its language models are asked, and with what token. */
export const editorModels = { url: 'REHEARSAL_EDITOR_URL', token: 'REHEARSAL_EDITOR_TOKEN' } as const;

/** The environment in which the command line says where the checkpoint that it serves is asked, and with what token. */
export const servedCheckpoint = { url: 'REHEARSAL_CHECKPOINT_URL', token: 'REHEARSAL_CHECKPOINT_TOKEN' } as const;

/** The endpoint of a model that names none. */
export const defaultBaseUrl = 'https://api.openai.com/v1';

/**
 * Reads `gold`, `scripted`, `agenda`, `human`, `openai:MODEL[@BASE_URL]`, `editor:MODEL`, `checkpoint:FOLDER` or `agent:FILE`.
 *
 * A domain may name any address, so a key goes along only where a person chose the address: in a flag, in the
 * environment, or by leaving it at the default. It also needs the person's consent to send the key there: a `Fault` with
 * the code `key/origin` asks for it. What an agent's file starts needs approval: an `ApprovalQuestion` asks for that.
 * @param from who wrote the text
 * @param folders where a relative FILE is looked for, in this order
 * @returns the seat, or a sentence that says what was expected
 */
export function parseSeat(
  text: string,
  seat: 'agent' | 'user',
  from: 'person' | 'domain',
  environment: NodeJS.ProcessEnv = process.env,
  folders: readonly string[] = [process.cwd()],
): SeatSpec | string {
  const allowed = simpleSeats(seat);
  const simple = allowed.find((name) => name === text);
  if (simple) return { type: simple };
  if (text === 'recorded')
    return `you cannot choose the seat "recorded": a recording plays its own seats, in "npx rehearsal replay RECORDING" and in the debugger`;
  if (seat === 'agent' && text.startsWith('agent:')) {
    const read = readAgentFile(text.slice('agent:'.length), folders, (model) => parseLentModel(model, environment));
    if (typeof read !== 'string') throwUnlessApproved(effectsOfAgent(read));
    return read;
  }
  if (seat === 'agent' && text.startsWith(checkpointScheme)) return parseCheckpoint(text, from, environment);
  const model = parseModel(text, from, environment);
  const ofAgents = seat === 'agent' ? ['checkpoint:FOLDER', 'agent:FILE'] : [];
  const expected = [...allowed, 'openai:MODEL[@BASE_URL]', ...ofAgents];
  return (
    model ??
    `"${text}" is not a seat for the ${seat}: expected ${expected.slice(0, -1).join(', ')} or ${expected.at(-1)}${meantSeat(text, seat, folders) ?? suggestion(text, allowed)}`
  );
}

/** Returns the spelling of a seat for a file that was named alone, as the end of a sentence. */
function meantSeat(text: string, seat: 'agent' | 'user', folders: readonly string[]): string | undefined {
  if (seat === 'user') return undefined;
  const isThere = (name: string) => folders.some((folder) => existsSync(resolve(folder, text, name)));
  if (/\.ya?ml$/i.test(text)) return `. Did you mean "agent:${text}"?`;
  return isThere('config.json') ? `. Did you mean "${checkpointScheme}${text}"?` : undefined;
}

/** Returns the seats that people choose by a name alone. */
export const simpleSeats = (seat: 'agent' | 'user') =>
  [...modelFreeSeats[seat].filter((name) => name !== 'faultyGold'), 'human'] as const;

/** A file may come with a domain, so what it names gets a key only as a domain's own text would. */
export function parseLentModel(text: string, environment: NodeJS.ProcessEnv): ModelSeat | string {
  return parseModel(text, 'domain', environment) ?? `"${text}" is not a model: expected openai:MODEL[@BASE_URL]`;
}

/** A language model of the editor, which only a person can choose and only commands that it starts can ask. */
function parseEditorModel(text: string, from: 'person' | 'domain', environment: NodeJS.ProcessEnv): ModelSeat | string {
  const baseUrl = environment[editorModels.url];
  if (from === 'domain')
    return `"${text}" is a language model of the editor, which only a person can choose: write openai:MODEL[@BASE_URL] here`;
  if (!baseUrl)
    return `"${text}" is a language model of the editor: only what is started in VS Code can ask it. Start it there, or write openai:MODEL[@BASE_URL]`;
  return { type: 'openai', model: text.slice('editor:'.length), baseUrl, keyName: editorModels.token, isPreview: true };
}

/** A checkpoint, which is served as long as the command plays that a person has started with it. */
function parseCheckpoint(text: string, from: 'person' | 'domain', environment: NodeJS.ProcessEnv): ModelSeat | string {
  const baseUrl = environment[servedCheckpoint.url];
  if (from === 'domain')
    return `"${text}" is a checkpoint, which only a person can put into the agent's seat: write openai:MODEL[@BASE_URL] here`;
  if (!baseUrl)
    return `"${text}" is a checkpoint, and this command serves none. Start "npx rehearsal serve-model" and name openai:MODEL@BASE_URL`;
  const model = text.slice(checkpointScheme.length);
  return { type: 'openai', model, baseUrl, keyName: servedCheckpoint.token, isCheckpoint: true };
}

/** Null for a text that names no model. */
function parseModel(
  text: string,
  from: 'person' | 'domain',
  environment: NodeJS.ProcessEnv,
): ModelSeat | string | null {
  if (/^editor:./.test(text)) return parseEditorModel(text, from, environment);
  const named = namedModel(text);
  if (!named) return null;
  const { model, address } = named;
  const baseUrl = address ?? environment['OPENAI_BASE_URL'] ?? defaultBaseUrl;
  const [, host] = /^[^@\s]+@([a-z].*)$/i.exec(model) ?? [];
  // Behind an @, other servers have versions, such as dates. A word is a host whose protocol is missing.
  if (host !== undefined && baseUrl === defaultBaseUrl)
    return `"${host}" is not a URL: expected something like http://127.0.0.1:8000/v1`;
  const problem = addressProblem(baseUrl);
  if (problem) return problem;
  const chosen = from === 'person' || [environment['OPENAI_BASE_URL'], defaultBaseUrl].includes(baseUrl);
  if (!chosen) return { type: 'openai', model, baseUrl, keyName: null };
  throwUnlessAllowed({ name: 'OPENAI_API_KEY', url: baseUrl, namedBy: text }, environment);
  return { type: 'openai', model, baseUrl, keyName: 'OPENAI_API_KEY' };
}

/** Returns what is wrong with the base URL of an endpoint, or null. A password in it is not repeated. */
export function addressProblem(baseUrl: string): string | null {
  if (!/^https?:/i.test(baseUrl) || !URL.canParse(baseUrl))
    return `"${baseUrl}" is not a URL: expected something like http://127.0.0.1:8000/v1`;
  const { username, password, host } = new URL(baseUrl);
  if (username === '' && password === '') return null;
  return `the address of the model at ${host} has a user name or a password, which cannot be sent. Set the header Authorization to "Basic \${env:NAME}" for this model, where the variable NAME holds both in base64`;
}
