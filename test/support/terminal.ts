import { main } from '../../src/cli/main.ts';

export type Printed = { readonly code: number; readonly out: string; readonly err: string };

/** Runs the command line as a person without a terminal would. */
export async function rehearsal(...argv: readonly string[]): Promise<Printed> {
  return rehearsalWith({}, ...argv);
}

/** The same with an environment: a key, for example. */
export async function rehearsalWith(environment: NodeJS.ProcessEnv, ...argv: readonly string[]): Promise<Printed> {
  let out = '';
  let err = '';
  const code = await main(argv, {
    out: (text) => {
      out += text;
    },
    err: (text) => {
      err += text;
    },
    terminal: false,
    cwd: process.cwd(),
    environment,
    signal: new AbortController().signal,
    readLine: () => Promise.reject(new Error('nobody is at this terminal')),
  });
  return { code, out, err };
}
