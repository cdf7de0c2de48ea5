import { type KeyUse, throwUnlessAllowed } from './keyOrigins.ts';
import { keptSecret, without } from './secrets.ts';

export type Filled = {
  /**
   * The text with its placeholders replaced. Throws when an environment variable is not set, and a `Fault` where it may
   * not be sent.
   * @param sent where the text is sent, and who says so
   */
  readonly fill: (text: string, sent?: Omit<KeyUse, 'name'>) => string;
  /** The text without any value that `fill` took from the environment. */
  readonly redact: (text: string) => string;
  /** Names of the environment variables that were filled in. */
  readonly variables: () => readonly string[];
};

/**
 * Fills `${name}` with given values and `${env:NAME}` with environment variables. What came from the environment
 * counts as a secret.
 * @param missing makes the error for a variable that is not set
 */
export function fillPlaceholders(
  values: Readonly<Record<string, string>>,
  environment: NodeJS.ProcessEnv,
  missing: (name: string) => Error,
): Filled {
  const secrets = new Map<string, string>();
  const fill: Filled['fill'] = (text, sent) =>
    text.replace(/\$\{(env:)?([A-Za-z_]\w*)\}/g, (whole, isVariable: string | undefined, name: string) => {
      if (!isVariable) return values[name] ?? whole;
      const value = environment[name];
      if (value === undefined || value === '') throw missing(name);
      if (sent) throwUnlessAllowed({ name, ...sent }, environment);
      secrets.set(name, value);
      return keptSecret(name, value);
    });
  const redact = (text: string) =>
    without(
      [...secrets].map(([name, value]) => [value, name]),
      text,
    );
  return { fill, redact, variables: () => [...secrets.keys()] };
}
