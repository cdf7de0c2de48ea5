import { main } from '../../src/cli/main.ts';
import type { Io } from '../../src/cli/terminal/io.ts';
import { Fault, personGone } from '../../src/engine/shell/files/fault.ts';

export type Printed = { readonly code: number; readonly out: string; readonly err: string };

/** Runs the command line as a person without a terminal would. */
export async function rehearsal(...argv: readonly string[]): Promise<Printed> {
  return rehearsalWith({}, ...argv);
}

/** Runs the command line in a folder. */
export async function rehearsalIn(cwd: string, ...argv: readonly string[]): Promise<Printed> {
  return printed({ cwd, environment: {} }, argv);
}

/** Runs the command line with environment variables, such as a key. */
export async function rehearsalWith(environment: NodeJS.ProcessEnv, ...argv: readonly string[]): Promise<Printed> {
  return printed({ cwd: process.cwd(), environment }, argv);
}

/** Runs the command line until a signal aborts, as Ctrl+C does. */
export async function rehearsalUntil(signal: AbortSignal, ...argv: readonly string[]): Promise<Printed> {
  return printed({ cwd: process.cwd(), environment: {}, signal }, argv);
}

/** Runs the command line at a terminal where a person types the answers. `asked` has each question. */
export async function atTerminal(
  environment: NodeJS.ProcessEnv,
  answers: string[],
  ...argv: readonly string[]
): Promise<Printed & { readonly asked: readonly string[] }> {
  const asked: string[] = [];
  const readLine = async (prompt: string) => {
    asked.push(prompt);
    return answers.shift() ?? 'n';
  };
  const person = { terminal: true, interactive: true, readLine };
  return { ...(await printed({ cwd: process.cwd(), environment, ...person }, argv)), asked };
}

/** Runs the command line for a person who types lines, after which the input ends. `asked` has each prompt. */
export async function rehearsalTyped(
  lines: readonly string[],
  ...argv: readonly string[]
): Promise<Printed & { readonly asked: readonly string[] }> {
  const asked: string[] = [];
  const readLine = async (prompt: string) => {
    const line = lines[asked.length];
    asked.push(prompt);
    if (line === undefined) throw new Fault({ who: 'infrastructure', code: personGone, message: 'the input ended' });
    return line;
  };
  return { ...(await printed({ cwd: process.cwd(), environment: {}, interactive: true, readLine }, argv)), asked };
}

/** Runs the command line, again with `--approve` for each approval that it asks for. */
export async function rehearsalApproved(...argv: readonly string[]): Promise<Printed> {
  const hashes: string[] = [];
  for (;;) {
    const printed = await rehearsal(...argv, ...hashes.flatMap((hash) => ['--approve', hash]));
    const asked = /--approve ([0-9a-f]{64})/.exec(printed.err + printed.out)?.[1];
    if (asked === undefined) return printed;
    hashes.push(asked);
  }
}

const nobody = {
  terminal: false,
  interactive: false,
  readLine: () => Promise.reject(new Error('no person is at this terminal')),
};

async function printed(
  place: Pick<Io, 'cwd' | 'environment'> & Partial<Pick<Io, 'terminal' | 'interactive' | 'readLine' | 'signal'>>,
  argv: readonly string[],
): Promise<Printed> {
  let out = '';
  let err = '';
  const code = await main(argv, {
    out: (text) => {
      out += text;
    },
    err: (text) => {
      err += text;
    },
    signal: new AbortController().signal,
    ...nobody,
    ...place,
  });
  return { code, out, err };
}
