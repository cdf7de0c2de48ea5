import { keyName } from '../processes/childEnvironment.ts';
import { type KeyUse, throwUnlessAllowed } from './keyOrigins.ts';
import { isSecret, keptSecret, without } from './secrets.ts';

export type Filled = {
  /**
   * Returns the text with its placeholders replaced. Throws when one is not known or an environment variable is not
   * set, and a `Fault` where it may not be sent.
   * @param sent where the text is sent, and who says so
   */
  readonly fill: (text: string, sent?: Omit<KeyUse, 'name'>) => string;
  /** The same for an address, in which every value is percent-encoded. What the address names stays where it is. */
  readonly fillUrl: (url: string, sent: Omit<KeyUse, 'name'>) => string;
  /** The text without any value that came from the environment. */
  readonly redact: (text: string) => string;
  /** Names of the environment variables that were filled in. */
  readonly variables: () => readonly string[];
};

/** Names of the placeholders with which an MCP server is declared, in addition to environment variables. */
export const serverPlaceholders = ['domainFolder', 'instanceFolder', 'now'] as const;

const isVariable = /^env:([A-Za-z_]\w*)$/;
const placeholder = /(\$?)\$\{([^{}]*)\}/g;

/** Returns the names of the environment variables that a text is filled with, each as often as it is there. */
export function variablesIn(text: string): readonly string[] {
  return [...text.matchAll(placeholder)].flatMap(([, dollar, key = '']) => {
    const name = isVariable.exec(key)?.[1];
    return dollar === '' && name !== undefined ? [name] : [];
  });
}

/** Returns the variables in a text that hold keys by their names, and whose values are too short to be replaced. */
export function shortKeysIn(text: string, environment: NodeJS.ProcessEnv): readonly string[] {
  return [...new Set(variablesIn(text))].filter((name) => {
    const value = environment[name] ?? '';
    return keyName.test(name) && value !== '' && !isSecret(value);
  });
}

/** Why a placeholder has no value. */
export type PlaceholderProblem =
  | { readonly type: 'unset'; readonly variable: string }
  /** `message` has both sentences of an `UnknownPlaceholder`. */
  | { readonly type: 'unknown'; readonly message: string };

/** The problem with an unknown placeholder, with the known ones, and the advice. Neither has a full stop. */
export type UnknownPlaceholder = { readonly what: string; readonly advice: string };

/**
 * Fills `${name}` with given values and `${env:NAME}` with environment variables. What came from the environment
 * counts as a secret. Write `$${` for a literal `${`.
 * @param refused makes the error for a placeholder that has no value
 */
export function fillPlaceholders(
  values: Readonly<Record<string, string>>,
  environment: NodeJS.ProcessEnv,
  refused: (problem: PlaceholderProblem) => Error,
): Filled {
  const secrets = new Map<string, string>();
  /** Takes out the secrets of `secrets`; null until it is needed, because their forms take long to make. */
  let redact: ((text: string) => string) | null = null;
  const valueFor = (key: string, sent: Omit<KeyUse, 'name'> | undefined): string => {
    const name = isVariable.exec(key)?.[1];
    if (name === undefined) {
      const value = Object.hasOwn(values, key) ? values[key] : undefined;
      if (value !== undefined) return value;
      const { what, advice } = unknown(key, Object.keys(values));
      throw refused({ type: 'unknown', message: `${what}. ${advice}` });
    }
    const value = environment[name];
    if (value === undefined || value === '') throw refused({ type: 'unset', variable: name });
    if (sent) throwUnlessAllowed({ name, ...sent }, environment);
    secrets.set(name, value);
    redact = null;
    return keptSecret(name, value);
  };
  const filled = (text: string, sent: Omit<KeyUse, 'name'> | undefined, written: (value: string) => string) =>
    text.replace(placeholder, (whole, dollar: string, key: string) =>
      dollar === '' ? written(valueFor(key, sent)) : whole.slice(1),
    );
  return {
    fill: (text, sent) => filled(text, sent, (value) => value),
    fillUrl: (url, sent) => filled(url, sent, encodeURIComponent),
    redact: (text) => {
      redact ??= without([...secrets].map(([name, value]) => [value, name]));
      return redact(text);
    },
    variables: () => [...secrets.keys()],
  };
}

/** Returns what is wrong with the first placeholder of a text that is neither an environment variable nor in a list. */
export function unknownPlaceholder(text: string, names: readonly string[]): UnknownPlaceholder | null {
  for (const [, dollar, key = ''] of text.matchAll(placeholder))
    if (dollar === '' && !isVariable.test(key) && !names.includes(key)) return unknown(key, names);
  return null;
}

function unknown(key: string, names: readonly string[]): UnknownPlaceholder {
  const known = [...names.map((name) => `\${${name}}`), '${env:NAME}'].join(', ');
  const advice = key.startsWith('input:')
    ? 'Rehearsal asks for no inputs: write ${env:NAME} and set that environment variable'
    : `Write $\${${key}} for the literal text`;
  return { what: `\${${key}} is not a placeholder. The placeholders are ${known}`, advice };
}
