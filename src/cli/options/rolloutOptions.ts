import { existsSync, lstatSync, readdirSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { type DomainFile, userSeatFor } from '../../engine/core/domain/domain.ts';
import type { SeatSettings } from '../../engine/core/domain/modelSettings.ts';
import {
  type AskedSettings,
  type ModelSeat,
  namedModel,
  type SeatSpec,
  withModel,
} from '../../engine/core/domain/seatSpec.ts';
import type { Task } from '../../engine/core/domain/task.ts';
import { taskIn } from '../../engine/core/domain/taskVariant.ts';
import { counted } from '../../engine/core/text/counted.ts';
import { domainFolderOf } from '../../engine/shell/domain/domainFolder.ts';
import { type LoadedDomain, loadDomain } from '../../engine/shell/domain/loadDomain.ts';
import { type Diagnostic, formatDiagnostic, unfitness, unfitnessInWords } from '../../engine/shell/files/diagnostic.ts';
import { fitnessOf, fitTasks, unfitFault } from '../../engine/shell/load/fitness.ts';
import { settingsOfDomain, throwUnlessHeadersAllowed, withSettings } from '../../engine/shell/models/modelSettings.ts';
import { parseSeat } from '../../engine/shell/models/parseSeat.ts';
import { readRunFile } from '../../engine/shell/records/runFile.ts';
import { runFileName } from '../../engine/shell/records/runFiles.ts';
import type { BatchOptions } from '../../engine/shell/runs/batch.ts';
import { meantNames, nearest, suggestion } from '../../engine/shell/source/nearest.ts';
import { type Io, UsageError } from '../terminal/io.ts';
import { readSettings, settingOptions, throwUnlessNamed } from './modelSettings.ts';
import { type OptionValues, oneOf, seconds, text, wholeNumber } from './option.ts';
import { unreadTasks } from './unreadTasks.ts';

export const seed = text('TEXT', 'source of every random stream (default: 1)');

/** @param usual the basis that is the default */
export const basis = (usual: string) =>
  oneOf('NAME', `evaluate or train: which of the task's two bases decides the reward (default: ${usual})`, [
    'evaluate',
    'train',
  ]);

export const turnCap = wholeNumber('N', "maximum number of agent responses (default: the domain's)");

export const timeout = seconds('how long a model may take for one response (default: 120)');

export const rateLimitWait = seconds(
  'how long one request may wait for an endpoint that limits the rate (default: 300)',
);

/** The folder of the recordings, for commands that make a new one for each run. */
export const runFolder = text(
  'FOLDER',
  'the folder for recordings: new, empty, or that of a run to resume (default: a new folder in .rehearsal/runs of this folder, or of the domain if this folder does not contain it)',
);

/** The seats that completion offers: those without a name of a model or a file. */
export const agentSeats = ['gold', 'scripted', 'human'];
export const userSeats = ['agenda', 'scripted', 'human'];

/**
 * Options that every command shares which runs rollouts.
 * @param agent whose seat is the default of --agent
 */
export const rolloutOptions = (agent: string) => ({
  agent: text(
    'SEAT',
    `gold, scripted, human, openai:MODEL[@BASE_URL], checkpoint:FOLDER (weights of a training run, which this command serves), or agent:FILE, a custom agent (default: ${agent}). With human you type each turn as a line; /help lists the commands`,
    agentSeats,
  ),
  user: text(
    'SEAT',
    "agenda, scripted, human or openai:MODEL[@BASE_URL] (default: the domain's for the basis)",
    userSeats,
  ),
  judge: text('SEAT', 'openai:MODEL[@BASE_URL]: the judge that rules and tasks ask (default: none)'),
  seed,
  basis: basis('evaluate'),
  turnCap,
  ...settingOptions,
  timeout,
  rateLimitWait,
  out: runFolder,
});
export type GivenRollout = OptionValues<ReturnType<typeof rolloutOptions>>;

export type RolloutOptions = {
  readonly seed: string;
  readonly basis: 'evaluate' | 'train';
  readonly turnCap?: number;
  /** The agent's seat of a task; of one that names none, that of the domain. */
  readonly agentFor: (task: Pick<Task, 'agent'>) => SeatSpec;
  readonly user: SeatSpec;
  readonly judge?: SeatSpec;
  /** Overrides those of the domain for simulated tools. */
  readonly toolSettings: AskedSettings;
};

/** Reads the domain in the folder that the user named. Throws a `UsageError` for errors that concern every task. */
export const openDomain = (io: Pick<Io, 'cwd'>, given: string | undefined): LoadedDomain =>
  openDomainAt(domainFolder(io, given));

/**
 * Returns the folder of the domain that the user named, without reading it. Throws a `UsageError` if it is not a
 * domain.
 */
export function domainFolder({ cwd }: Pick<Io, 'cwd'>, given: string | undefined): string {
  if (!given) throw new UsageError(`name the folder of a domain (the one with domain.yaml)${domainAt(cwd)}`);
  const folder = resolve(cwd, given);
  if (!isDomain(folder))
    throw new UsageError(`${given}: there is no domain here (a folder with domain.yaml)${meantDomain(folder, cwd)}`);
  return folder;
}

/** Whether a folder has a domain.yaml. A link to itself is there, and reading it reports what it is. */
function isDomain(folder: string): boolean {
  try {
    return lstatSync(join(folder, 'domain.yaml'), { throwIfNoEntry: false }) !== undefined;
  } catch {
    return false;
  }
}

/** Returns the spelling of a domain in the working folder, as the end of a sentence. */
function domainAt(cwd: string): string {
  if (isDomain(cwd)) return '. For the domain in this folder, name "."';
  const [first] = [...domainsIn(cwd), ...domainsIn(join(cwd, 'domains')).map((name) => join('domains', name))];
  return first === undefined ? '' : `, such as ${first}`;
}

/** Returns the domain that a folder without one was probably meant to name, as the end of a sentence. */
function meantDomain(folder: string, cwd: string): string {
  const path = (domain: string) => relative(cwd, domain) || '.';
  const meantIn = (place: string) => {
    const meant = nearest(basename(folder), domainsIn(place));
    return meant === undefined ? undefined : `. Did you mean "${path(join(place, meant))}"?`;
  };
  const parent = domainFolderOf(folder);
  const meant =
    meantIn(dirname(folder)) ??
    (parent === undefined ? undefined : `. Name the folder of the domain first: "${path(parent)}"`) ??
    meantIn(cwd) ??
    meantIn(join(cwd, 'domains'));
  if (meant !== undefined) return meant;
  const beside = domainsIn(dirname(folder));
  const some = beside.slice(0, 5).map((name) => path(join(dirname(folder), name)));
  return some.length === 0 ? '' : `. Domains in the same folder: ${some.join(', ')}${beside.length > 5 ? ', ...' : ''}`;
}

/** Returns the names of the domains in a folder; none if it cannot be read. */
function domainsIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder).filter((name) => existsSync(join(folder, name, 'domain.yaml')));
  } catch {
    return [];
  }
}

