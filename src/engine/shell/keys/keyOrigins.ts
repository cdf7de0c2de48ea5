import { Fault } from '../files/fault.ts';
import { allowedKeys } from '../processes/childEnvironment.ts';
import { readConsents, rememberConsent } from './consents.ts';

/** The origins of providers, by the environment variables in which their clients look for a key. */
const providers: Readonly<Record<string, string>> = {
  ANTHROPIC_API_KEY: 'https://api.anthropic.com',
  DEEPSEEK_API_KEY: 'https://api.deepseek.com',
  GEMINI_API_KEY: 'https://generativelanguage.googleapis.com',
  GROQ_API_KEY: 'https://api.groq.com',
  HF_TOKEN: 'https://huggingface.co',
  MISTRAL_API_KEY: 'https://api.mistral.ai',
  OPENAI_API_KEY: 'https://api.openai.com',
  OPENROUTER_API_KEY: 'https://openrouter.ai',
  TOGETHER_API_KEY: 'https://api.together.xyz',
  XAI_API_KEY: 'https://api.x.ai',
};

/** A key that is about to be sent. */
export type KeyUse = {
  /** The environment variable, or the stored secret, that holds it. */
  readonly name: string;
  /** The address that the key would be sent to. */
  readonly url: string;
  /** The source of that address: a file, an option or a setting. */
  readonly namedBy: string;
};

export type KeyDecision =
  | { readonly type: 'send' }
  /** A person decides. `home` is the origin that the key belongs to, null where that is not known. */
  | { readonly type: 'ask'; readonly name: string; readonly origin: string; readonly home: string | null }
  | { readonly type: 'refuse'; readonly why: string };

/**
 * Decides whether a key may be sent to an address. A key belongs to the origin of its provider, to that of
 * `OPENAI_BASE_URL` where the same person set both, and to those that a person allowed before.
 */
export function keyDecision({ name, url }: KeyUse, environment: NodeJS.ProcessEnv): KeyDecision {
  if (!environment[name]) return { type: 'send' };
  const origin = originOf(url);
  if (origin === null) return { type: 'refuse', why: `"${url}" is not an address with http or https` };
  if (internal.test(name)) return { type: 'refuse', why: `${name} is only for Rehearsal's own processes` };
  if (originsOf(name, environment).includes(origin)) return { type: 'send' };
  return { type: 'ask', name, origin, home: homeOf(name, environment) };
}

/** Tokens that one process of the product hands to another. */
const internal = /^REHEARSAL_\w*TOKEN$/;

/** Throws a `Fault` with the code `key/origin` where a key may not be sent without a person's consent. */
export function throwUnlessAllowed(use: KeyUse, environment: NodeJS.ProcessEnv): void {
  const decision = keyDecision(use, environment);
  if (decision.type === 'send') return;
  if (decision.type === 'refuse')
    throw new Fault({ who: 'environment', code: 'key/refused', message: `${use.namedBy}: ${decision.why}` });
  throw new KeyQuestion(use.namedBy, decision);
}

/** A person is to decide whether a key may be sent to an origin. */
export class KeyQuestion extends Fault {
  readonly question: Extract<KeyDecision, { type: 'ask' }>;

  constructor(namedBy: string, question: Extract<KeyDecision, { type: 'ask' }>) {
    const { name, origin, home } = question;
    const belongs = home === null ? 'was not allowed for any address' : `belongs to ${home}`;
    const message = `${namedBy} would send ${name} to ${origin}, and it ${belongs}. Allow that with --allow-key ${name}=${origin}, or unset ${name}`;
    super({ who: 'environment', code: 'key/origin', message });
    this.question = question;
  }
}

/** Allows keys for this process and those that it starts. Throws a sentence for what is not `NAME=ORIGIN`. */
export function allowKeys(given: readonly string[], environment: NodeJS.ProcessEnv): void {
  const entries = given.map((entry) => {
    const [, name = '', url = ''] = /^([A-Za-z_]\w*)=(.+)$/.exec(entry) ?? [];
    const origin = originOf(url);
    if (origin === null)
      throw new Fault({
        who: 'environment',
        code: 'key/option',
        message: `--allow-key is NAME=ORIGIN, such as OPENAI_API_KEY=https://host:8000, not "${entry}"`,
      });
    return `${name}=${origin}`;
  });
  if (entries.length === 0) return;
  const before =
    environment[allowedKeys]?.split(' ') ?? ownBinding(environment).map(([name, origin]) => `${name}=${origin}`);
  environment[allowedKeys] = [...new Set([...before, ...entries])].filter(Boolean).join(' ');
}

/** Remembers a person's consent for later commands, outside of every workspace. */
export function rememberKey(name: string, origin: string, environment: NodeJS.ProcessEnv): void {
  rememberConsent('allowed-keys.txt', `${name}=${origin}`, environment);
}

/** The address in the environment counts where no editor says which addresses were allowed. */
function ownBinding(environment: NodeJS.ProcessEnv): readonly (readonly [string, string])[] {
  const origin = originOf(environment['OPENAI_BASE_URL'] ?? '');
  return origin === null ? [] : [['OPENAI_API_KEY', origin]];
}

function originsOf(name: string, environment: NodeJS.ProcessEnv): readonly string[] {
  const given = environment[allowedKeys];
  const own = given === undefined ? ownBinding(environment).flatMap(([of, origin]) => (of === name ? origin : [])) : [];
  const allowed = [...(given?.split(' ') ?? []), ...readConsents('allowed-keys.txt', environment)];
  const consented = allowed.flatMap((each) => (each.startsWith(`${name}=`) ? each.slice(name.length + 1) : []));
  const provider = providers[name];
  return [...own, ...consented, ...(provider === undefined ? [] : [provider])];
}

function homeOf(name: string, environment: NodeJS.ProcessEnv): string | null {
  return originsOf(name, environment)[0] ?? null;
}

/** The origin of an address with http or https; null for any other text. */
export function originOf(url: string): string | null {
  if (!URL.canParse(url)) return null;
  const { protocol, origin } = new URL(url);
  return protocol === 'http:' || protocol === 'https:' ? origin : null;
}
