import { createInterface } from 'node:readline/promises';
import { parseArgs } from 'node:util';
import { Fault, messageOf, personGone } from '../engine/shell/fault.ts';
import { version } from '../engine/shell/version.ts';
import { type Command, refuseMore } from './command.ts';
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
    args: withNegatives(argv),
    allowPositionals: true,
    options: { ...command.options, json: { type: 'boolean' }, help: { type: 'boolean', short: 'h' } },
  });
  if (values.help) {
    io.out(command.help);
    return 0;
  }
  const given = { positionals, values };
  if (command.takes !== undefined) refuseMore(given, command.takes, command);
  return command.run(given, io);
}

/** `--trials -1` as `--trials=-1`: a number below 0 is no option, and what is wrong with it the command says. */
function withNegatives(argv: readonly string[]): string[] {
  const args: string[] = [];
  for (const each of argv) {
    const option = args.at(-1) ?? '';
    if (/^-\d/.test(each) && /^--[^=]+$/.test(option)) args.splice(-1, 1, `${option}=${each}`);
    else args.push(each);
  }
  return args;
}

function report(error: unknown, command: Command, argv: readonly string[], io: Io): ExitCode {
  const known =
    error instanceof UsageError ||
    error instanceof Fault ||
    (error instanceof TypeError && 'code' in error && String(error.code).startsWith('ERR_PARSE_ARGS'));
  const { message } = known ? (error as Error) : { message: unexpected(error, io.environment) };
  const where =
    error instanceof Fault && error.failure.file
      ? `${error.failure.file}${error.failure.line ? `:${error.failure.line}` : ''}: `
      : '';
  const text = message.startsWith(where) ? message : `${where}${message}`;
  if (argv.includes('--json'))
    io.out(
      `${JSON.stringify({ error: { code: error instanceof Fault ? error.failure.code : known ? 'usage' : 'unexpected', message: text } })}\n`,
    );
  else io.err(`rehearsal ${command.name}: ${text}\n`);
  return 2;
}

/** What is said of an error that nobody foresaw: what the machine refused, or that it is a fault of Rehearsal. */
export function unexpected(error: unknown, environment: NodeJS.ProcessEnv): string {
  const { syscall, path, stack } = (error ?? {}) as NodeJS.ErrnoException;
  const [said] = messageOf(error).split('\n');
  const isAsked = Boolean(environment['REHEARSAL_TRACE']);
  const trace = isAsked ? `\n${stack ?? String(error)}` : '';
  const refused = said?.split(', ')[0];
  if (syscall !== undefined && path !== undefined)
    return `${path}: can't be used (${refused}). Check that it is there and that you may use it${trace}`;
  if (syscall === 'write') return `the output can't be written (${refused})${trace}`;
  const advice = isAsked ? trace : '; run again with REHEARSAL_TRACE=1 for where';
  return `this is a fault of Rehearsal: ${said}${advice}`;
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
  // Who read the output may go (`| head`): there is nobody to tell, and what still runs ends as after Ctrl+C.
  for (const stream of [process.stdout, process.stderr])
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') throw error;
      abort.abort();
    });
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
              code: personGone,
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