/** Reads the domain in a folder. Throws a `UsageError` for errors that concern every task; `fitnessOf` finds the others. */
export function openDomainAt(folder: string): LoadedDomain {
  const loaded = loadDomain(folder, { soundness: false });
  throwIfUnfit(fitnessOf(loaded).shared, loaded);
  return loaded;
}

/**
 * Reads a domain whose tools are called outside of a rollout. Throws a `UsageError` for errors that concern a call: those
 * of the policy and of its checks do not, and the checks are then left out.
 */
export function openTools(io: Pick<Io, 'cwd'>, given: string | undefined): LoadedDomain {
  const loaded = loadDomain(domainFolder(io, given), { soundness: false });
  const { folder, file, parts, domain } = loaded;
  const ofPolicy = [file.policy, file.rules, file.phrases].map((name) => resolve(folder, name));
  const others = (diagnostics: readonly Diagnostic[]) => diagnostics.filter((each) => !ofPolicy.includes(each.file));
  const errors = fitnessOf(loaded).shared;
  throwIfUnfit(others(errors), loaded);
  if (errors.length === 0) return loaded;
  return {
    ...loaded,
    diagnostics: others(loaded.diagnostics),
    parts: { ...parts, rules: [], diagnostics: others(parts.diagnostics) },
    domain: { ...domain, rules: [] },
  };
}

/** Returns the tasks of a split, also those with errors. Throws a `UsageError` where none of them can run. */
export function tasksInSplit(loaded: LoadedDomain, split: Task['split'], orElse = ''): readonly Task[] {
  const tasks = loaded.tasks.filter((task) => task.split === split);
  const { fit, errors } = fitTasks(tasks, loaded);
  if (fit.length > 0) return tasks;
  throwIfUnfit(errors, loaded);
  throw new UsageError(
    `${loaded.folder} has no task in the split ${split}. Write "split: ${split}" in a task${orElse}`,
  );
}

/**
 * Returns the tasks that can run once the tools have been described, which finds further errors. Prints those that keep
 * the others from running, and throws their `Fault` where no task is left.
 */
