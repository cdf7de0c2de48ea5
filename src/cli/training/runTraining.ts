import { existsSync, writeFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import type { Task } from '../../engine/core/domain/task.ts';
import type { TrainingKind } from '../../engine/core/domain/trainingKind.ts';
import { counted } from '../../engine/core/text/counted.ts';
import type { Json } from '../../engine/core/values/json.ts';
import type { LoadedDomain } from '../../engine/shell/domain/loadDomain.ts';
import { formatDiagnostic } from '../../engine/shell/files/diagnostic.ts';
import { makeRunFolder, sizeOf } from '../../engine/shell/files/disk.ts';
import { Fault } from '../../engine/shell/files/fault.ts';
import { workFolders } from '../../engine/shell/files/workFolders.ts';
import { fitTasks } from '../../engine/shell/load/fitness.ts';
import { signingKey } from '../../engine/shell/records/ledger.ts';
import { readRunFile } from '../../engine/shell/records/runFile.ts';
import { runFiles } from '../../engine/shell/records/runFiles.ts';
import { makeNewRunFolder, removeUnbegunRun, runName } from '../../engine/shell/records/runName.ts';
import { runBatch, throwCrash } from '../../engine/shell/runs/batch.ts';
import { partsPlayed } from '../../engine/shell/runs/evaluationRecord.ts';
import { openSupervisor } from '../../engine/shell/supervisor.ts';
import { trainingKeys } from '../../training/trainingKeys.ts';
import { askAtTerminal } from '../dap/terminal/askAtTerminal.ts';
import { requireOutFolder } from '../options/outFolder.ts';
import { fitTasksNow, tasksInSplit, throwIfTooMany } from '../options/rolloutOptions.ts';
import { rememberInterpreters, throwUnlessInterpretersApproved } from '../python/namedInterpreters.ts';
import { interpreterOf } from '../python/pythonEnvironment.ts';
import { activityOf, isStarted, requireOwnFiles } from '../targets/runFolder.ts';
import type { Launch } from '../targets/target.ts';
import { type TargetSpec, targetAt, targetSpecOf, writeTargetSpec } from '../targets/targets.ts';
import { type ExitCode, type Io, progress, UsageError } from '../terminal/io.ts';
import { shellWord } from '../terminal/shellWord.ts';
import { evaluationText, requireTasks } from './plannedRollouts.ts';
import { launchTrainer } from './trainerLaunch.ts';
import { type TrainingRequest, trainingConfiguration, trainingRequest } from './trainingConfiguration.ts';
import { readTrainingFile } from './trainingFile.ts';
import { diskOf } from './trainingOperations.ts';
import type { TrainingOptions } from './trainingOptions.ts';
import { expectedOf, type LearnedFrom, planLines, planOf, planText } from './trainingPlan.ts';

/**
 * Looks everything through, then begins a run and follows it to its end, or returns once it runs (`--detach`).
 * @param placed puts before the trainer's words about a key where it was written, where that is not the run's own file
 */
export async function runTraining(
  options: TrainingOptions,
  positionals: readonly string[],
  io: Io,
  placed?: Launch['placed'],
): Promise<ExitCode> {
  const isJson = options.json === true;
  if (options.plan) {
    const { request, source, launch, spec, target } = asked(options, positionals, io, placed);
    const found = await planOf(launch, spec, target, io);
    const plan = { ...found, ...learnedFrom(request, source, { ...launch.config, profile: found.profile }) };
    io.out(isJson ? `${JSON.stringify({ ...plan, lines: planLines(plan) })}\n` : planText(plan));
    return 0;
  }
  let made: string | undefined;
  const makeNew = (root: string, kind: TrainingKind) => {
    made = makeNewRunFolder(root, kind);
    return made;
  };
  try {
    return await start(asked(options, positionals, io, placed, makeNew), io, isJson);
  } finally {
    if (made !== undefined) removeUnbegunRun(made);
  }
}

async function start(
  { request, spec, target, source, launch: asking }: ReturnType<typeof asked>,
  io: Io,
  isJson: boolean,
): Promise<ExitCode> {
  const inspected = await target.preflight(asking, io);
  const { launch } = inspected;
  const { run, config } = launch;
  io.err(planText({ ...inspected.plan, ...expectedOf(launch), ...learnedFrom(request, source, config) }));
  makeRunFolder(run);
  requireOwnFiles(run);
  const prepared = await inspected.prepare();
  if (source) await playGold(source, io, request.domains[0].loaded);
  if (io.signal.aborted)
    throw new Fault({
      who: 'infrastructure',
      code: 'cancelled',
      message: `cancelled before ${activityOf(request.kind)} began`,
    });
  writeFileSync(join(run, runFiles.launch), `${JSON.stringify(config, null, 2)}\n`);
  writeTargetSpec(run, spec, io.environment);
  rememberInterpreters(run, config, io.environment);
  return launchTrainer(io, target, launch, prepared, isJson);
}

/** Finds what would make a training run fail, as beginning with it does; nothing is written or spent. */
export async function preflightTraining(
  options: TrainingOptions,
  positionals: readonly string[],
  io: Io,
  placed?: Launch['placed'],
): Promise<void> {
  const { target, launch } = asked(options, positionals, io, placed);
  await target.preflight(launch, io);
}

type NameFolder = (root: string, kind: TrainingKind) => string;

/** Names the folder of a run that is only planned. */
const planned: NameFolder = (root, kind) => join(root, runName(kind));

/** Returns what is to be trained, and where. Throws a `UsageError` for what can't be meant. */
function asked(
  options: TrainingOptions,
  positionals: readonly string[],
  io: Io,
  placed?: Launch['placed'],
  newFolder = planned,
) {
  const { config: named, out, python: typed } = options;
  const file = named === undefined ? null : readTrainingFile(named, io.cwd);
  const request = trainingRequest(options, positionals, io, file);
  const { kind } = request;
  const run = runFolder(out, io, kind, newFolder);
  const address = options.target ?? targetSpecOf(run, io.environment).target;
  const python = typed ?? pythonIn(file?.values['python']);
  const spec = { target: address, ...(python === undefined ? {} : { python }) };
  const source = kind === 'sft' ? sftSourceOf(options, io, request, run) : null;
  const interpreter = interpreterOf(python, address === 'local' ? io.cwd : undefined);
  if (named !== undefined && file) {
    const interpreters = { ...file.values, python: typed === undefined ? interpreter : undefined };
    throwUnlessInterpretersApproved(resolve(io.cwd, named), interpreters, io.environment);
  }
  const config = {
    ...trainingConfiguration(options, io, request, run, source ? source.paths : []),
    ...(interpreter ? { python: interpreter } : {}),
  };
  requireTasks(request, config);
  const launch: Launch = {
    kind,
    run,
    config,
    placed: placed ?? ((words) => file?.placed(words, { ...config, ...request.ofFile }) ?? words),
    isResumed: false,
    isDetached: options.detach === true,
    python: interpreter,
    disk: diskOf(options),
  };
  throwIfForRay(launch, spec);
  return { request, spec, target: targetAt(spec), source, launch };
}

/** Returns what a file says about the interpreter, as `--python` says it. */
function pythonIn(value: Json | undefined): string | undefined {
  return value === undefined || value === null || typeof value === 'string'
    ? (value ?? undefined)
    : JSON.stringify(value);
}

/** Throws a `UsageError` for a key that only a Ray cluster has, where training is to be elsewhere. */
function throwIfForRay({ kind, config, placed = (words) => words }: Launch, { target }: TargetSpec): void {
  if (/^rays?:/.test(target)) {
    if (config['python'] === undefined) return;
    throw new UsageError(
      placed('python: a Ray cluster trains with its own Python: remove it, and install what you need in its image'),
    );
  }
  const key = trainingKeys(kind).find(({ name, isForRay }) => isForRay && name in config);
  if (key)
    throw new UsageError(
      placed(`${key.name}: only a Ray cluster has this key: remove it, or train with --target ray://HOST:8265`),
    );
}

function runFolder(out: string | undefined, io: Io, kind: TrainingKind, newFolder: NameFolder): string {
  if (!out) return newFolder(resolve(io.cwd, workFolders.training), kind);
  const run = resolve(io.cwd, out);
  if (sizeOf(join(run, runFiles.metrics)) > 0 || partsPlayed(run).length > 0)
    throw new UsageError(
      `--out ${out} already contains a run: resume it (npx rehearsal train resume ${shellWord(run)}), or name a new folder`,
    );
  requireOutFolder(run, (names) => isStarted(run) || (names.every((each) => each === 'gold') && hasGold(run)));
  return run;
}

/** Whether the gold seat has played for a run that was then cancelled. */
const hasGold = (run: string): boolean => typeof readRunFile(join(run, 'gold')) !== 'string';

/** Returns what the plan of a run says about its domains and its input. */
function learnedFrom(request: TrainingRequest, source: SftSource | null, config: Launch['config']): LearnedFrom {
  const { kind, domains } = request;
  return {
    kind,
    domains: domains.map(({ loaded }) => basename(loaded.folder)),
    input: inputOf(request, source),
    evaluation: evaluationText(request, config),
    leftOut: leftOutOf(request),
  };
}

function inputOf({ kind, domains }: TrainingRequest, source: SftSource | null): string | null {
  if (source === null) return kind === 'grpo' ? 'rollouts that the model plays while it trains' : null;
  const { paths, tasks, trials } = source;
  if (tasks.length === 0) return `recordings in ${paths.join(', ')}`;
  const { fit } = fitTasks(tasks, domains[0].loaded);
  return `${counted(fit.length * trials, 'rollout')} that the gold seat plays first: ${counted(fit.length, 'training task')}, ${counted(trials, 'trial')} each`;
}

/** Returns the errors that keep tasks of the run's domains from being used. */
function leftOutOf({ domains, heldOut }: TrainingRequest): readonly string[] {
  const errors = [...domains, ...heldOut].flatMap(({ loaded }) => fitTasks(loaded.tasks, loaded).errors);
  return [...new Set(errors.map((error) => formatDiagnostic(error)))];
}

/** The input of SFT: recordings at paths, and the rollouts of the gold seat to play first. */
type SftSource = { readonly paths: readonly string[]; readonly tasks: readonly Task[]; readonly trials: number };

/** Returns what was given, else rollouts of the gold seat on the training tasks. Nothing is played yet. */
function sftSourceOf(
  { recordings: named, trials = 4 }: TrainingOptions,
  io: Io,
  { domains, file }: TrainingRequest,
  run: string,
): SftSource {
  const written = file?.values['recordings'];
  const paths = named === undefined ? (Array.isArray(written) ? written.map(String) : []) : [resolve(io.cwd, named)];
  const missing = paths.find((path) => !existsSync(path));
  if (missing) throw new UsageError(`${named ?? missing}: there are no recordings`);
  if (paths.length > 0) return { paths, tasks: [], trials: 0 };
  const { loaded } = domains[0];
  const tasks = tasksInSplit(loaded, 'train');
  throwIfTooMany(trials, tasks.length);
  return { paths: [join(run, 'gold')], tasks, trials };
}

async function playGold({ paths, tasks, trials }: SftSource, io: Io, domain: LoadedDomain): Promise<void> {
  const [path] = paths;
  if (tasks.length === 0 || path === undefined) return;
  const supervisor = await openSupervisor(domain, { log: (line) => io.err(`${line}\n`) });
  try {
    const fit = fitTasksNow(tasks, supervisor.loaded, io);
    io.err(`the gold seat plays ${counted(fit.length, 'task')}, ${counted(trials, 'trial')} each\n`);
    const show = progress(io);
    const total = fit.length * trials;
    let done = 0;
    const options = {
      folder: path,
      tasks: fit,
      trials,
      seed: 'gold',
      basis: 'train',
      agent: { type: 'gold' },
      user: { type: 'agenda' },
      concurrency: 16,
    } as const;
    const ports = { key: signingKey(), readKey: () => undefined, askPerson: askAtTerminal(io), signal: io.signal };
    const onFinished = () => show(++done, total, 'gold rollouts');
    throwCrash(await runBatch(supervisor, { ...options, ...ports, onFinished }));
  } finally {
    await supervisor.close();
  }
}
