import { constants } from 'node:os';
import { type ParseArgsOptionDescriptor, parseArgs } from 'node:util';
import { MaskingQuestion } from '../authoring/conversations/maskingQuestion.ts';
import { maskingLimits } from '../engine/core/text/maskingMark.ts';
import { terminalText, withoutControls } from '../engine/core/text/terminalText.ts';
import { jsonOf } from '../engine/core/values/json.ts';
import { ApprovalQuestion, approve, rememberApproval } from '../engine/shell/approvals/approvals.ts';
import { visible } from '../engine/shell/approvals/effects.ts';
import { Fault, messageOf } from '../engine/shell/files/fault.ts';
import { version } from '../engine/shell/files/version.ts';
import { allowKeys, KeyQuestion, rememberKey } from '../engine/shell/keys/keyOrigins.ts';
import { didYouMean, nearest } from '../engine/shell/source/nearest.ts';
import { commandNames, loadCommand, loadCommands } from './commands.ts';
import { type Command, commonOptions, optionsOf } from './options/command.ts';
import { fitted, optionLines } from './options/help.ts';
import { calledAs, commandInTexts } from './terminal/calledAs.ts';
import { docsPage, pageNamed } from './terminal/docsPage.ts';
import { type ExitCode, type Io, UsageError } from './terminal/io.ts';
import { lineReader } from './terminal/lineReader.ts';

/** Parses, calls, prints, sets the exit code; nothing else. */
export async function main(argv: readonly string[], io: Io): Promise<ExitCode> {
  const page = argv[0] === 'help' && !isCommand(argv[1]) ? pageNamed(argv[1] ?? '') : null;
  if (page !== null) return printPage(page, io);
  const [name, ...rest] = asOption(argv);
  if (name === undefined || name === '--help' || name === '-h') {
    io.out(fitted(overview(await loadCommands()), io.columns));
    return name === undefined ? 2 : 0;
  }
  if (name === '--version' || name === '-v') {
    io.out(`${version}\n`);
    return 0;
  }
  if (name.startsWith('-')) {
    const hint = didYouMean(
      name,
      ['--help', '--version'],
      'An option follows its command: npx rehearsal COMMAND [options]',
    );
    io.err(`rehearsal: unknown option "${name}". ${hint}\n`);
    return 2;
  }
  const command = await loadCommand(name);
  if (!command) {
    const [begun] = commandNames.filter((each) => name.startsWith(each));
    const known = begun === undefined ? [...commandNames, 'help', '--version'] : [begun];
    const hint = didYouMean(
      name,
      known,
      `Commands: ${commandNames.join(', ')}`,
      begun === undefined ? begun : name.length,
    );
    const other = Object.hasOwn(otherNames, name) ? otherNames[name] : undefined;
    io.err(`rehearsal: there is no command "${name}". ${other ?? hint}\n`);
    return 2;
  }
  try {
    return await consented(command, rest, io);
  } catch (error) {
    return report(error, command, rest, io);
  }
}

/** Returns what does the work of commands that do not exist. */
const otherNames: Readonly<Record<string, string>> = {
  play: 'To play a conversation yourself, run: npx rehearsal run DOMAIN TASK --agent human',
};

const isCommand = (name: string | undefined) => commandNames.some((each) => each === name);

/** Prints a page of the documentation, as it is in the package of npm. */
function printPage(named: string, io: Io): ExitCode {
  try {
    io.out(docsPage(named), true);
    return 0;
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    io.err(`rehearsal: ${error.message}\n`);
    return 2;
  }
}

/** `help COMMAND` as `COMMAND --help`, and `help` and `help help` as `--help`. */
function asOption(argv: readonly string[]): readonly string[] {
  const [first, ...rest] = argv;
  if (first !== 'help') return argv;
  return [...rest.filter((each) => each !== 'help'), '--help'];
}

/** Asks at a terminal for the consent that a command needs, remembers it, and starts the command again. */
async function consented(command: Command, argv: readonly string[], io: Io): Promise<ExitCode> {
  try {
    return await call(command, argv, io);
  } catch (error) {
    const asked = consentFor(error);
    if (asked === null || !io.interactive || argv.includes('--json')) throw error;
    const { question, more } = asked;
    const answer = (await io.readLine(`${question} [y/N${more ? `/${more.answer}` : ''}] `, io.signal)).trim();
    if (/^y(es)?$/i.test(answer)) asked.remember(io.environment);
    else if (more && answer.toLowerCase() === more.answer) more.remember(io.environment);
    else throw error;
    if (asked.hash !== undefined) io.err(`Approved. On another machine, approve it with --approve ${asked.hash}\n`);
    return consented(command, asked.option === undefined ? argv : [...argv, asked.option], io);
  }
}

type Consent = {
  readonly question: string;
  /** Keeps the consent for the rest of this process or longer. */
  readonly remember: (environment: NodeJS.ProcessEnv) => void;
  /** An answer that consents to more. */
  readonly more?: { readonly answer: string; readonly remember: Consent['remember'] } | undefined;
  /** The hash of an approval, for a machine where no person answers. */
  readonly hash?: string;
  /** The option that gives the consent to this one command. */
  readonly option?: '--yes';
};

