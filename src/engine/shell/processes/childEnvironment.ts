/** Environment variables that a program needs to start at all; everything else must be declared. */
const passedOn = [
  ...['PATH', 'HOME', 'TMPDIR', 'TEMP', 'SYSTEMROOT', 'APPDATA', 'LOCALAPPDATA'],
  // They name files of certificates. Behind a proxy that opens TLS, npx and uvx download nothing without them.
  ...['NODE_EXTRA_CA_CERTS', 'SSL_CERT_FILE', 'SSL_CERT_DIR', 'REQUESTS_CA_BUNDLE'],
];

/**
 * Environment variable with the origins that a person allowed: `NAME=ORIGIN`, separated by spaces. Where it is set,
 * only these and the provider's own origin get a key.
 */
export const allowedKeys = 'REHEARSAL_KEY_ORIGINS';

/** The end of the name of a variable that holds a key, a token or a password. */
export const keyName = /(^|_)(API_?KEY|ACCESS_KEY(_ID)?|PRIVATE_KEY|KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS)$/i;

/**
 * Returns this process's environment without keys. Every process that Rehearsal starts gets it, or the shorter one of
 * `childEnvironment`.
 * @param needed names of the keys that the process needs
 */
export function withoutKeys(
  needed: readonly string[] = [],
  environment: NodeJS.ProcessEnv = process.env,
): NodeJS.ProcessEnv {
  // A key may have any name once a person has allowed an origin for it.
  const bound = (environment[allowedKeys] ?? '').split(' ').map((each) => each.split('=')[0]);
  const isKey = (name: string) => keyName.test(name) || bound.includes(name);
  return Object.fromEntries(Object.entries(environment).filter(([name]) => needed.includes(name) || !isKey(name)));
}

/** Returns what a child process gets of this one's environment. No key is among it. */
export function childEnvironment(environment: NodeJS.ProcessEnv = process.env): Record<string, string> {
  return Object.fromEntries(
    passedOn.flatMap((key) => (environment[key] === undefined ? [] : [[key, environment[key]]])),
  ) as Record<string, string>;
}

/** The variables with which the program of this process runs a script as Node does, also where it is an editor. */
export const asNode: Readonly<Record<string, string>> = process.versions['electron']
  ? { ELECTRON_RUN_AS_NODE: '1' }
  : {};
