import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { runFiles } from '../../../engine/shell/records/runFiles.ts';
import { byStep } from '../../../engine/shell/records/trainingRun.ts';
import { engineCommand } from '../../python/engineCommand.ts';
import type { Interpreter } from '../../python/pythonEnvironment.ts';
import { type Io, UsageError } from '../../terminal/io.ts';
import { approvedThere } from '../approved.ts';
import { throwUnlessRoomFor } from '../diskRoom.ts';
import { planFor } from '../gpus.ts';
import { domainsOf, keysOf } from '../keys.ts';
import { had, mirror } from '../mirror.ts';
import { needsOf } from '../needs.ts';
import { type Programs, programsOf } from '../programs.ts';
import { throwIfFailed } from '../runFolder.ts';
import type { Launch, Prepared, Target } from '../target.ts';
import { didNotStart, environmentFault, noCheckpoint, refusedOptions } from '../targetFaults.ts';
import { type Brought, broughtBy, bytesIn, listed, placeOfTree, sendTrees, type Tree } from '../trees.ts';
import { readAddress, type SshAddress } from './address.ts';
import { followRemoteRun, type RemoteRun } from './follow.ts';
import { environmentDownload, farPython, lookAt, type Machine, roomElsewhere } from './preflight.ts';
import { askRemoteAgent, callRemoteAgent } from './remoteAgent.ts';

/** The results of checking a machine for a launch. */
type Found = {
  readonly address: SshAddress;
  /** The Python there that runs the remote agent and makes the trainer's environment. */
  readonly python: string;
  readonly machine: Machine;
  readonly programs: Programs;
  readonly brought: Brought;
  readonly keys: Readonly<Record<string, string>>;
};

/** The programs and folders that were prepared on the target. */
type Ready = {
  /** Starts the trainer. */
  readonly python: readonly string[];
  readonly node: string;
  readonly engine: string;
  readonly trainer: string;
};

/**
 * Training on another machine, with the system's ssh: so with the user's own configuration, keys and agents.
 * @param name its address
 * @param given an existing Python there that trains as it is
 */
export function sshTarget(name: string, given: Interpreter | undefined): Target {
  const address = readAddress(name);
  const { host } = address;
  let found: Promise<string> | undefined;
  const python = (): Promise<string> => {
    found ??= farPython(address, given);
    found.catch(() => {
      found = undefined;
    });
    return found;
  };
  const remoteRun = (run: string): RemoteRun => ({
    address,
    python,
    folder: `${address.folder}/runs/${basename(run)}`,
  });
  return {
    name: host,
    preflight: async (asked, io) => {
      io.err(`looking at ${host}\n`);
      const approved = approvedThere(asked, io.environment);
      const keys = { ...keysOf(asked, io.environment), ...approved };
      const programs = await programsOf();
      const command = await python();
      const brought = broughtBy(asked);
      const bytes = bytesIn([programs.engine, programs.trainer, ...brought.trees]);
      const { machine, launch, reason } = await lookAt(address, command, asked, bytes, keys);
      const found = { address, python: command, machine, programs, brought, keys };
      const environment = environmentDownload(machine, launch);
      const plan = {
        ...planFor(host, launch, machine.gpus, reason),
        downloads: [{ what: `copied to ${host}`, bytes }, ...environment],
      };
      return { launch, plan, prepare: () => prepare(found, launch, io) };
    },
    follow: async (run, io) => {
      if (await followRemoteRun(run, remoteRun(run), io)) throwIfFailed(run);
    },
    stop: async (run) => {
      const { folder } = remoteRun(run);
      const { isRunning } = await askRemoteAgent<{ isRunning: boolean }>(address, await python(), {
        do: 'stop',
        folder,
      });
      if (!isRunning) throw new UsageError(`${run} is not being trained on ${host}`);
      writeFileSync(join(run, runFiles.stop), '');
    },
    fetch: async (run, checkpoint) => fetchCheckpoint(run, checkpoint, remoteRun(run)),
  };
}

async function bring({ address, python }: Found, trees: readonly Tree[], io: Io): Promise<void> {
  const request = { do: 'bring', trees: listed(trees) };
  const call = await callRemoteAgent(address, python, request, { signal: io.signal });
  const line = await call.answers.line();
  if (line !== null) {
    const { want } = JSON.parse(line) as { readonly want: readonly string[] };
    if (want.length > 0) io.err(`copying ${want.length} files to ${address.host}\n`);
    await sendTrees(call, trees, want);
  }
  await call.end();
}

