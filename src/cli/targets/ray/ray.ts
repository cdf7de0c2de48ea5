import { randomBytes } from 'node:crypto';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { setTimeout as setTimer } from 'node:timers/promises';
import { runFiles } from '../../../engine/shell/records/runFiles.ts';
import { engineCommand } from '../../python/engineCommand.ts';
import { trainerFolder } from '../../python/pythonEnvironment.ts';
import { type Io, UsageError } from '../../terminal/io.ts';
import { shellWord } from '../../terminal/shellWord.ts';
import { approvedThere } from '../approved.ts';
import { throwUnlessRoomFor } from '../diskRoom.ts';
import { domainsOf } from '../keys.ts';
import { needsOf } from '../needs.ts';
import { programsOf } from '../programs.ts';
import { throwIfFailed } from '../runFolder.ts';
import type { Launch, Prepared, Target } from '../target.ts';
import { didNotStart, refusedOptions } from '../targetFaults.ts';
import { broughtBy } from '../trees.ts';
import { fetchFromRay } from './fetch.ts';
import { followJob, jobOfRun, keepJob } from './follow.ts';
import { isOver, RayJobs, wordsOfJob } from './jobs.ts';
import { packageOf, type RayPackage } from './package.ts';
import { lookAtCluster } from './preflight.ts';

/** The module that a job runs, by kind of training. */
const modules = {
  grpo: 'rehearsal_trainer.backends.verl.job',
  sft: 'rehearsal_trainer.backends.verl.sft_job',
} as const;

/**
 * Ray kills a job three seconds after it asked it to end, which is too short for a busy machine to write the last event
 * of a run; in seconds, and read by Ray's own supervisor of the job.
 */
const jobEnvironment = { PYTHONUNBUFFERED: '1', RAY_JOB_STOP_WAIT_TIME_S: '120' };

/**
 * Training with verl on a Ray cluster, as a job of the cluster. The engine, the trainer and the domain travel with the
 * job; checkpoints stay in the cluster's storage until they are fetched.
 * @param name its address, `ray://HOST:8265`
 */
export function rayTarget(name: string, environment: NodeJS.ProcessEnv = process.env): Target {
  const jobs = new RayJobs(name, environment);
  return {
    name: jobs.name,
    ending: 'at once, and continues from its last checkpoint when you resume it',
    preflight: async (asked, io) => {
      const launch = withClusterProfile(asked);
      if (launch.kind === 'evaluate')
        throw new UsageError('a Ray cluster trains with sft and grpo; run evaluate on this machine or over SSH');
      approvedThere(launch, io.environment);
      io.err(`looking at ${jobs.name}\n`);
      await throwIfGoesOn(launch.run, jobs);
      const { gpus, nodes } = await lookAtCluster(jobs, launch, io.signal);
      io.err(`${jobs.name}: ${nodes} machines, ${gpus} GPUs\n`);
      const profile = String(launch.config['profile']);
      const reason = launch === asked ? 'You or the configuration chose it.' : 'The cluster trains on GPUs.';
      const plan = { target: jobs.name, device: `${gpus} GPUs`, profile, reason, downloads: [] };
      return { launch, plan, prepare: () => prepare(jobs, launch, io) };
    },
    follow: async (run, io) => {
      const job = jobOf(run, jobs);
      if (!(await followJob(run, job, jobs, io))) return;
      const { status } = await jobs.job(job);
      throwIfFailed(run, { code: status === 'FAILED' ? 1 : 0, signal: null });
    },
    stop: async (run) => {
      const job = jobOf(run, jobs);
      const found = await jobs.job(job);
      if (isOver(found))
        throw new UsageError(`${run} is not being trained on ${jobs.name}: its job is ${found.status.toLowerCase()}`);
      await jobs.stop(job);
      writeFileSync(join(run, runFiles.stop), '');
    },
    fetch: (run, checkpoint, io) => fetchFromRay(run, checkpoint, jobs, io),
  };
}

/** On a cluster a run that names no profile gets that of one GPU; `paper` is for 32. */
function withClusterProfile(launch: Launch): Launch {
  return launch.config['profile'] === undefined ? { ...launch, config: { profile: 'gpu', ...launch.config } } : launch;
}

