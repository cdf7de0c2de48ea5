import { availableParallelism } from 'node:os';
import { basename, relative, resolve } from 'node:path';
import { hostedName } from '../../engine/core/domain/domain.ts';
import { modelOf, type SeatSpec, seatName } from '../../engine/core/domain/seatSpec.ts';
import type { Task } from '../../engine/core/domain/task.ts';
import { taskIn, variantId } from '../../engine/core/domain/taskVariant.ts';
import {
  gateMetrics,
  heldThresholds,
  isUndecided,
  missedThresholds,
  parseGate,
  type Threshold,
} from '../../engine/core/evaluation/gate.ts';
import { metricsOf, type Prices } from '../../engine/core/evaluation/metrics.ts';
import { counted } from '../../engine/core/text/counted.ts';
import { nameMatches } from '../../engine/core/text/literal.ts';
import { sum } from '../../engine/core/values/statistics.ts';
import type { LoadedDomain } from '../../engine/shell/domain/loadDomain.ts';
import { isPure } from '../../engine/shell/externalSeats.ts';
import { type Diagnostic, formatDiagnostic, unfitness } from '../../engine/shell/files/diagnostic.ts';
import { runsOf } from '../../engine/shell/files/workFolders.ts';
import { draftsOf } from '../../engine/shell/load/drafts.ts';
import { fitnessOf } from '../../engine/shell/load/fitness.ts';
import { signingKey } from '../../engine/shell/records/ledger.ts';
import { type NotRun, readNotRun, writeNotRun } from '../../engine/shell/records/notRun.ts';
import { rolloutName } from '../../engine/shell/records/recordingName.ts';
import { plannedTrials, readRunFile } from '../../engine/shell/records/runFile.ts';
import { runSubject } from '../../engine/shell/records/runName.ts';
import { type RunRecord, readRun } from '../../engine/shell/records/runRecord.ts';
import {
  type BatchOptions,
  expectToGoOn,
  finalRollouts,
  runBatch,
  simulatorsOf,
  type TrialResult,
} from '../../engine/shell/runs/batch.ts';
import type { Meter } from '../../engine/shell/runs/meter.ts';
import { suggestion } from '../../engine/shell/source/nearest.ts';
import { openSupervisor } from '../../engine/shell/supervisor.ts';
import { withCheckpoint } from '../checkpoints/servedModel.ts';
import { askAtTerminal } from '../dap/terminal/askAtTerminal.ts';
import { budgetOptions, meterOf, pricesOf, spentText } from '../options/budget.ts';
import { type Command, defineCommand } from '../options/command.ts';
import { flag, json, type OptionValues, oneOf, text, wholeNumber } from '../options/option.ts';
import { inRunFolder } from '../options/outFolder.ts';
import {
  idsInFile,
  openDomain,
  readRolloutOptions,
  requireScripts,
  rolloutOptions,
  tasksOf,
  throwIfTooMany,
} from '../options/rolloutOptions.ts';
import { unreadTasks } from '../options/unreadTasks.ts';
import { nextRun, type RunPlace } from '../report/nextRun.ts';
import { notRunLines } from '../report/notRun.ts';
import { reportText } from '../report/text.ts';
import { type ExitCode, type Io, progress, UsageError } from '../terminal/io.ts';
import { modelWait } from '../terminal/modelWait.ts';
import { runLines } from '../terminal/runLines.ts';
import { shellWord } from '../terminal/shellWord.ts';
import { statusLine } from '../terminal/statusLine.ts';
import { failureText } from '../terminal/transcript.ts';

