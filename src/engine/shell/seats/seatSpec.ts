/** Who takes a seat, as a person or a configuration names it. */
export type SeatSpec = { readonly type: 'gold' | 'scripted' | 'agenda' | 'human' } | ModelSeat;

/** A model behind an OpenAI-compatible endpoint. The key itself is never part of this. */
export type ModelSeat = {
  readonly type: 'openai';
  readonly model: string;
  readonly baseUrl: string;
  /** Name of the environment variable, or of the stored secret, that holds the key; null: no key is sent. */
  readonly keyName: string | null;
  readonly temperature?: number;
  readonly maxTokens?: number;
  readonly timeoutMs?: number;
};

const defaultBaseUrl = 'https://api.openai.com/v1';

/** Seats that are functions of the conversation and run inside the lane. */
export const pureSeats = ['gold', 'scripted', 'agenda'] as const;

/**
 * Reads `gold`, `scripted`, `agenda`, `human` or `openai:MODEL[@BASE_URL]`.
 *
 * A domain may name any address, so a key goes along only where a person chose the address: in a flag, in the
 * environment, or by leaving it at the default.
 * @param from who wrote the text
 * @returns the seat, or a sentence that says what was expected
 */
export function parseSeat(
  text: string,
  seat: 'agent' | 'user',
  from: 'person' | 'domain',
  environment: NodeJS.ProcessEnv = process.env,
): SeatSpec | string {
  const allowed = seat === 'agent' ? (['gold', 'scripted', 'human'] as const) : (['agenda', 'human'] as const);
  const simple = allowed.find((name) => name === text);
  if (simple) return { type: simple };
  if (text === 'recorded')
    return `"recorded" is no seat that can be chosen: a recording answers for its own seats, in "rehearsal replay RECORDING" and where the debugger opens one`;
  const model = /^openai:(?<name>[^@]+)(?:@(?<url>.+))?$/.exec(text)?.groups;
  if (!model?.['name'])
    return `"${text}" is not a seat for the ${seat}: expected ${allowed.join(', ')} or openai:MODEL[@BASE_URL]`;
  const baseUrl = model['url'] ?? environment['OPENAI_BASE_URL'] ?? defaultBaseUrl;
  if (!URL.canParse(baseUrl)) return `"${baseUrl}" is not a URL: expected something like http://127.0.0.1:8000/v1`;
  const chosen = from === 'person' || [environment['OPENAI_BASE_URL'], defaultBaseUrl].includes(baseUrl);
  return { type: 'openai', model: model['name'], baseUrl, keyName: chosen ? 'OPENAI_API_KEY' : null };
}

/** A seat's name for recordings and people; holds no key. */
export function seatName(spec: SeatSpec): string {
  return spec.type === 'openai' ? `openai:${spec.model}` : spec.type;
}
