import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { runFiles } from '../../engine/shell/runFiles.ts';
import { byStep } from '../../engine/shell/trainingRun.ts';
import { type Io, UsageError } from '../io.ts';
import { engineCommand } from '../training/engineCommand.ts';
import { throwUnlessRoomFor } from './diskRoom.ts';
import { askFarSide, callFarSide } from './farSide.ts';
import { domainsOf, keysOf } from './keys.ts';
import { had, mirror } from './mirror.ts';
import { needsOf } from './needs.ts';
import { throwIfFailed } from './runFolder.ts';
import { readAddress, type SshAddress } from './sshAddress.ts';
import { type FarRun, followFarRun } from './sshFollow.ts';
import { farPython, lookAt, type Machine, roomElsewhere } from './sshPreflight.ts';
import type { Launch, Target } from './target.ts';
import { didNotStart, environmentFault, noCheckpoint, refusedOptions } from './targetFaults.ts';
import { broughtBy, bytesIn, listed, placeOfTree, programTrees, sendTrees, type Tree } from './trees.ts';

/** What was made ready on the target for a launch. */
type Ready = {
  readonly python: string;
  readonly node: string;
  readonly engine: string;
  readonly trainer: string;
  readonly keys: Readonly<Record<string, string>>;
};

/**
 * Training on another machine, with the system's ssh: so with the user's own configuration, keys and agents.
 * @param name its address
 * @param given the Python there that makes the trainer's environment
 */
export function sshTarget(name: string, given: string | undefined): Target {
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
  const farRun = (run: string): FarRun => ({ address, python, folder: `${address.folder}/runs/${basename(run)}` });
  let machine: Machine | undefined;
  let ready: Ready | undefined;
  return {
    name: host,
    preflight: async (launch, io) => {
      io.err(`looking at ${host}\n`);
      const keys = keysOf(launch, io.environment);
      const { engine, trainer } = programTrees();
      const command = await python();
      const bytes = bytesIn([engine, trainer, ...broughtBy(launch, '').trees]);
      machine = await lookAt(address, command, launch, bytes, keys);
    },
    prepare: async (launch, io) => {
      ready = await prepare(address, await python(), machineOf(machine), launch, io);
    },
    start: async (launch, io) => {
      if (!ready) throw new Error('a run is prepared before it is started');
      rmSync(join(launch.run, runFiles.stop), { force: true });
      return start(address, await python(), machineOf(machine), ready, launch, io);
    },
    follow: async (run, io) => {
      if (await followFarRun(run, farRun(run), io)) throwIfFailed(run);
    },
    stop: async (run) => {
      const { folder } = farRun(run);
      const { isRunning } = await askFarSide<{ isRunning: boolean }>(address, await python(), { do: 'stop', folder });
      if (!isRunning) throw new UsageError(`${run} is not being trained on ${host}`);
      writeFileSync(join(run, runFiles.stop), '');
    },
    fetch: async (run, checkpoint) => fetchCheckpoint(run, checkpoint, farRun(run)),
  };
}

function machineOf(machine: Machine | undefined): Machine {
  if (!machine) throw new Error('a target is looked at before it is used');
  return machine;
}

async function bring(address: SshAddress, python: string, trees: readonly Tree[], io: Io): Promise<void> {
  const request = { do: 'bring', trees: listed(trees) };
  const call = await callFarSide(address, python, request, { signal: io.signal });
  const line = await call.answers.line();
  if (line !== null) {
    const { want } = JSON.parse(line) as { readonly want: readonly string[] };
    if (want.length > 0) io.err(`copying ${want.length} files to ${address.host}\n`);
    await sendTrees(call, trees, want);
  }
  await call.end();
}

async function prepare(
  address: SshAddress,
  python: string,
  { folder }: Machine,
  launch: Launch,
  io: Io,
): Promise<Ready> {
  const { signal } = io;
  const { engine, trainer } = programTrees();
  const { trees, config } = broughtBy(launch, folder);
  await bring(address, python, [engine, trainer, ...trees], io);
  const keys = keysOf(launch, io.environment);
  const programs = { trainer: placeOfTree(folder, trainer), engine: `${placeOfTree(folder, engine)}/rehearsal.mjs` };
  const making = await callFarSide(
    address,
    python,
    { do: 'environment', ...programs },
    {
      signal,
      onWords: (line) => io.err(`${line}\n`),
    },
  );
  const made = await making.answers.line();
  await making.end();
  const { python: own } = JSON.parse(made ?? '{}') as { readonly python: string };
  io.err(`trying out what the run needs on ${address.host}\n`);
  const tried = await askFarSide<{ readonly node: string; readonly failed?: string; readonly words: string }>(
    address,
    python,
    {
      do: 'try',
      ...programs,
      python: own,
      kind: launch.kind,
      config: { ...config, run: `${folder}/runs/${basename(launch.run)}` },
      domains: domainsOf(launch.config).map((domain) => domainThere(launch, folder, domain)),
      environment: keys,
    },
    { signal },
  );
  if (tried.failed) throw trialFault(address, tried.failed, tried.words ?? '', launch);
  const { disk, free } = needsOf(tried.words);
  throwUnlessRoomFor(launch.disk ?? disk, free, `in ${folder} on ${address.host}`, roomElsewhere);
  return { ...programs, python: own, node: tried.node, keys };
}

/** Where a domain of this machine lies on the target. */
function domainThere(launch: Launch, folder: string, domain: string): string {
  const { config } = broughtBy({ ...launch, config: { domain } }, folder);
  return String(config['domain']);
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
  address: SshAddress,
  python: string,
  { folder }: Machine,
  ready: Ready,
  launch: Launch,
  io: Io,
): Promise<{ readonly pid: number | undefined }> {
  const { trees, config } = broughtBy(launch, folder);
  await bring(address, python, trees, io);
  const run = `${folder}/runs/${basename(launch.run)}`;
  const engine = { engine_command: engineCommand(ready.node, ready.engine), engine_cwd: run };
  const { pid, failed } = await askFarSide<{ readonly pid?: number; readonly failed?: string }>(address, python, {
    do: 'start',
    folder: run,
    kind: launch.kind,
    resume: launch.isResumed,
    config: { ...config, run, ...('engine_command' in config ? engine : {}) },
    python: ready.python,
    node: ready.node,
    trainer: ready.trainer,
    environment: ready.keys,
  });
  if (failed !== undefined) throw didNotStart(failed, address);
  return { pid };
}

/** A checkpoint appears here when it is whole; one that was cut goes on where it was. */
async function fetchCheckpoint(run: string, name: string | undefined, far: FarRun): Promise<string> {
  const { address, folder } = far;
  const python = await far.python();
  const { checkpoints } = await askFarSide<{ readonly checkpoints: string[] }>(address, python, {
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
  await mirror(coming, await callFarSide(address, python, request), () => undefined);
  rmSync(place, { recursive: true, force: true });
  renameSync(coming, place);
  return place;
}