const options = {
  split: oneOf('NAME', 'train or test (default: both)', ['train', 'test']),
  tasks: text(
    'A,B*',
    'only these tasks, by id or by the path of a task file in the current folder or the domain; * matches any characters',
  ),
  persona: text('A,B', 'only tasks of these personas'),
  under: text(
    'A,B*',
    "run them under these personas, whose behaviors and attacks are applied on top of those of the task's persona. Tasks are then named TASK@PERSONA",
  ),
  uses: text('TOOL', 'only tasks whose gold actions call this tool'),
  trials: wholeNumber('K', 'trials of each task (default: those of the run that is resumed, else 1)'),
  concurrency: wholeNumber('N', 'rollouts to run at the same time (default: 16)'),
  retryUnscored: wholeNumber('N', 'rerun rollouts that ended without a reward, up to N times (default: 0)'),
  ...budgetOptions,
  gate: text(
    'LIST',
    `exit with 1 if the run misses a threshold, such as "reward>=0.8,pass^4>=0.5"; about ${gateMetrics.join(', ')}`,
  ),
  ...rolloutOptions('`agent:` of domain.yaml; --task-agents uses those of tasks'),
  taskAgents: flag('use the `agent:` that a task names, as run does'),
  json,
  stream: flag(
    'with --json: before the result, print a JSON line when a rollout starts, continues and ends, and the tokens and cost of each model answer',
  ),
};
type Options = OptionValues<typeof options>;

export const evaluate: Command = defineCommand({
  name: 'eval',
  takes: 1,
  summary: 'run many tasks, several trials each, and report success',
  usage: 'DOMAIN [options]',
  about: `
Runs k trials of every task and reports the metrics of the run. With --out of an interrupted run, it runs the rollouts that
are left and those that an infrastructure failure ended. It does not repeat scored rollouts.
`,
  options,
  after: `
Exit code 0: done. 1: a threshold of the gate was missed. 2: cancelled, out of budget, or incomplete: a planned rollout is
not finished or has no reward, for example because a model is unreachable, a task or its persona has errors, or a gold
action failed. The other tasks still run. A gate about scored alone, such as "scored>=0.9", decides about unscored
rollouts itself.
`,
  run: async (options, [folder], io) => {
    const domain = openDomain(io, folder);
    return withCheckpoint(options.agent, domain.file.dialect, io, (own) => evaluateDomain(domain, options, own));
  },
});

async function evaluateDomain(domain: LoadedDomain, given: Options, io: Io): Promise<ExitCode> {
  const plan = planOf(given, io, domain);
  const subject = runSubject(
    plan.tasks.map(({ id }) => id),
    domain.file.name,
  );
  return inRunFolder(io, given.out, runsOf(domain.folder, [io.cwd]), subject, (folder) =>
    evaluateIn(domain, { ...plan, folder }, given, io),
  );
}

async function evaluateIn(domain: LoadedDomain, plan: Plan, given: Options, io: Io): Promise<ExitCode> {
  expectToGoOn(plan.folder, domain, plan);
  const { ofTask } = fitnessOf(domain);
  const fit = plan.tasks.filter((task) => ofTask(task).length === 0);
  requireScripts(fit, plan);
  const results = await rollOut(plan, given, io, domain);
  const crashed = results.filter((result) => result.crashed);
  writeNotRun(plan.folder, notRunOf(domain, plan, crashed));
  const record = readRun(plan.folder);
  if (typeof record === 'string') throw new Error(`the run that was just made can't be read: ${record}`);
  const code = conclude(domain, record, crashed, plan, given, io);
  const said = lostIn(record, crashed)[0]?.failure?.message;
  const notRun = record.notRun.filter(({ reason }) => reason !== null && reason !== said);
  for (const line of notRunLines({ notRun })) io.err(`${line}\n`);
  return plan.unread.length > 0 ? 2 : code;
}

/** Returns the rollouts that infrastructure ended, and those that could not be run. */
const lostIn = ({ rollouts }: RunRecord, crashed: readonly TrialResult[]) => [
  ...rollouts.filter(({ failedBy }) => failedBy === 'infrastructure'),
  ...crashed,
];

