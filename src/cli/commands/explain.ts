import { existsSync, statSync } from 'node:fs';
import { basename, relative, resolve } from 'node:path';
import { lapseText } from '../../engine/core/events/reportCard.ts';
import { counted, trialsText } from '../../engine/core/text/counted.ts';
import { domainBeside } from '../../engine/shell/domain/domainBeside.ts';
import type { LoadedDomain } from '../../engine/shell/domain/loadDomain.ts';
import { reasonInWords } from '../../engine/shell/domain/reasonInWords.ts';
import { isRecording, recordingEnding } from '../../engine/shell/records/recordingName.ts';
import { eventsOf, type FinishedRollout } from '../../engine/shell/records/runRecord.ts';
import { Debuggee } from '../dap/rollout/debuggee.ts';
import { headlineOf } from '../dap/variables/explanation.ts';
import { type ChainLine, chainOf } from '../dap/variables/why.ts';
import { type Command, defineCommand } from '../options/command.ts';
import { openRunRecord } from '../options/openRunRecord.ts';
import { json, type OptionValues, text } from '../options/option.ts';
import { recordingsBeside, requireRecording } from '../options/requireRecording.ts';
import { openDomain, unknownDomain } from '../options/rolloutOptions.ts';
import { failedTasksOf, scoredFailuresOf } from '../report/failures.ts';
import { goldLines } from '../report/goldLines.ts';
import { findError } from '../report/nextRun.ts';
import { notRunLines, tasksNotRun } from '../report/notRun.ts';
import { type ExitCode, type Io, UsageError } from '../terminal/io.ts';

const options = { domain: text('FOLDER', 'the domain that it was recorded in (default: from run.json)'), json };
type Options = OptionValues<typeof options>;

export const explain: Command = defineCommand({
  name: 'explain',
  takes: 1,
  summary:
    'explain the reward of a rollout, or of each failed task of a run: verdicts, evidence, the text of the policy',
  usage: 'RUN_FOLDER|RECORDING [--domain FOLDER]',
  about: `
Prints the evidence behind a reward, as /why does in the debugger: the verdict of every verifier, the text of each
violated rule, the relevant steps, how the database differs from the result of the gold actions, and the lines of the
domain's files that require it. For a run, it explains the first failed trial of each failed task, and lists the rules
that rollouts with the reward 1 violated. It asks no model. It executes the gold actions in a worker.
`,
  options,
  after:
    'Exit code 0: the rewards were explained, whatever they are. 1: a recording was changed, is cut off or is missing. 2: it could not be explained.',
  run: (options, [named = ''], io) => {
    if (named === '')
      throw new UsageError(`name a run's folder, or a recording (a file that ends in ${recordingEnding})`);
    const isFolder = named !== '' && statSync(resolve(io.cwd, named), { throwIfNoEntry: false })?.isDirectory();
    return isFolder ? explainRun(named, options, io) : explainRecording(named, options, io);
  },
});

type Explanation = {
  readonly recording: string;
  readonly reward: number | null;
  readonly headline: readonly string[];
  readonly chain: readonly ChainLine[];
  /** The domain's folder, if its own error is why there is no reward. */
  readonly brokenDomain?: string;
};

async function explainRecording(named: string, options: Options, io: Io): Promise<ExitCode> {
  if (!isRecording(named) && !existsSync(resolve(io.cwd, named)))
    throw new UsageError(
      `${named}: there is no such run folder or recording (a file that ends in ${recordingEnding})${recordingsBeside(named, io.cwd)}`,
    );
  const recording = requireRecording(named, io);
  const warn = (text: string) => io.err(`warning: ${text}\n`);
  const { isDamaged, ...explanation } = await explanationOf(recording, domainOf(recording, options, io), warn);
  io.out(options.json ? `${JSON.stringify(explanation)}\n` : textOf(explanation, io));
  return isDamaged ? 1 : 0;
}

