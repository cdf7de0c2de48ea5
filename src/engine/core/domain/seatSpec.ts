import type { ModelSettings } from './modelSettings.ts';

/** Seats that are functions of the conversation and run inside the worker; only cold-start synthesis uses `faultyGold`. */
export const modelFreeSeats = {
  agent: ['gold', 'faultyGold', 'scripted'],
  user: ['agenda', 'scripted'],
} as const;
export type ModelFreeAgent = (typeof modelFreeSeats.agent)[number];
export type ModelFreeUser = (typeof modelFreeSeats.user)[number];

/** The occupant of a seat, as a person or a configuration names it. */
export type SeatSpec = { readonly type: ModelFreeAgent | ModelFreeUser | 'human' } | ModelSeat | AgentSeat;

/** A custom agent. */
export type AgentSeat = {
  readonly type: 'agent';
  readonly name: string;
  /** The file that declares it. */
  readonly file: string;
  readonly program: AgentProcess | AgentService;
  /** The model that is lent to it, or null. */
  readonly model: ModelSeat | null;
  /** The time that it may take to its next call or to the end of its turn, in ms. */
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
  /** The time that a request may wait for an endpoint that limits the rate, in ms. */
  readonly rateLimitMs?: number;
  /** A language model of the editor: its rollouts are previews, which training never uses. */
  readonly isPreview?: true;
  /** Weights of a training run, or another model that the trainer's gateway serves. */
  readonly isCheckpoint?: true;
};

/** The settings of a model, with the time that a person lets it wait for an endpoint that limits the rate. */
export type AskedSettings = ModelSettings & Pick<ModelSeat, 'rateLimitMs'>;

/** The prefix of a seat's name that is a checkpoint: a folder, or a model that the trainer knows. */
export const checkpointScheme = 'checkpoint:';

/** A model as a text names it; `address` is null where the text names none. */
export type NamedModel = { readonly model: string; readonly address: string | null };

/**
 * Reads `openai:MODEL[@BASE_URL]`; null for any other text. The name of a model may have an @ itself, as
 * `@cf/meta/llama` and `claude@20250514` have: an address begins after an @ and has a colon, a slash or a dot.
 */
export function namedModel(text: string): NamedModel | null {
  const [, named] = /^openai:(?!@\w+:)(\S.*)$/.exec(text) ?? [];
  if (named === undefined || named.endsWith('@')) return null;
  const withScheme = named.search(/(?<=[^@\s])@\w+:\/\//);
  const at = withScheme >= 0 ? withScheme : named.search(/(?<=[^@\s])@(?:localhost|[^@]*[:/.])/);
  return at < 0 ? { model: named, address: null } : { model: named.slice(0, at), address: named.slice(at + 1) };
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