/** Returns what could not be run, also of tasks of the same folder that are not run now. */
function notRunOf({ folder }: LoadedDomain, plan: Plan, crashed: readonly TrialResult[]): readonly NotRun[] {
  const chosen = new Set(plan.tasks.map(({ id }) => id));
  return [
    ...readNotRun(plan.folder).filter(({ task, trial }) => trial !== null && !chosen.has(task)),
    ...crashed.map(({ task, trial, failure, reason }) => ({ task, trial, reason: failure?.message ?? reason })),
    ...plan.unread.map((error) => ({
      task: relative(folder, error.file),
      trial: null,
      reason: formatDiagnostic(error),
    })),
  ];
}

type Plan = Omit<ReturnType<typeof readRolloutOptions>, 'agentFor'> & {
  readonly folder: string;
  readonly tasks: readonly Task[];
  /** Errors of files that have further chosen tasks and cannot be read. */
  readonly unread: readonly Diagnostic[];
  readonly trials: number;
  readonly agent: SeatSpec;
  readonly agentFor?: BatchOptions['agentFor'];
  readonly gate: readonly Threshold[];
  readonly prices: Prices;
  readonly meter: Meter;
  readonly key: ReturnType<typeof signingKey>;
};

function planOf(given: Options, io: Io, domain: LoadedDomain): Omit<Plan, 'folder'> {
  const { tasks, unread } = chosenTasks(given, domain, io.cwd);
  const { ofTask } = fitnessOf(domain);
  const errors = tasks.map(ofTask);
  if (errors.every((own) => own.length > 0)) throw new UsageError(unfitness(errors.flat()));
  const { trials = trialsToGoOn(given, io), gate } = given;
  throwIfTooMany(trials, tasks.length);
  if (given.taskAgents && given.agent !== undefined)
    throw new UsageError(
      '--agent plays every task, and --task-agents uses the seats that tasks name. Leave one of them out',
    );
  const { agentFor, ...options } = readRolloutOptions(given, domain, io);
  const thresholds = gate === undefined ? [] : parseGate(gate, trials, suggestion);
  if (typeof thresholds === 'string') throw new UsageError(`--gate: ${thresholds}`);
  const agent = agentFor({});
  const prices = pricesOf(given);
  return {
    ...options,
    tasks,
    unread,
    trials,
    agent,
    ...(given.taskAgents ? { agentFor } : {}),
    gate: thresholds,
    prices,
    meter: meterOf(
      given,
      {
        agent: modelOf(agent) !== null,
        user: options.user.type === 'openai',
        judge: options.judge?.type === 'openai',
        tools: domain.parts.simulated.length > 0,
      },
      prices,
    ),
    key: signingKey(),
  };
}

/** Returns the trials that the run in the folder of --out plans; 1 for a new run. */
function trialsToGoOn({ out }: Options, { cwd }: Io): number {
  const file = out === undefined ? null : readRunFile(resolve(cwd, out));
  return file === null || typeof file === 'string' ? 1 : file.trials;
}

/** Returns a line about tasks that name another agent than the one that plays them; empty without one. */
function otherAgentsText({ tasks, agent }: Plan): string {
  const [first, ...more] = tasks.filter((task) => task.agent !== undefined && task.agent !== agent.type);
  if (!first) return '';
  const whose = more.length === 0 ? `task ${first.id} names` : `${more.length + 1} tasks, such as ${first.id}, name`;
  return `note: ${seatName(agent)} plays every task, although ${whose} \`agent: ${first.agent}\`, as \`run\` and the editor's tests use it. To use it here, add --task-agents\n`;
}

/** Starting a worker takes about as long as this many rollouts of seats without a model. */
const rolloutsPerWorker = 16;

