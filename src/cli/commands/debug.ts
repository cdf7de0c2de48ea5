import { existsSync, readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { readBoundedText } from '../../engine/shell/files/boundedFile.ts';
import { Fault, messageOf, personGone } from '../../engine/shell/files/fault.ts';
import { runsOf } from '../../engine/shell/files/workFolders.ts';
import { withDrafts } from '../../engine/shell/load/drafts.ts';
import { isRecording } from '../../engine/shell/records/recordingName.ts';
import type { TerminalOptions, TypedLine } from '../dap/terminal/session.ts';
import { type Command, type Given, refuseMore, refuseStray, text } from '../options/command.ts';
import { readSettings, setHelp, settingOptions } from '../options/modelSettings.ts';
import { requireRecording } from '../options/requireRecording.ts';
import { openDomain, readRolloutOptions, taskNamed, wholeNumber } from '../options/rolloutOptions.ts';
import { type Io, UsageError } from '../terminal/io.ts';

const settings = Object.keys(settingOptions);
const ofTask = [
  ...['agent', 'user', 'fork-agent', 'judge', 'seed', 'trial', 'basis', 'turn-cap', 'timeout', 'out', 'script'],
  ...settings,
];
const ofRecording = ['domain', 'step', 'user', 'fork-agent', 'judge', 'timeout', 'script', ...settings];

export const debug: Command = {
  name: 'debug',
  summary: 'step through a task or a recording in the terminal: break, step, back, edit, fork, why',
  help: `rehearsal debug DOMAIN TASK [options]
rehearsal debug RECORDING [options]

Rehearses a task and stops before the first message, or opens a recording. It is the debugger of the editor, with
commands: break rule ID, step, next, back, continue, reverse, edit message TEXT, fork, /why, print EXPR. Type help for
all of them. As in the editor it stops where a rule of the policy is violated, and at the reward.

  --script FILE      run the commands of a file, one a line, and end with exit code 2 when one fails; - reads them from
                     standard input. A line that begins with # is a comment
  --agent SEAT       as in run (default: the task's, else the domain's)
  --user SEAT        as in run (default: the domain's for the basis; of a recording: the one that it had)
  --fork-agent SEAT  who takes the agent's seat in a fork (default: the same, or gold where a script or a recording ends)
  --judge SEAT       as in run (default: none)
  --seed TEXT        source of every random stream (default: 1)
  --trial N          which trial of the task, from 0 (default: 0)
  --basis NAME       evaluate or train: which of the task's two bases decides the reward (default: evaluate)
  --turn-cap N       agent responses at most (default: the domain's)
${setHelp}  --timeout SECONDS  how long a model may take for one response (default: 120)
  --out FOLDER       where recordings go (default: a new folder in .rehearsal/runs of this folder, or of the domain
                     if this folder does not contain it)
  --domain FOLDER    of a recording: the domain it was made in (default: from run.json beside it)
  --step N           of a recording: the step to begin at (default: 0)
  --json             one JSON object a line: command, output, answer, stop or end

Exit codes: 0 the session ended, 2 it could not begin, a command of the script failed, or Ctrl+C.
`,
  options: {
    ...Object.fromEntries([...new Set([...ofTask, ...ofRecording])].map((name) => [name, { type: 'string' }])),
    ...settingOptions,
  },
  run: async (given, io) => {
    const isOfRecording = isRecording(given.positionals[0] ?? '');
    refuseRunFolder(given.positionals[0], io);
    refuseMore(given, isOfRecording ? 1 : 2, debug);
    refuseStray(given, isOfRecording ? ofRecording : ofTask, isOfRecording ? 'a recording' : 'a task');
    const { TerminalSession } = await import('../dap/terminal/session.ts');
    const { ownEngine } = await import('../dap/rollout/engine.ts');
    const session = isOfRecording ? recorded(given, io) : launched(given, io);
    const nextLine = nextLineOf(given, io);
    const json = given.values['json'] === true;
    const { domain, ...options } = session;
    const engine = domain ? { ...ownEngine, openDomain: () => domain } : ownEngine;
    await new TerminalSession(io, { ...options, engine, json, nextLine }).play();
    return 0;
  },
};

/** `explain` takes a run; here one of its rollouts is meant. */
function refuseRunFolder(named: string | undefined, { cwd }: Io): void {
  if (named === undefined || !existsSync(resolve(cwd, named, 'run.json'))) return;
  const example = readdirSync(resolve(cwd, named)).find(isRecording);
  const advice =
    example === undefined ? 'it has no recording yet' : `name one of its recordings: ${join(named, example)}`;
  throw new UsageError(`${named} is the folder of a run; ${advice}`);
}

/** A rollout of a task. */
function launched(given: Given, io: Io) {
  const domain = withDrafts(openDomain(io, given.positionals[0]));
  const { seed, basis, turnCap } = readRolloutOptions(given, domain, io);
  const task = taskNamed(domain, given.positionals[1], io.cwd);
  const out = text(given, 'out');
  const configuration = {
    ...shared(given),
    domain: domain.folder,
    task: task.id,
    seed,
    basis,
    agent: text(given, 'agent'),
    trial: fromZero(given, 'trial'),
    turnCap,
    ...(out === undefined ? { runs: runsOf(domain.folder, [io.cwd]) } : { run: resolve(io.cwd, out) }),
  };
  return { configuration, domain, request: 'launch' } as const;
}

/** A recording that exists. */
function recorded(given: Given, io: Io) {
  const recording = requireRecording(given.positionals[0], io);
  const folder = text(given, 'domain');
  const configuration = {
    ...shared(given),
    recording,
    step: fromZero(given, 'step'),
    ...(folder === undefined ? {} : { domain: resolve(io.cwd, folder) }),
  };
  return { configuration, domain: undefined, request: 'attach' } as const;
}

function shared(given: Given) {
  const timeout = text(given, 'timeout');
  return {
    models: readSettings(given),
    user: text(given, 'user'),
    forkAgent: text(given, 'fork-agent'),
    judge: text(given, 'judge'),
    timeout: timeout === undefined ? undefined : Number(timeout),
  };
}

/** The whole number from 0 that an option has. Throws a `UsageError` for anything else. */
function fromZero(given: Given, name: string): number | undefined {
  return text(given, name) === '0' ? 0 : wholeNumber(given, name);
}

/** Reads the commands of a script, or else a person's. Throws a `UsageError` for a script that cannot be read. */
function nextLineOf(given: Given, io: Io): TerminalOptions['nextLine'] {
  const script = text(given, 'script');
  if (script === undefined) return (prompt) => typedLine(io, prompt);
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

async function typedLine(io: Io, prompt: string): Promise<TypedLine | null> {
  try {
    return { text: await io.readLine(prompt, io.signal) };
  } catch (error) {
    if (error instanceof Fault && error.failure.code === personGone) return null;
    throw error;
  }
}