/** Returns what a person can consent to, so that a command that was refused can continue; null for any other error. */
function consentFor(error: unknown): Consent | null {
  if (error instanceof KeyQuestion) {
    const { name, origin, home } = error.question;
    const belongs = home === null ? 'It was not allowed for any address yet' : `It belongs to ${home}`;
    return {
      question: `Send ${name} to ${origin}? ${belongs}.`,
      remember: (environment) => rememberKey(name, origin, environment),
    };
  }
  if (error instanceof MaskingQuestion)
    return { question: `${maskingLimits}. Import?`, remember: () => undefined, option: '--yes' };
  if (error instanceof ApprovalQuestion) {
    const { approval } = error;
    const { name, path, hash, effects, sandbox, edited } = approval;
    const list = [...effects.map((each) => `  ${each}`), ...(sandbox ? [sandbox] : [])];
    if (edited)
      list.push(
        `You are asked again when ${edited.files} changes. If you write it yourself, answer "edits": Rehearsal then stops asking, even if someone else changes the file.`,
      );
    return {
      question: `"${name}" (${visible(path)}) does this outside of the sandbox:\n${list.join('\n')}\nApprove it?`,
      hash,
      remember: (environment) => rememberApproval(approval, environment),
      more: edited
        ? {
            answer: 'edits',
            remember: (environment) => rememberApproval({ ...approval, ...edited }, environment),
          }
        : undefined,
    };
  }
  return null;
}

async function call(command: Command, argv: readonly string[], io: Io): Promise<ExitCode> {
  const options: Record<string, ParseArgsOptionDescriptor> = Object.fromEntries(
    optionsOf(command).map(({ name, type, multiple }) => [name, { type, multiple }]),
  );
  options['help'] = { type: 'boolean', short: 'h' };
  const { values, positionals } = parseArgs({ args: withNegatives(argv), allowPositionals: true, options });
  const { help, 'allow-key': keys = [], approve: hashes = [], ...own } = values;
  if (help) {
    io.out(fitted(command.help, io.columns));
    return 0;
  }
  allowKeys(keys as readonly string[], io.environment);
  approve(hashes as readonly string[], io.environment);
  return command.run(own, positionals, { ...io, typed: [command.name, ...argv] });
}

/** `--trials -1` as `--trials=-1`: a number below 0 is not an option, and what is wrong with it the command says. */
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
  const refused = refusedArguments(error, command);
  const known = error instanceof UsageError || error instanceof Fault || refused !== null;
  const message = refused ?? (known ? messageOf(error) : unexpected(error, io.environment));
  const text = error instanceof Fault ? placed(message, error.failure) : message;
  if (argv.includes('--json'))
    io.out(
      `${JSON.stringify({ error: { code: error instanceof Fault ? error.failure.code : known ? 'usage' : 'unexpected', message: text, ...inDialog(error), ...questionIn(error) } })}\n`,
    );
  else io.err(`rehearsal ${command.name}: ${text}\n`);
  return 2;
}

/** Returns a message after the place that its failure names, with the column if the message begins with it. */
function placed(message: string, { file, line }: Fault['failure']): string {
  if (!file) return message;
  const where = line ? `${file}:${line}` : file;
  if (message.startsWith(`${where}: `)) return message;
  const [begin = '', named = '', at, column = ''] = /^([^\s:]+):(\d+)(:\d+)?: /.exec(message) ?? [];
  const isSame = begin !== '' && file.endsWith(named) && Number(at) === line;
  return isSame ? `${where}${column}: ${message.slice(begin.length)}` : `${where}: ${message}`;
}

/** Returns what is wrong with the arguments; null for an error about anything else. */
function refusedArguments(error: unknown, command: Command): string | null {
  const { code, message = '' } = (error ?? {}) as NodeJS.ErrnoException;
  if (!code?.startsWith('ERR_PARSE_ARGS')) return null;
  const withoutValue = valueMissing(message, command);
  if (withoutValue !== null) return withoutValue;
  const [unknown, option] = /^Unknown option '-+(.*?)'/.exec(message) ?? [];
  if (unknown === undefined || option === undefined) return message;
  const meant = nearest(
    option,
    optionsOf(command).map(({ name }) => name),
  );
  const hint =
    positionalHint(option, command) ??
    (meant === undefined
      ? `Run \`npx rehearsal help ${command.name}\` to see its options.`
      : `Did you mean "--${meant}"?`);
  return `${unknown}. ${hint}`;
}

/** Returns how to write what is not an option: an argument of the command, or the persona of its task; null otherwise. */
function positionalHint(option: string, { usage }: Command): string | null {
  const words = usage.split(' ');
  if (words.includes(option.toUpperCase())) return `${option.toUpperCase()} is not an option: npx ${usage}`;
  if (option !== 'persona' || !words.includes('TASK')) return null;
  return `The persona follows the task: npx ${usage.replace('TASK', 'TASK@PERSONA')}`;
}