/** Runs what has no final receipt yet. */
async function rollOut(plan: Plan, given: Options, io: Io, domain: LoadedDomain): Promise<readonly TrialResult[]> {
  const finished = finalRollouts(plan.folder);
  const all = plan.tasks.flatMap((task) => Array.from({ length: plan.trials }, (_, trial) => rolloutName(task, trial)));
  const left = all.filter((name) => !finished.has(name)).length;
  if (left < all.length) io.err(`${all.length - left} of ${counted(all.length, 'rollout')} already finished\n`);
  const { train, evaluate: evaluated } = simulatorsOf(domain.file, plan);
  if (plan.user.type === 'openai' && train === evaluated)
    io.err(
      `warning: ${seatName(plan.user)} plays the user here and in training, so what a model learned about this user looks like success. Name one for each purpose: user: { train, evaluate } in domain.yaml, or --user\n`,
    );
  if (given.agent === undefined && !given.taskAgents) io.err(otherAgentsText(plan));
  const isQuiet = given.json === true;
  const line = statusLine(io);
  const lines = given.stream && isQuiet ? runLines(io, plan.folder, domain, plan.prices) : undefined;
  const show = isQuiet ? () => undefined : progress(io, line);
  const wait = modelWait((said) => io.err(`${said}\n`), io.terminal && !isQuiet ? line : undefined);
  // With tools in one Python process a second worker would only wait for it.
  const isOwn = hostedName(domain.file) === null;
  const useful = isOwn && isPure(plan.agent) && isPure(plan.user) ? Math.ceil(left / rolloutsPerWorker) : 1;
  const workers = Math.max(1, Math.min(useful, availableParallelism()));
  const supervisor = await openSupervisor(domain, { workers, log: (line) => io.err(`${line}\n`) });
  // A person answers one rollout after another, so that a line of the input belongs to one of them.
  const isTyped = [plan.agent, plan.user].some(({ type }) => type === 'human');
  const played = new Set<string>();
  let scored = 0;
  let rewarded = 0;
  try {
    return await runBatch(supervisor, {
      ...plan,
      concurrency: isTyped ? 1 : (given.concurrency ?? 16),
      retryUnscored: given.retryUnscored,
      readKey: (name) => io.environment[name],
      askPerson: askAtTerminal(io),
      signal: io.signal,
      onModel: (notice) => {
        wait.onModel(notice);
        lines?.onModel(notice);
      },
      ...(lines ? { onEvents: lines.onEvents } : {}),
      onFinished: (result) => {
        lines?.onFinished(result);
        const { task, trial, reward } = result;
        // Only rollouts without a reward are run again, so no reward counts twice.
        played.add(rolloutName({ id: task }, trial));
        scored += reward === null ? 0 : 1;
        rewarded += reward ?? 0;
        const note = `mean reward ${scored === 0 ? 'none' : (rewarded / scored).toFixed(2)}`;
        show(played.size, Math.max(left, played.size), note);
      },
    });
  } finally {
    wait.end();
    line.end();
    await supervisor.close();
  }
}