export function fitTasksNow(tasks: readonly Task[], loaded: LoadedDomain, io: Io): readonly Task[] {
  const { fit, errors } = fitTasks(tasks, loaded);
  const unfit = fit.length === 0 ? unfitFault(errors) : null;
  if (unfit) throw unfit;
  for (const error of errors) io.err(`${leftOutText(error)}\n`);
  return fit;
}

/** Describes an error that keeps tasks from being used. */
export const leftOutText = (error: Diagnostic): string => `not used: ${formatDiagnostic(error)}`;

function throwIfUnfit(errors: readonly Diagnostic[], { folder }: LoadedDomain): void {
  const [first] = errors;
  if (first) throw new UsageError(unfitness(errors), first, unfitnessInWords(errors, dirname(folder)));
}

/**
 * The task that a person named by its id or by the path of its file. Throws a `UsageError` that says which there are.
 * @param cwd where a relative path starts
 */
export function taskNamed(domain: LoadedDomain, named: string | undefined, cwd: string): Task {
  if (named === undefined) throw new UsageError(`name a task; ${tasksOf(domain)}`);
  const ids = idsInFile(domain, named, cwd);
  const task = taskIn(domain.domain, named) ?? domain.tasks.find(({ id }) => ids.includes(id));
  if (ids.length > 1) throw new UsageError(`${named} has ${ids.length} tasks; name one: ${someOf(ids)}`);
  const { ofTask, unread } = fitnessOf(domain);
  if (!task) {
    throwIfUnfit(unreadTasks(domain, named, cwd), domain);
    const known = domain.tasks.map(({ id }) => id);
    const words = `there is no task "${named}"; ${tasksOf(domain, named)}${suggestion(named, known)}`;
    throw new UsageError([words, ...unread.map((error) => formatDiagnostic(error))].join('\n'));
  }
  throwIfUnfit(ofTask(task), domain);
  return task;
}

/**
 * Returns the ids of the tasks in a file of the domain, drafts included; none if the path is not such a file.
 * @param path from the working folder, or else from the domain
 */
export function idsInFile({ folder, parts }: LoadedDomain, path: string, cwd: string): readonly string[] {
  const idsIn = (file: string) => parts.tasks.flatMap((placed) => (placed.file === file ? placed.value.id : []));
  const ids = idsIn(resolve(cwd, path));
  return ids.length > 0 ? ids : idsIn(resolve(folder, path));
}

/** Names tasks of a domain, first the one that a name may have meant. */
export function tasksOf({ folder, tasks }: LoadedDomain, named?: string): string {
  const ids = tasks.map(({ id }) => id);
  const first = named === undefined ? [] : meantNames(named, ids);
  return `${folder} has ${someOf([...new Set([...first, ...ids])])}`;
}

function someOf(names: readonly string[]): string {
  const shown = names.slice(0, 12);
  const more = names.length - shown.length;
  return `${shown.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

/** Reads the options that every rollout shares. Throws a `UsageError` that names the first that can't be used. */
export function readRolloutOptions(given: GivenRollout, domain: LoadedDomain, io: Io): RolloutOptions {
  const { seed = '1', basis = 'evaluate', turnCap, judge } = given;
  const chosen = { agent: given.agent, user: given.user };
  const settings = readSettings(given);
  throwUnlessNamed(settings, { ...chosen, judge }, { headers: '--set', seat: '--' });
  const seatOf = (role: 'agent' | 'user', own: string) =>
    seat({ role, chosen: chosen[role], own, settings }, given, domain, io);
  return {
    seed,
    basis,
    ...(turnCap === undefined ? {} : { turnCap }),
    agentFor: (task) => seatOf('agent', task.agent ?? domain.file.agent),
    user: seatOf('user', userSeatFor(domain.file, basis)),
    ...(judge === undefined
      ? {}
      : { judge: seat({ role: 'judge', chosen: judge, own: '', settings }, given, domain, io) }),
    toolSettings: { ...settings.tools, ...rateLimitOf(given) },
  };
}

/**
 * Throws a `UsageError` for tasks without turns for a scripted seat. Such a rollout ends at the first turn of that seat,
 * and its result says nothing about an agent.
 */
export function requireScripts(tasks: readonly Task[], seats: Pick<BatchOptions, 'agent' | 'agentFor' | 'user'>): void {
  const seatOf = (role: 'agent' | 'user', task: Task) => (role === 'agent' && seats.agentFor?.(task)) || seats[role];
  for (const [role, key, isScripted] of [
    ['agent', 'script', ({ script }: Task) => script !== undefined],
    ['user', 'user.script', ({ user }: Task) => (user.script ?? user.otherwise) !== undefined],
  ] as const) {
    const lacking = tasks.filter((task) => seatOf(role, task).type === 'scripted' && !isScripted(task));
    if (lacking.length === 0) continue;
    const written = tasks.filter(isScripted).map(({ id }) => id);
    const others = written.length === 0 ? '' : `, choose tasks that have it (${someOf(written)})`;
    throw new UsageError(
      `the scripted ${role} cannot play ${lacking.length} of ${counted(tasks.length, 'task')}, because they have no \`${key}\`: ` +
        `${someOf(lacking.map(({ id }) => id))}. Write the turns${others}, or choose another seat with --${role}`,
    );
  }
}

