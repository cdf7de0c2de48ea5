import { spawn } from 'node:child_process';
import { basename } from 'node:path';
import { createInterface } from 'node:readline';
import * as vscode from 'vscode';
import { counted } from '../../engine/core/text/counted.ts';
import { withoutLinks } from '../../engine/core/text/withoutLinks.ts';
import type { Approval } from '../../engine/shell/approvals/approvals.ts';
import { withoutKeys } from '../../engine/shell/processes/childEnvironment.ts';
import type { Answered } from './activity.ts';
import { askForApproval } from './approval.ts';
import { type Context, commandLineOf } from './context.ts';
import { editorWords } from './editorWords.ts';
import { askForKey, type KeyQuestion } from './keyConsent.ts';
import { beginRunning, type RunningHandle } from './running.ts';
import { tell } from './tell.ts';

/** The result of running a command of the command line. */
export type CommandEnd = {
  /** Its exit code; null if it was killed or could not be started. */
  readonly code: number | null;
  /** The output with --json: the last line of its output; empty if that is not an object. */
  readonly answer: Readonly<Record<string, unknown>>;
  /** The error message of the command, as for a dialog; undefined if it printed none. */
  readonly message: string | undefined;
  /** Whether the user stopped it in the status bar; finished work is kept. */
  readonly isStopped: boolean;
  /** Whether the caller cancelled it. */
  readonly isCancelled: boolean;
};

/**
 * Runs a command of the command line beside the editor. What it tells goes to the log and to the progress.
 * @param more `onLine` receives each line of its output as it comes; `cwd` is the folder that it works in
 */