/** Returns which option has no value, as its command describes it; null for any other error. */
function valueMissing(message: string, command: Command): string | null {
  const [, named] = /^Option '--([\w-]+)(?: <value>)?' argument (?:missing|is ambiguous)/.exec(message) ?? [];
  const option = optionsOf(command).find(({ name }) => name === named);
  if (option === undefined) return null;
  const { name, value = 'VALUE', description, choices } = option;
  const isListed = choices.every((each) => description.includes(each));
  const values = isListed ? '' : `. It is one of ${choices.join(', ')}`;
  const dashed = message.includes('ambiguous') ? `. Write --${name}=${value} for a value that begins with -` : '';
  return `--${name} needs a value: --${name} ${value}, ${description}${values}${dashed}`;
}

/** Returns the message for the dialog of an editor, where it differs from that for a terminal. */
function inDialog(error: unknown): object {
  const said = error instanceof UsageError || error instanceof Fault ? error.inDialog : null;
  return said === null ? {} : { inDialog: said };
}

/** Returns what an editor has to ask a person, as it reads it. */
function questionIn(error: unknown): object {
  if (error instanceof KeyQuestion) return { key: error.question };
  return error instanceof ApprovalQuestion ? { approval: error.approval } : {};
}

/**
 * Returns the message for an unexpected error: what the operating system refused, or that it is an internal error of
 * Rehearsal.
 */
export function unexpected(error: unknown, environment: NodeJS.ProcessEnv): string {
  const { syscall, path, stack } = (error ?? {}) as NodeJS.ErrnoException;
  const [said] = messageOf(error).split('\n');
  const isAsked = Boolean(environment['REHEARSAL_TRACE']);
  const trace = isAsked ? `\n${stack ?? String(error)}` : '';
  const refused = said?.split(', ')[0];
  if (syscall !== undefined && path !== undefined)
    return `${path}: can't be used (${refused}). Check that it is there and that you may use it${trace}`;
  if (syscall === 'write') return `the output can't be written (${refused})${trace}`;
  const advice = isAsked ? trace : '; run again with REHEARSAL_TRACE=1 for the stack trace';
  return `this is an internal error of Rehearsal: ${said}${advice}`;
}

function overview(commands: readonly Command[]): string {
  const width = Math.max(...commands.map(({ name }) => name.length));
  const rows = commands.map(({ name, summary }) => `  ${name.padEnd(width)}  ${summary}`);
  return [
    'rehearsal: author, debug, evaluate and train tool-using agents',
    '',
    ...rows,
    '',
    '`npx rehearsal help COMMAND` describes a command, and `npx rehearsal help docs/overview` lists the pages of the documentation.',
    '`npx rehearsal --version` prints the version.',
    'Every command takes --json and:',
    optionLines(commonOptions).trimEnd(),
    'Exit codes: 0 done, 1 findings, 2 the command could not run. A terminal shows colors unless NO_COLOR is set.',
    '',
  ].join('\n');
}

/**
 * Returns a function that writes to a stream. A file or a program also gets texts without control characters: a log of
 * CI and a pager act on them as a terminal does. JSON is data, so it gets exactly what was recorded.
 * @param program how a person types this program, for the commands in texts
 */
export function writerTo(stream: Pick<NodeJS.WriteStream, 'isTTY' | 'write'>, program = commandInTexts): Io['out'] {
  return (text, isPage = false) => {
    const safe = (stream.isTTY ? terminalText : withoutControls)(text, true);
    const plain = isPage ? safe : safe.replaceAll(commandInTexts, program);
    const isData = plain !== text && !stream.isTTY && /^[[{]/.test(text) && jsonOf(text) !== undefined;
    stream.write(isData ? text : plain);
  };
}

/** The time that a command has to end after a signal, in milliseconds: more than servers and recordings need. */
const longestEndMs = 3000;

/** The terminal this process has. */
export function processIo(): Io {
  const abort = new AbortController();
  let endsLater = false;
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    const exit = () => process.exit(128 + constants.signals[signal]);
    process.on(signal, () => {
      if (signal === 'SIGINT' && abort.signal.aborted) exit();
      abort.abort();
      // What still waits then waits for something that may not happen. Workers and servers end with this process.
      setTimeout(() => endsLater || exit(), longestEndMs).unref();
    });
  }
  // Who read the output may go (`| head`): there is no one to tell, and what still runs ends as after Ctrl+C.
  for (const stream of [process.stdout, process.stderr])
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') throw error;
      abort.abort();
    });
  const program = calledAs(process.env);
  return {
    out: writerTo(process.stdout, program),
    err: writerTo(process.stderr, program),
    terminal: process.stdout.isTTY === true,
    columns: process.stdout.columns,
    interactive: process.stdin.isTTY === true && process.stderr.isTTY === true,
    cwd: process.cwd(),
    environment: process.env,
    signal: abort.signal,
    endLater: () => {
      endsLater = true;
    },
    readLine: lineReader(process.stdin, process.stderr),
  };
}