/** Prints the report and decides the exit code. */
function conclude(
  domain: LoadedDomain,
  record: RunRecord,
  crashed: readonly TrialResult[],
  plan: Plan,
  given: Options,
  io: Io,
): ExitCode {
  const metrics = metricsOf(record.rollouts, record.file.prices, plannedTrials(record.file));
  const missed = missedThresholds(plan.gate, metrics);
  const { isSpent, isUncountable, uncounted } = plan.meter;
  const chosen = new Set(plan.tasks.map(({ id }) => id));
  const planned = plan.tasks.length * plan.trials;
  const done = record.rollouts.filter(({ task, trial }) => chosen.has(task) && trial < plan.trials).length;
  const isWhole = done + crashed.length === planned;
  const hasRecordings = record.rollouts.length + record.unfinished.length > 0;
  const stopped = isWhole ? null : isSpent() ? 'budget' : io.signal.aborted ? 'cancelled' : null;
  if (given.json)
    io.out(
      `${JSON.stringify({ folder: plan.folder, stopped, missed, summary: metrics, results: record.rollouts, unfinished: record.unfinished })}\n`,
    );
  else if (stopped === null || hasRecordings) {
    io.out(reportText({ ...record, notRun: [] }, metrics, domain, io.cwd));
    const verdict = isUndecided(plan.gate, metrics) ? 'not decided' : 'missed';
    for (const line of missed) io.out(`gate ${verdict}: ${line}\n`);
    if (missed.length === 0) for (const line of heldThresholds(plan.gate, metrics)) io.out(`gate held: ${line}\n`);
    if (hasRecordings) io.out(nextSteps(plan.folder, metrics.scored > 0 && metrics.meanReward !== 1, io));
  }
  if (uncounted() > 0 && !isUncountable())
    io.err(
      `${counted(uncounted(), 'answer')} did not report tokens, so the number of tokens and the cost are too low\n`,
    );
  // Where it stopped the run, the last line says so.
  if (stopped === null && isUncountable()) io.err(`${spentText(plan.meter)}\n`);
  const place = { folder: plan.folder, domain: domain.folder, out: given.out };
  const lost = lostIn(record, crashed);
  const [first] = lost;
  if (stopped === null && first) {
    const why = reasonOf(first);
    const next = nextRun({ type: 'lost', rollouts: lost }, place, io);
    io.err(`${lost.length} of ${counted(planned, 'rollout')} could not be run: ${why}\n${next}\n`);
    return 2;
  }
  if (stopped === null) {
    if (plan.gate.length > 0 && !isUndecided(plan.gate, metrics)) return missed.length > 0 ? 1 : 0;
    const isUnscored = reportUnscored(record.rollouts, planned, place, io);
    const isLeft = reportLeft(record, place, io);
    return isUnscored || isLeft || plan.gate.length > 0 ? 2 : 0;
  }
  const why = stopped === 'budget' ? spentText(plan.meter) : 'cancelled';
  const next = nextRun({ type: 'stopped', hasRecordings }, place, io);
  io.err(`${why}: ${done} of ${counted(planned, 'rollout')} ${planned === 1 ? 'is' : 'are'} finished. ${next}\n`);
  return 2;
}

/** Reports that rollouts which the run plans are left. Returns whether there are any. */
function reportLeft({ notRun, file }: RunRecord, place: RunPlace, io: Io): boolean {
  const left = notRun.filter(({ trial }) => trial !== null).length;
  if (left === 0) return false;
  const planned = sum([...plannedTrials(file).values()]);
  const next = nextRun({ type: 'left', trials: file.trials }, place, io);
  io.err(
    `incomplete: ${left} of ${counted(planned, 'planned rollout')} ${left === 1 ? 'is' : 'are'} not finished. ${next}\n`,
  );
  return true;
}

/** Says that rollouts have no reward, although the models and servers were there. Returns whether there are any. */
function reportUnscored(rollouts: RunRecord['rollouts'], planned: number, place: RunPlace, io: Io): boolean {
  const unscored = rollouts.filter(({ reward }) => reward === null);
  const first = unscored.find(({ failedBy }) => failedBy === 'environment') ?? unscored[0];
  if (!first) return false;
  const isEnvironment = first.failedBy === 'environment';
  const next = nextRun({ type: 'unscored', rollouts: unscored, isEnvironment }, place, io);
  io.err(
    `${unscored.length} of ${counted(planned, 'rollout')} could not be scored: ${first.task}: ${reasonOf(first)}\n${next}\n`,
  );
  return true;
}

/** Returns why a rollout has no reward, with the place of the error. */
const reasonOf = ({ failure, reason }: Pick<TrialResult, 'failure' | 'reason'>) =>
  failure ? failureText(failure) : reason;

/** Returns the commands that show more of a run. */
function nextSteps(run: string, hasFailed: boolean, { cwd }: Io): string {
  const folder = shellWord(relative(cwd, run) || '.');
  const explain = hasFailed ? `explain its failures: npx rehearsal explain ${folder}\n` : '';
  return `${explain}write a page about it: npx rehearsal report ${folder} --html report.html\n`;
}