async function explainRun(named: string, options: Options, io: Io): Promise<ExitCode> {
  const record = openRunRecord(io, named);
  const { folder, rollouts, unfinished, notRun, problems } = record;
  for (const problem of problems) io.err(`left out: ${problem}\n`);
  const failed = failedTasksOf(rollouts);
  const explained: object[] = [];
  let areDamaged = problems.length > 0;
  let domain: LoadedDomain | null = null;
  for (const [task, trials] of failed) {
    if (io.signal.aborted) throw new UsageError('cancelled: not every failed task was explained');
    const [first] = trials;
    const recording = resolve(folder, basename(first?.recording ?? ''));
    domain ??= domainOf(recording, options, io);
    const warn = (text: string) => io.err(`warning: ${text}\n`);
    const { isDamaged, ...explanation } = await explanationOf(recording, domain, warn);
    areDamaged ||= isDamaged;
    explained.push({ task, trials: trials.map(({ trial }) => trial), ...explanation });
    if (!options.json) io.out(`${titleOf(task, trials, relative(io.cwd, recording))}\n${textOf(explanation, io)}\n`);
  }
  const passed = rollouts.filter(
    ({ reward, violations, lapses }) => reward === 1 && violations.length + lapses.length > 0,
  );
  if (passed[0]) domain ??= domainOf(passed[0].recording, options, io);
  const violated = passed.map((rollout) => ({
    task: rollout.task,
    trial: rollout.trial,
    recording: rollout.recording,
    violated: domain === null ? [] : ungatedOf(rollout, domain),
  }));
  if (!options.json) for (const each of violated) io.out(passedText(each, io));
  // The explanation of a rollout without a reward names its gold action that failed.
  const warned = rollouts.filter(({ warning, reward }) => warning !== null && reward !== null);
  if (warned[0]) {
    domain ??= domainOf(warned[0].recording, options, io);
    for (const line of goldLines(warned, domain, io.cwd)) io.err(`${line}\n`);
  }
  const missing = tasksNotRun(record).size;
  const tasks = new Set(rollouts.map(({ task }) => task)).size + missing;
  if (options.json)
    io.out(`${JSON.stringify({ folder, tasks, unfinished, notRun, problems, failed: explained, passed: violated })}\n`);
  else {
    for (const line of notRunLines(record)) io.out(`${line}\n`);
    const open = unfinished.length > 0 ? `; ${counted(unfinished.length, 'rollout')} unfinished` : '';
    const rest = missing > 0 ? `, ${missing} not run` : '';
    const left = problems.length > 0 ? `; ${counted(problems.length, 'rollout')} left out` : '';
    const wrong = scoredFailuresOf(rollouts).size;
    const unscored = failed.size > wrong ? `, ${failed.size - wrong} without a reward` : '';
    io.out(`${wrong} of ${counted(tasks, 'task')} failed${unscored}${rest}${open}${left}\n`);
  }
  return areDamaged ? 1 : 0;
}

function titleOf(task: string, [first, ...more]: readonly FinishedRollout[], recording: string): string {
  const others = more.length === 0 ? '' : ` (failed in ${trialsText(more.map(({ trial }) => trial))} as well)`;
  return `${task}, trial ${first?.trial}${others}: ${recording}`;
}

/** Returns what a rollout with the reward 1 did against rules without a gate, and its lapses. */
function ungatedOf({ recording, lapses }: FinishedRollout, domain: LoadedDomain): readonly string[] {
  const rules = eventsOf(recording).flatMap((event, step) =>
    event.type === 'rulesChecked'
      ? event.verdicts.flatMap(({ rule, verdict, reason }) => {
          if (verdict !== 'violated') return [];
          const { text, quote } = reasonInWords(domain, rule, reason);
          return [`rule ${rule} at step ${step}: ${text}${quote}`];
        })
      : [],
  );
  return [...rules, ...lapses.map(lapseText)];
}

function passedText(
  { task, trial, recording, violated }: { task: string; trial: number; recording: string; violated: readonly string[] },
  { cwd }: Io,
): string {
  const lines = violated.map((each) => `  violated  ${each}`);
  return `${task}, trial ${trial}: ${relative(cwd, recording)}\nREWARD 1, although not everything held\n${lines.join('\n')}\n\n`;
}

/** The domain that a recording was made in. Throws a `UsageError` where neither an option nor a run names it. */
function domainOf(recording: string, options: Options, io: Io): LoadedDomain {
  const folder = options.domain ?? domainBeside(recording);
  if (folder === undefined) throw unknownDomain(recording, 'Name its folder with --domain FOLDER');
  return openDomain(io, folder);
}

/** @param warn receives what is wrong with the recording, such as a line that was changed after it was written */
async function explanationOf(
  recording: string,
  loaded: LoadedDomain,
  warn: (text: string) => void,
): Promise<Explanation & { readonly isDamaged: boolean }> {
  const gold = { type: 'gold' } as const;
  const debuggee = new Debuggee({
    domain: loaded,
    agent: gold,
    user: { type: 'agenda' },
    forkAgent: gold,
    readKey: () => undefined,
    askPerson: () => Promise.reject(new Error('no person is asked')),
    log: warn,
  });
  try {
    const problems = debuggee.attach(recording, Number.POSITIVE_INFINITY);
    const { steps, task, domain } = debuggee;
    const state = steps.at(-1)?.state;
    if (!state) throw new UsageError(`${recording}: it has no step that can be shown`);
    const chain = chainOf({ domain, task, steps, gold: await debuggee.gold() });
    const reward = state.reward?.value ?? null;
    const last = steps.at(-1)?.event;
    const isBroken = last?.type === 'rewarded' && reward === null && last.failedBy === 'environment';
    const broken = isBroken ? { brokenDomain: loaded.folder } : {};
    return { recording, reward, headline: headlineOf(state, domain), chain, ...broken, isDamaged: problems.length > 0 };
  } finally {
    await debuggee.close();
  }
}

function textOf({ headline, chain, brokenDomain }: Explanation, io: Io): string {
  const place = ({ at }: ChainLine) => (at === undefined ? '' : `   (${relative(io.cwd, at.file)}:${at.line})`);
  const next = brokenDomain === undefined ? [] : [`  ${findError(brokenDomain, io)}`];
  return `${[...headline, ...chain.map((line) => `${line.text}${place(line)}`), ...next].join('\n')}\n`;
}