export async function runCommand(
  context: Context,
  args: readonly string[],
  progress: vscode.Progress<{ message?: string }>,
  token: vscode.CancellationToken,
  { onLine, cwd }: { readonly onLine?: ((line: string) => void) | undefined; readonly cwd?: string } = {},
): Promise<CommandEnd> {
  const everything = { ...process.env, ...(await context.environment()) };
  const child = spawn(process.execPath, [...commandLineOf(context), ...args], {
    ...(cwd === undefined ? {} : { cwd }),
    env: withoutKeys(isKeyless(args) ? [] : Object.keys(everything), everything),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let isStopped = false;
  const handle = runningOf(args, () => {
    isStopped = true;
    child.kill('SIGTERM');
  });
  // What only reads has nothing to keep, and need not come to its own end.
  const signal = args[0] === 'compare' ? 'SIGKILL' : 'SIGTERM';
  const cancelled = token.onCancellationRequested(() => child.kill(signal));
  const readStream = handle && streamReader(handle);
  let last = '';
  let lastWords: string | undefined;
  createInterface({ input: child.stdout }).on('line', (line) => {
    if (line === '') return;
    last = line;
    readStream?.(line);
    onLine?.(line);
  });
  createInterface({ input: child.stderr }).on('line', (line) => {
    context.log.info(line);
    lastWords = line;
    const shown = editorWords(line);
    progress.report({ message: withoutLinks(shown) });
    handle?.say(shown);
  });
  const code = await new Promise<number | null>((resolve) => {
    child.once('close', resolve);
    child.once('error', ({ message }) => {
      lastWords = message;
      resolve(null);
    });
  });
  handle?.end();
  cancelled.dispose();
  const answer = answerIn(last);
  const { message, inDialog, key, approval } = (answer['error'] ?? {}) as Refusal;
  const isOver = isStopped || token.isCancellationRequested;
  if (!isOver && ((key && (await askForKey(context, key))) || (approval && (await askForApproval(approval)))))
    return runCommand(context, args, progress, token, { onLine, ...(cwd === undefined ? {} : { cwd }) });
  const said = inDialog ?? message ?? lastWords;
  return {
    code,
    answer,
    message: said === undefined ? undefined : editorWords(said),
    isStopped,
    isCancelled: token.isCancellationRequested,
  };
}

/** Commands that ask no model and start no server. The others hand each key only to what names it. */
const keyless = new Set(['compare', 'coverage', 'personas', 'report', 'verify']);

function isKeyless(args: readonly string[]): boolean {
  return keyless.has(args[0] ?? '') || args.includes('--static');
}

/** The answer of a command that failed, and the key or approval for which it needs a person's consent. */
type Refusal = {
  readonly message?: string;
  readonly inDialog?: string;
  readonly key?: KeyQuestion;
  readonly approval?: Approval;
};

/** Runs a command without showing progress; without a token it cannot be cancelled. */
export function runQuietly(
  context: Context,
  args: readonly string[],
  { token, onLine }: { readonly token?: vscode.CancellationToken; readonly onLine?: (line: string) => void } = {},
): Promise<CommandEnd> {
  const heeded = token ?? new vscode.CancellationTokenSource().token;
  return runCommand(context, args, { report: () => undefined }, heeded, { onLine });
}

/** Runs a command with --json, with its progress and a way to cancel it in a notification. */
export async function runWithProgress(
  context: Context,
  title: string,
  args: readonly string[],
  place: { readonly cwd?: string } = {},
): Promise<CommandEnd> {
  const location = vscode.ProgressLocation.Notification;
  const options = { location, title: withoutLinks(title), cancellable: true };
  return vscode.window.withProgress(options, (progress, token) =>
    runCommand(context, [...args, '--json'], progress, token, place),
  );
}

/**
 * Runs a command with progress, and shows its error.
 * @param loss what did not happen where it failed, such as "Nothing was drafted"
 * @returns undefined if it was cancelled or failed
 */
export async function runOrTell(
  context: Context,
  title: string,
  args: readonly string[],
  loss?: string,
): Promise<CommandEnd | undefined> {
  const end = await runWithProgress(context, title, args);
  if (end.isCancelled) return undefined;
  if (isDone(end)) return end;
  void tell(context, 'error', lossMessage(loss, failureMessage(end, title)));
  return undefined;
}

/** Messages of usage begin with a small letter, and errors of a domain are sentences. */
function lossMessage(loss: string | undefined, why: string): string {
  if (loss === undefined) return why;
  return /^[A-Z]/.test(why) ? `${loss}, because of an error: ${why}` : `${loss}, because ${why}`;
}

/**
 * Returns what a command answered. Throws its words where it could not be done.
 * @param what has ended, where it has said nothing, for example "the check"
 * @param good its exit codes that come with an answer
 */
export function answerOf(end: CommandEnd, what: string, good?: readonly number[]): CommandEnd['answer'] {
  if (!isDone(end, good)) throw new Error(failureMessage(end, what));
  return end.answer;
}

/** Returns what `check` answered, also where it exited with 2 because the code of the domain is not approved. */
export function checkAnswer(end: CommandEnd): CommandEnd['answer'] {
  return answerOf(end, 'the check', 'diagnostics' in end.answer ? [0, 1, 2] : undefined);
}

/** Why there is no answer: the words of the command, or where there may be more of them. */
export function failureMessage({ message }: CommandEnd, what: string): string {
  return message ?? `${what} exited without output. See the log for details.`;
}

function isDone({ code }: CommandEnd, good: readonly number[] = [0, 1]): boolean {
  return code !== null && good.includes(code);
}

/** Commands that play rollouts are shown as running until they end; a stop lets them keep finished work. */
function runningOf([command, domain = '']: readonly string[], stop: () => unknown): RunningHandle | undefined {
  if (command === 'synth' && domain !== 'preview' && domain !== 'export') {
    const show = () => vscode.commands.executeCommand('rehearsal.log.show');
    return beginRunning({ type: 'synthesis', title: basename(domain) }, { stop, open: show });
  }
  if (command === 'experiment') {
    const show = () => vscode.commands.executeCommand('rehearsal.training.dashboard');
    return beginRunning({ type: 'experiment', title: basename(domain) }, { stop, open: show });
  }
  if (command !== 'eval' && command !== 'run') return undefined;
  const open = () => vscode.commands.executeCommand('rehearsal.runs.focus');
  return beginRunning({ type: command === 'eval' ? 'evaluation' : 'rollout', title: basename(domain) }, { stop, open });
}

/** Reads from the lines of `--stream` how far it is, and what its models have used. */
function streamReader(handle: RunningHandle): (line: string) => void {
  let finished = 0;
  return (line) => {
    if (line.startsWith('{"type":"modelAnswered"')) handle.answered(JSON.parse(line) as Answered);
    if (!line.startsWith('{"type":"rolloutFinished"')) return;
    finished += 1;
    handle.say(`${counted(finished, 'rollout')} finished`);
  };
}

/** The object on the last line; none where the command was ended before it had printed it. */
function answerIn(line: string): Readonly<Record<string, unknown>> {
  try {
    return line.startsWith('{') ? JSON.parse(line) : {};
  } catch {
    return {};
  }
}