async function prepare(found: Found, launch: Launch, io: Io): Promise<Prepared> {
  const { signal } = io;
  const { address, python, keys } = found;
  const { folder } = found.machine;
  const { engine, trainer, wheel } = found.programs;
  const { trees, placedIn } = found.brought;
  await bring(found, [engine, trainer, ...trees], io);
  const programs = {
    trainer: `${folder}/trainers/${wheel.sha256}`,
    engine: `${placeOfTree(folder, engine)}/rehearsal.mjs`,
  };
  const packed = { path: `${placeOfTree(folder, trainer)}/${wheel.name}`, sha256: wheel.sha256 };
  const call = await callRemoteAgent(
    address,
    python,
    { do: 'environment', ...programs, wheel: packed, ...(launch.python ? { existing: launch.python } : {}) },
    {
      signal,
      ...(launch.python ? {} : { onWords: (line: string) => io.err(`${line}\n`) }),
    },
  );
  const made = await call.answers.line();
  await call.end();
  const { python: own, node } = JSON.parse(made ?? '{}') as {
    readonly python: readonly string[];
    readonly node: string;
  };
  io.err(`checking on ${address.host} what the run needs\n`);
  const tried = await askRemoteAgent<{ readonly failed?: string; readonly words: string }>(
    address,
    python,
    {
      do: 'try',
      ...programs,
      python: own,
      node,
      kind: launch.kind,
      config: { ...placedIn(folder, launch.config), run: runThere(found, launch) },
      domains: placedIn(folder, domainsOf(launch.config)),
      environment: keys,
    },
    { signal },
  );
  if (tried.failed) throw trialFault(address, tried.failed, tried.words ?? '', launch);
  const { disk, free } = needsOf(tried.words);
  throwUnlessRoomFor(launch.disk ?? disk, free, `in ${folder} on ${address.host}`, roomElsewhere);
  const ready = { ...programs, python: own, node };
  return { start: () => start(found, ready, launch, io) };
}

function runThere({ machine }: Found, { run }: Launch): string {
  return `${machine.folder}/runs/${basename(run)}`;
}

function trialFault({ host }: SshAddress, failed: string, words: string, launch: Launch): Error {
  switch (failed) {
    case 'options':
      return refusedOptions(launch, words);
    case 'tools':
      return environmentFault('target/tools', `the tools of the domain don't start on ${host}: ${words}`);
    default:
      return environmentFault('target/engine', `the engine does not start on ${host}: ${words}`);
  }
}

async function start(
  found: Found,
  ready: Ready,
  launch: Launch,
  io: Io,
): Promise<{ readonly pid: number | undefined }> {
  const { address, python, machine, keys } = found;
  rmSync(join(launch.run, runFiles.stop), { force: true });
  // What SFT learns from may have been played since the machine was looked at.
  const { trees, placedIn } = broughtBy(launch);
  await bring(found, trees, io);
  const run = runThere(found, launch);
  const engine = { engine_command: engineCommand(ready.node, ready.engine), engine_cwd: run };
  const { pid, failed } = await askRemoteAgent<{ readonly pid?: number; readonly failed?: string }>(address, python, {
    do: 'start',
    folder: run,
    kind: launch.kind,
    resume: launch.isResumed,
    config: {
      ...placedIn(machine.folder, launch.config),
      run,
      ...('engine_command' in launch.config ? engine : {}),
    },
    python: ready.python,
    node: ready.node,
    trainer: ready.trainer,
    environment: keys,
  });
  if (failed !== undefined) throw didNotStart(failed, address);
  return { pid };
}

/** A checkpoint appears here when it is whole; one that was cut continues where it was. */
async function fetchCheckpoint(run: string, name: string | undefined, remote: RemoteRun): Promise<string> {
  const { address, folder } = remote;
  const python = await remote.python();
  const { checkpoints } = await askRemoteAgent<{ readonly checkpoints: string[] }>(address, python, {
    do: 'checkpoints',
    folder,
  });
  const chosen = name ?? checkpoints.sort(byStep).at(-1);
  if (chosen === undefined || !checkpoints.includes(chosen)) throw noCheckpoint(run, chosen, checkpoints, address.host);
  const coming = join(run, runFiles.checkpoints, `.${chosen}`);
  const place = join(run, runFiles.checkpoints, chosen);
  const request = {
    do: 'follow',
    folder: `${folder}/${runFiles.checkpoints}/${chosen}`,
    once: true,
    have: await had(coming),
  };
  await mirror(coming, await callRemoteAgent(address, python, request), () => undefined);
  rmSync(place, { recursive: true, force: true });
  renameSync(coming, place);
  return place;
}
