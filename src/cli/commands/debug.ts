import { existsSync, readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { readBoundedText } from '../../engine/shell/files/boundedFile.ts';
import { Fault, messageOf, personGone } from '../../engine/shell/files/fault.ts';
import { runsOf } from '../../engine/shell/files/workFolders.ts';
import { withDrafts } from '../../engine/shell/load/drafts.ts';
import { isForkName, isRecording } from '../../engine/shell/records/recordingName.ts';
import { runFileName } from '../../engine/shell/records/runFiles.ts';
import type { TerminalOptions, TypedLine } from '../dap/terminal/session.ts';
import { type Command, defineCommand, refuseMore, refuseStray } from '../options/command.ts';
import { readSettings, settingOptions } from '../options/modelSettings.ts';
import { flag, fromZero, keysOf, type OptionValues, text } from '../options/option.ts';
import { meansRecording, requireRecording } from '../options/requireRecording.ts';
import {
  agentSeats,
  basis,
  openDomain,
  rateLimitWait,
  readRolloutOptions,
  runFolder,
  seed,
  taskNamed,
  timeout,
  turnCap,
  userSeats,
} from '../options/rolloutOptions.ts';
import { type Completer, type Io, UsageError } from '../terminal/io.ts';

const options = {
  script: text(
    'FILE',
    'run the commands of a file, one per line, and exit with 2 when one fails; - reads them from standard input. A line that begins with # is a comment',
  ),
  agent: text('SEAT', "as in run (default: the task's, else the domain's)", agentSeats),
  user: text('SEAT', "as in run (default: the domain's for the basis, or that of the recording)", userSeats),
  forkAgent: text(
    'SEAT',
    "who takes the agent's seat in a fork (default: the same seat, or gold after a script or a recording)",
    agentSeats,
  ),
  judge: text('SEAT', 'as in run (default: none)'),
  seed,
  trial: fromZero('N', 'which trial of the task, from 0 (default: 0)'),
  basis: basis('evaluate'),
  turnCap,
  ...settingOptions,
  timeout,
  rateLimitWait,
  out: runFolder,
  domain: text('FOLDER', 'the domain of a recording (default: from the run.json next to it)'),
  step: fromZero('N', 'the step of a recording to start at (default: 0)'),
  json: flag('one JSON object per line: command, output, answer, stop or end'),
};
type Options = OptionValues<typeof options>;

const ofBoth = ['user', 'forkAgent', 'judge', 'timeout', 'rateLimitWait', 'script', ...keysOf(settingOptions)] as const;
const ofTask = ['agent', 'seed', 'trial', 'basis', 'turnCap', 'out', ...ofBoth] as const;
const ofRecording = ['domain', 'step', ...ofBoth] as const;

export const debug: Command = defineCommand({
  name: 'debug',
  summary: 'step through a task or a recording in the terminal: break, step, back, edit, fork, why',
  usage: 'DOMAIN TASK [options]\nRECORDING [options]',
  about: `
Rehearses a task and stops before the first message, or opens a recording. It is the debugger of the editor, with
commands: break rule ID, step, next, back, continue, reverse, edit message TEXT, fork, /why, print EXPR. Type help for
all of them. As in the editor it stops where a rule of the policy is violated, and at the reward.
`,
  options,
  after:
    'Exit code 0: the session ended. 2: it could not start, a command of the script failed, or you pressed Ctrl+C.',
  run: async (options, positionals, io) => {
    const [first = ''] = positionals;
    const isOfRecording = isRecording(first) || (positionals.length === 1 && meansRecording(first, io.cwd));
    refuseRunFolder(positionals[0], io);
    refuseMore(positionals, isOfRecording ? 1 : 2, debug);
    refuseStray(options, isOfRecording ? ofRecording : ofTask, isOfRecording ? 'a recording' : 'a task');
    const { TerminalSession } = await import('../dap/terminal/session.ts');
    const { ownEngine } = await import('../dap/rollout/engine.ts');
    const { domain, ...session } = isOfRecording
      ? recorded(options, positionals, io)
      : launched(options, positionals, io);
    const nextLine = nextLineOf(options, io);
    const engine = domain ? { ...ownEngine, openDomain: () => domain } : ownEngine;
    await new TerminalSession(io, { ...session, engine, json: options.json === true, nextLine }).play();
    return 0;
  },
});

/** `explain` takes a run; here one of its rollouts is meant. */
function refuseRunFolder(named: string | undefined, { cwd }: Io): void {
  if (named === undefined || !existsSync(resolve(cwd, named, runFileName))) return;
  const recordings = readdirSync(resolve(cwd, named)).filter(isRecording);
  const example = recordings.find((each) => !isForkName(each)) ?? recordings[0];
  const advice =
    example === undefined ? 'it has no recording yet' : `name one of its recordings: ${join(named, example)}`;
  throw new UsageError(`${named} is the folder of a run; ${advice}`);
}

/** A rollout of a task. */
function launched(given: Options, [folder, named]: readonly string[], io: Io) {
  const domain = withDrafts(openDomain(io, folder));
  const { seed, basis, turnCap } = readRolloutOptions(given, domain, io);
  const task = taskNamed(domain, named, io.cwd);
  const { agent, trial, out } = given;
  const configuration = {
    ...shared(given),
    domain: domain.folder,
    task: task.id,
    seed,
    basis,
    agent,
    trial,
    turnCap,
    ...(out === undefined ? { runs: runsOf(domain.folder, [io.cwd]) } : { run: resolve(io.cwd, out) }),
  };
  return { configuration, domain, request: 'launch' } as const;
}

/** A recording that exists. */
function recorded(given: Options, [named]: readonly string[], io: Io) {
  const recording = requireRecording(named, io);
  const { domain: folder, step } = given;
  const configuration = {
    ...shared(given),
    recording,
    step,
    ...(folder === undefined ? {} : { domain: resolve(io.cwd, folder) }),
  };
  return { configuration, domain: undefined, request: 'attach' } as const;
}

function shared(given: Options) {
  const { user, forkAgent, judge, timeout, rateLimitWait } = given;
  return {
    models: readSettings(given),
    ...{ user, forkAgent, judge },
    timeout: timeout === undefined ? undefined : timeout / 1000,
    rateLimitWait: rateLimitWait === undefined ? undefined : rateLimitWait / 1000,
  };
}

/** Reads the commands of a script, or else a person's. Throws a `UsageError` for a script that cannot be read. */
function nextLineOf({ script }: Options, io: Io): TerminalOptions['nextLine'] {
  if (script === undefined) return (prompt, complete) => typedLine(io, prompt, complete);
  let number = 0;
  if (script === '-')
    return async () => {
      const line = await typedLine(io, '');
      number += 1;
      return line && { ...line, at: `standard input:${number}` };
    };
  const lines = scriptText(resolve(io.cwd, script), script).split(/\r?\n/);
  return async () => {
    const line = lines.shift();
    number += 1;
    return line === undefined ? null : { text: line, at: `${script}:${number}` };
  };
}

function scriptText(path: string, name: string): string {
  try {
    return readBoundedText(path);
  } catch (error) {
    const reason = (error as NodeJS.ErrnoException).code === 'ENOENT' ? 'there is no such file' : messageOf(error);
    throw new UsageError(
      `the script ${name} cannot be read: ${reason}. Name a file with a command on each line, or - for standard input`,
    );
  }
}

async function typedLine(io: Io, prompt: string, complete?: Completer): Promise<TypedLine | null> {
  try {
    return { text: await io.readLine(prompt, io.signal, complete) };
  } catch (error) {
    if (error instanceof Fault && error.failure.code === personGone) return null;
    throw error;
  }
}
