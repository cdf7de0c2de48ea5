import { createInterface } from 'node:readline/promises';
import { parseArgs } from 'node:util';
import { Fault } from '../engine/shell/fault.ts';
import { version } from '../engine/shell/version.ts';
import type { Command } from './command.ts';
import { commands } from './commands.ts';
import { type ExitCode, type Io, UsageError } from './io.ts';

/** Parses, calls, prints, sets the exit code; nothing else. */
export async function main(argv: readonly string[], io: Io): Promise<ExitCode> {
  const [name, ...rest] = argv;
  if (name === undefined || name === '--help' || name === '-h' || name === 'help') {
    io.out(overview());
    return name === undefined ? 2 : 0;
  }
  if (name === '--version' || name === '-v') {
    io.out(`${version}\n`);
    return 0;
  }
  const command = commands.find((each) => each.name === name);
  if (!command) {
    io.err(`rehearsal: there is no command "${name}". Commands: ${commands.map((each) => each.name).join(', ')}\n`);
    return 2;
  }
  try {
    return await call(command, rest, io);
  } catch (error) {
    return report(error, command, rest, io);
  }
}

async function call(command: Command, argv: readonly string[], io: Io): Promise<ExitCode> {
  const { values, positionals } = parseArgs({
    args: [...argv],
    allowPositionals: true,
    options: { ...command.options, json: { type: 'boolean' }, help: { type: 'boolean', short: 'h' } },
  });
  if (values.help) {
    io.out(command.help);
    return 0;
  }
  return command.run({ positionals, values }, io);
}

function report(error: unknown, command: Command, argv: readonly string[], io: Io): ExitCode {
  const known =
    error instanceof UsageError ||
    error instanceof Fault ||
    (error instanceof TypeError && 'code' in error && String(error.code).startsWith('ERR_PARSE_ARGS'));
  if (!known) throw error;
  const { message } = error as Error;
  const where =
    error instanceof Fault && error.failure.file
      ? `${error.failure.file}${error.failure.line ? `:${error.failure.line}` : ''}: `
      : '';
  const text = message.startsWith(where) ? message : `${where}${message}`;
  if (argv.includes('--json'))
    io.out(
      `${JSON.stringify({ error: { code: error instanceof Fault ? error.failure.code : 'usage', message: text } })}\n`,
    );
  else io.err(`rehearsal ${command.name}: ${text}\n`);
  return 2;
}

function overview(): string {
  const rows = commands.map(({ name, summary }) => `  ${name.padEnd(8)} ${summary}`);
  return [
    'rehearsal: author, rehearse, debug and train tool-using agents',
    '',
    ...rows,
    '',
    '`rehearsal COMMAND --help` says more. Exit codes: 0 done, 1 findings, 2 could not be done.',
    '',
  ].join('\n');
}

/** The terminal this process has. */
export function processIo(): Io {
  const abort = new AbortController();
  let interrupts = 0;
  process.on('SIGINT', () => {
    interrupts += 1;
    if (interrupts > 1) process.exit(130);
    abort.abort();
  });
  process.on('SIGTERM', () => abort.abort());
  return {
    out: (text) => process.stdout.write(text),
    err: (text) => process.stderr.write(text),
    terminal: process.stdout.isTTY === true,
    cwd: process.cwd(),
    environment: process.env,
    signal: abort.signal,
    readLine: async (prompt, signal) => {
      const lines = createInterface({ input: process.stdin, output: process.stderr });
      // A question that is still open when the input ends is never settled by readline itself.
      const ended = new Promise<never>((_resolve, reject) =>
        lines.once('close', () =>
          reject(
            new Fault({
              who: 'infrastructure',
              code: 'person/gone',
              message: 'the input ended before the turn was typed; start it in a terminal, or give every turn a line',
            }),
          ),
        ),
      );
      try {
        return await Promise.race([lines.question(prompt, { signal }), ended]);
      } finally {
        lines.close();
      }
    },
  };
}
