import type { ModelSettings } from '../../core/modelSettings.ts';
import { throwUnlessApproved } from '../approvals.ts';
import { effectsOfAgent } from '../effects.ts';
import { throwUnlessAllowed } from '../keyOrigins.ts';
import { readAgentFile } from '../load/agentFile.ts';
import { suggestion } from '../load/nearest.ts';

/** Who takes a seat, as a person or a configuration names it; `slip` only synthesis of cold-start data gives it. */
export type SeatSpec = { readonly type: 'gold' | 'slip' | 'scripted' | 'agenda' | 'human' } | ModelSeat | AgentSeat;

/** An agent of the user's own. */
export type AgentSeat = {
  readonly type: 'agent';
  readonly name: string;
  /** Where it is declared. */
  readonly file: string;
  readonly program: AgentProcess | AgentService;
  /** The model that is lent to it, or null. */
  readonly model: ModelSeat | null;
  /** How long it may take to its next call or to the end of its turn. */
  readonly timeoutMs: number;
};

/** Started for each rollout. */
export type AgentProcess = {
  readonly type: 'process';
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
};

/** Running already; each turn is posted to it. */
export type AgentService = {
  readonly type: 'service';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
};

/** A model behind an OpenAI-compatible endpoint. Keys are named only, in `keyName` and as `${env:NAME}` in headers. */
export type ModelSeat = Readonly<ModelSettings> & {
  readonly type: 'openai';
  readonly model: string;
  readonly baseUrl: string;
  /** Name of the environment variable, or of the stored secret, that holds the key; null: no key is sent. */
  readonly keyName: string | null;
  readonly timeoutMs?: number;
  /** How long a request may wait for an endpoint that limits the rate. */
  readonly rateLimitMs?: number;
  /** A language model of the editor: its rollouts are previews, and no training learns from them. */
  readonly isPreview?: true;
  /** Weights of a training run, or another model that the trainer's gateway serves. */
  readonly isCheckpoint?: true;
};

/** How a model is asked, with the time for which a person lets it wait for an endpoint that limits the rate. */
export type AskedSettings = ModelSettings & Pick<ModelSeat, 'rateLimitMs'>;

/** The environment in which the editor says where its language models are asked, and with what token. */
export const editorModels = { url: 'REHEARSAL_EDITOR_URL', token: 'REHEARSAL_EDITOR_TOKEN' } as const;

/** What a seat's name begins with that is a checkpoint: a folder, or a model that the trainer knows. */
export const checkpointScheme = 'checkpoint:';

/** The environment in which the command line says where the checkpoint that it serves is asked, and with what token. */
export const servedCheckpoint = { url: 'REHEARSAL_CHECKPOINT_URL', token: 'REHEARSAL_CHECKPOINT_TOKEN' } as const;

const defaultBaseUrl = 'https://api.openai.com/v1';

/** Seats that are functions of the conversation and run inside the lane. */
export const pureSeats = ['gold', 'slip', 'scripted', 'agenda'] as const;

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
  const allowed =
    seat === 'agent' ? (['gold', 'scripted', 'human'] as const) : (['agenda', 'scripted', 'human'] as const);
  const simple = allowed.find((name) => name === text);
  if (simple) return { type: simple };
  if (text === 'recorded')
    return `"recorded" is no seat that can be chosen: a recording answers for its own seats, in "npx rehearsal replay RECORDING" and where the debugger opens one`;
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
    `"${text}" is not a seat for the ${seat}: expected ${expected.slice(0, -1).join(', ')} or ${expected.at(-1)}${suggestion(text, allowed)}`
  );
}

/** A file may come with a domain, so what it names gets a key only as a domain's own text would. */
export function parseLentModel(text: string, environment: NodeJS.ProcessEnv): ModelSeat | string {
  return parseModel(text, 'domain', environment) ?? `"${text}" is no model: expected openai:MODEL[@BASE_URL]`;
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
  const model = /^openai:(?<name>[^@]+)(?:@(?<url>.+))?$/.exec(text)?.groups;
  if (!model?.['name']) return null;
  const baseUrl = model['url'] ?? environment['OPENAI_BASE_URL'] ?? defaultBaseUrl;
  if (!/^https?:/i.test(baseUrl) || !URL.canParse(baseUrl))
    return `"${baseUrl}" is not a URL: expected something like http://127.0.0.1:8000/v1`;
  const chosen = from === 'person' || [environment['OPENAI_BASE_URL'], defaultBaseUrl].includes(baseUrl);
  if (!chosen) return { type: 'openai', model: model['name'], baseUrl, keyName: null };
  throwUnlessAllowed({ name: 'OPENAI_API_KEY', url: baseUrl, namedBy: text }, environment);
  return { type: 'openai', model: model['name'], baseUrl, keyName: 'OPENAI_API_KEY' };
}

/** The seat with its model changed, where it asks one. */
export function withModel(spec: SeatSpec, change: (model: ModelSeat) => ModelSeat): SeatSpec {
  if (spec.type === 'agent') return { ...spec, model: spec.model && change(spec.model) };
  return spec.type === 'openai' ? change(spec) : spec;
}

/** The model that a seat asks, or null where none is known. */
export function modelOf(spec: SeatSpec): ModelSeat | null {
  if (spec.type === 'agent') return spec.model;
  return spec.type === 'openai' ? spec : null;
}

/** A seat's name for recordings and people; holds no key. */
export function seatName(spec: SeatSpec): string {
  if (spec.type === 'agent') return `agent:${spec.name}`;
  if (spec.type !== 'openai') return spec.type;
  const scheme = spec.isPreview ? 'editor:' : spec.isCheckpoint ? checkpointScheme : 'openai:';
  return `${scheme}${spec.model}`;
}