function chosenTasks(given: Options, domain: LoadedDomain, cwd: string): Pick<Plan, 'tasks' | 'unread'> {
  const { split, uses: tool } = given;
  const unreadOf = (named: string) => unreadTasks(domain, named, cwd);
  const named = given.tasks?.split(',');
  const unread = named ? [...new Set(named.flatMap(unreadOf))] : fitnessOf(domain).unread;
  const patterns = named?.flatMap((each) => {
    const ids = idsInFile(domain, each, cwd);
    return ids.length > 0 ? ids : [each];
  });
  const isKnown = (pattern: string) => domain.tasks.some(({ id }) => nameMatches(id, pattern));
  const unknown = patterns?.filter((pattern) => !isKnown(pattern) && unreadOf(pattern).length === 0) ?? [];
  if (unknown.length > 0) {
    const drafts = draftsOf(domain.parts).map(({ placed }) => placed.value.id);
    const isDraft = unknown.every((each) => drafts.includes(each));
    throw new UsageError(
      isDraft
        ? `${unknown.join(', ')}: evaluations leave out drafts. Accept it with: npx rehearsal draft accept ${shellWord(domain.folder)} ${unknown.join(' ')}`
        : [
            `there is no task ${unknown.join(', ')}; ${tasksOf(domain)}${suggestion(unknown[0] ?? '', idsOf(domain.tasks))}`,
            ...fitnessOf(domain).unread.map((error) => formatDiagnostic(error)),
          ].join('\n'),
    );
  }
  const personas = given.persona?.split(',');
  const strangers = personas?.filter((name) => !domain.tasks.some(({ persona }) => persona === name)) ?? [];
  if (strangers.length > 0)
    throw new UsageError(
      `no task of ${domain.folder} has the persona ${strangers.join(', ')}${suggestion(strangers[0] ?? '', idsOf(domain.domain.personas))}`,
    );
  const tasks = domain.tasks.filter(
    (task) =>
      (split === undefined || task.split === split) &&
      (patterns === undefined || patterns.some((pattern) => nameMatches(task.id, pattern))) &&
      (personas === undefined || personas.includes(task.persona)) &&
      (tool === undefined || task.actions.some((action) => action.tool === tool)),
  );
  if (tasks.length === 0)
    throw new UsageError(
      unfitness(unread) ||
        (domain.tasks.length === 0 && draftsOf(domain.parts).length === 0
          ? noTasks(domain)
          : `no task of ${domain.folder} matches these options`),
    );
  const under = given.under?.split(',');
  return { tasks: under === undefined ? tasks : tasks.flatMap((task) => tasksUnder(domain, task, under)), unread };
}

/** Returns that a domain has no tasks, and which files may have some under another name. */
function noTasks({ folder, file, diagnostics }: LoadedDomain): string {
  const others = diagnostics.filter(({ code }) => code === 'task/ignored-file').map((each) => basename(each.file));
  const renamed = others.length > 0 ? `; rename ${others.join(', ')}` : '';
  return `the domain ${folder} has no tasks: a file of tasks in ${file.tasks}/ ends in .task.yaml${renamed}`;
}

const idsOf = (known: readonly { readonly id: string }[]) => known.map(({ id }) => id);

function tasksUnder({ domain, folder }: LoadedDomain, task: Task, patterns: readonly string[]): readonly Task[] {
  const ids = domain.personas.map(({ id }) => id);
  const nobody = patterns.filter((pattern) => !ids.some((id) => nameMatches(id, pattern)));
  if (nobody.length > 0)
    throw new UsageError(
      `${folder} has no persona ${nobody.join(', ')}. ${nobody.some((name) => name.startsWith('red-team')) ? `Add the red team with: npx rehearsal personas ${shellWord(folder)} --add red-team` : `It has ${ids.join(', ')}`}`,
    );
  return ids
    .filter((id) => patterns.some((pattern) => nameMatches(id, pattern)))
    .flatMap((id) => taskIn(domain, variantId(task.id, id)) ?? []);
}
