import type { Io } from '../../src/cli/io.ts';
import { main } from '../../src/cli/main.ts';

export type Printed = { readonly code: number; readonly out: string; readonly err: string };

/** Runs the command line as a person without a terminal would. */
export async function rehearsal(...argv: readonly string[]): Promise<Printed> {
  return rehearsalWith({}, ...argv);
}

/** The same in a folder. */
export async function rehearsalIn(cwd: string, ...argv: readonly string[]): Promise<Printed> {
  return printed({ cwd, environment: {} }, argv);
}

/** The same with an environment: a key, for example. */
export async function rehearsalWith(environment: NodeJS.ProcessEnv, ...argv: readonly string[]): Promise<Printed> {
  return printed({ cwd: process.cwd(), environment }, argv);
}

async function printed(place: Pick<Io, 'cwd' | 'environment'>, argv: readonly string[]): Promise<Printed> {
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
    ...place,
    signal: new AbortController().signal,
    readLine: () => Promise.reject(new Error('nobody is at this terminal')),
  });
  return { code, out, err };
}
