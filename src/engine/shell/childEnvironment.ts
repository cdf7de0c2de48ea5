/** Environment variables that a program needs to start at all; everything else must be declared. */
const passedOn = ['PATH', 'HOME', 'TMPDIR', 'TEMP', 'SYSTEMROOT', 'APPDATA', 'LOCALAPPDATA'] as const;

/** What a child process gets of this one's environment. No key is among it. */
export function childEnvironment(environment: NodeJS.ProcessEnv = process.env): Record<string, string> {
  return Object.fromEntries(
    passedOn.flatMap((key) => (environment[key] === undefined ? [] : [[key, environment[key]]])),
  ) as Record<string, string>;
}