type AskedSeat = {
  readonly role: 'agent' | 'user' | 'judge';
  readonly chosen: string | undefined;
  /** The text of the domain. */
  readonly own: string;
  readonly settings: SeatSettings;
};

function seat(asked: AskedSeat, given: GivenRollout, { file, folder }: LoadedDomain, io: Io): SeatSpec {
  const spec = chosenSeat(asked.role, asked.chosen, asked.own, folder, io);
  return withModel(spec, (model) => settledModel({ ...model, ...timesOf(given) }, asked, file, io.environment));
}

/**
 * A model with the settings of its seat: those of the domain, and over them a person's. Headers of each go only to a
 * model that the same of them names. Throws a `Fault` with the code `key/origin` where a header would send a key to an
 * address that it does not belong to.
 */
export function settledModel(
  model: ModelSeat,
  { role, chosen, own, settings }: AskedSeat,
  file: DomainFile,
  environment: NodeJS.ProcessEnv,
): ModelSeat {
  const ofDomain = settingsOfDomain(file, role, chosen === undefined ? own : null);
  const { headers: _, ...rest } = settings[role] ?? {};
  const settled = withSettings(withSettings(model, ofDomain), chosen === undefined ? rest : settings[role]);
  throwUnlessHeadersAllowed(settled, environment);
  return settled;
}

/**
 * The seat that a person chose, else the one that the domain names. A person's agent file may be where the person is,
 * too. Throws a `UsageError` for what is not a seat.
 * @param folder of the domain
 */
export function chosenSeat(
  role: AskedSeat['role'],
  chosen: string | undefined,
  own: string,
  folder: string,
  { cwd, environment }: Pick<Io, 'cwd' | 'environment'>,
): SeatSpec {
  const named = chosen ?? own;
  if (role === 'judge' && !namedModel(named))
    throw new UsageError(`the judge is a model, openai:MODEL[@BASE_URL], not "${named}"`);
  const [from, folders] = chosen === undefined ? (['domain', [folder]] as const) : (['person', [cwd, folder]] as const);
  const parsed = parseSeat(named, role === 'user' ? 'user' : 'agent', from, environment, folders);
  if (typeof parsed === 'string') throw new UsageError(parsed);
  return parsed;
}

/** The times that a person gives a model, in ms. */
export type GivenTimes = Pick<GivenRollout, 'timeout' | 'rateLimitWait'>;

/** Returns the settings of --timeout and --rate-limit-wait. */
export function timesOf({ timeout: timeoutMs, ...given }: GivenTimes): Pick<ModelSeat, 'timeoutMs' | 'rateLimitMs'> {
  return { ...(timeoutMs === undefined ? {} : { timeoutMs }), ...rateLimitOf(given) };
}

/** Returns the setting of --rate-limit-wait. */
export function rateLimitOf({
  rateLimitWait: rateLimitMs,
}: Pick<GivenTimes, 'rateLimitWait'>): Pick<ModelSeat, 'rateLimitMs'> {
  return rateLimitMs === undefined ? {} : { rateLimitMs };
}

/** More rollouts than one run's folder, ledger and memory are made for. */
const mostRollouts = 1_000_000;

/** Throws a `UsageError` where so many trials of each task are more rollouts than make sense. */
export function throwIfTooMany(trials: number, tasks: number): void {
  if (tasks * trials > mostRollouts)
    throw new UsageError(
      `--trials ${trials} makes ${(tasks * trials).toLocaleString('en')} rollouts, and a run has ${mostRollouts.toLocaleString('en')} at most. Lower it, or choose fewer tasks`,
    );
}

/**
 * Says why no one knows the domain of a recording.
 * @param advice how a person names it
 */
export function unknownDomain(recording: string, advice: string): UsageError {
  const folder = dirname(recording);
  const run = readRunFile(folder);
  const why =
    typeof run === 'string' ? run : `${join(folder, runFileName)} names the folder ${run.folder}, which does not exist`;
  return new UsageError(`${recording}: which domain was it recorded in? ${why}. ${advice}`);
}