/** Throws a `UsageError` where a job of the run is not over: a second one would take its place. */
async function throwIfGoesOn(run: string, jobs: RayJobs): Promise<void> {
  const left = jobOfRun(run);
  const job = left && (await jobs.find(left.job));
  if (job && !isOver(job))
    throw new UsageError(
      `${run} is still running as job ${left.job} of ${jobs.name}: follow it with npx rehearsal train follow ${shellWord(run)}, or stop it first`,
    );
}

function jobOf(run: string, jobs: RayJobs): string {
  const submitted = jobOfRun(run);
  if (!submitted) throw new UsageError(`${run} was not submitted to ${jobs.name}`);
  return submitted.job;
}

function commandOf({ kind, isResumed }: Launch, ...more: readonly string[]): string {
  const module = kind === 'sft' ? modules.sft : modules.grpo;
  return ['python', '-m', module, '--config', 'launch.json', ...(isResumed ? ['--resume'] : []), ...more].join(' ');
}

async function prepare(jobs: RayJobs, launch: Launch, io: Io): Promise<Prepared> {
  const uploaded = await send(jobs, launch, io);
  const check = { entrypoint: commandOf(launch, '--check'), runtime_env: { working_dir: uploaded } };
  const { job, logs } = await jobs.run(check, io.signal);
  const words = wordsOfJob(job, logs);
  if (job.status !== 'SUCCEEDED') throw refusedOptions(launch, words);
  const { disk, free } = needsOf(logs);
  throwUnlessRoomFor(launch.disk ?? disk, free, `in the storage of ${jobs.name}`, 'set storage to another folder');
  // What SFT learns from is played only now, where no recordings were named.
  const complete = async () => (launch.kind === 'sft' ? send(jobs, launch, io) : uploaded);
  return { start: async () => start(jobs, launch, await complete(), io) };
}

/** Makes the package of a run known to the cluster. */
async function send(jobs: RayJobs, launch: Launch, io: Io): Promise<string> {
  const { name, content } = await packageFor(launch);
  io.err(`sending ${(content.length / 1e6).toFixed(1)} MB to ${jobs.name}\n`);
  return jobs.upload(name, content);
}

/** Returns what a job starts in: the trainer's wheel, what loads it, the engine, and what the configuration names. */
async function packageFor(launch: Launch): Promise<RayPackage> {
  const { engine, trainer, wheel } = await programsOf();
  const { trees, placedIn } = broughtBy(launch);
  const folders = Object.fromEntries(trees.map((tree) => [`trees/${tree.hash}/${tree.name}`, tree]));
  const settings = {
    ...placedIn('.', launch.config),
    run: basename(launch.run),
    engine_command: engineCommand('node', 'engine/rehearsal.mjs'),
    engine_cwd: '.',
  };
  if (domainsOf(launch.config).length === 0)
    throw new UsageError(`${String(launch.config['domain'])}: this is not a domain on this machine`);
  const loader = ['install_wheel.py', 'ray_package.py'].map((file) =>
    readFileSync(join(trainerFolder(), file), 'utf8'),
  );
  const texts = {
    'launch.json': `${JSON.stringify(settings, null, 2)}\n`,
    SHA256SUMS: `${wheel.sha256}  ${wheel.name}\n`,
    'rehearsal_trainer/__init__.py': loader.join('\n'),
  };
  return packageOf({ ...folders, engine, '': trainer }, texts);
}

/** Submits the job and waits until it trains, so that what can't begin is reported at once. */
async function start(jobs: RayJobs, launch: Launch, workingDir: string, io: Io): Promise<Record<never, never>> {
  rmSync(join(launch.run, runFiles.stop), { force: true });
  const id = `rehearsal-${basename(launch.run).replace(/[^\w-]/g, '-')}-${randomBytes(3).toString('hex')}`;
  const job = await jobs.submit(
    {
      entrypoint: commandOf(launch),
      submission_id: id,
      runtime_env: {
        working_dir: workingDir,
        env_vars: { ...jobEnvironment, ...approvedThere(launch, io.environment) },
      },
    },
    io.signal,
  );
  keepJob(launch.run, { job, told: 0 });
  io.err(`job ${job} on ${jobs.name}; its log: ${jobs.address}/#/jobs/${job}\n`);
  for (;;) {
    const state = await jobs.job(job);
    if (state.status === 'RUNNING') return {};
    if (state.status !== 'PENDING') throw didNotStart(wordsOfJob(state, await jobs.logs(job)), { host: jobs.name });
    await setTimer(500, undefined, { signal: io.signal });
  }
}
