import { existsSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { userSeatFor } from '../../engine/core/domain.ts';
import { openRun, rolloutName } from '../../engine/shell/batch.ts';
import { startLaneEarly } from '../../engine/shell/lane/laneChild.ts';
import { signingKey } from '../../engine/shell/ledger.ts';
import type { LoadedDomain } from '../../engine/shell/load/loadDomain.ts';
import type { AskPerson, OnModel, ReadKey } from '../../engine/shell/outside.ts';
import { readRecording } from '../../engine/shell/recording.ts';
import { runName } from '../../engine/shell/runName.ts';
import { parseSeat, type SeatSpec, withModel } from '../../engine/shell/seats/seatSpec.ts';
import { UsageError } from '../io.ts';
import { domainBeside, openDomainAt, taskNamed } from '../rolloutOptions.ts';
import type { Configuration } from './configuration.ts';
import { Debuggee } from './debuggee.ts';
import { receiptOfClosed, signFork } from './receipts.ts';

/** What a debuggee needs of the session around it. */
export type Host = {
  readonly readKey: ReadKey;
  readonly askPerson: AskPerson;
  readonly log: (text: string) => void;
  /** Told of every call to a model. */
  readonly onModel: OnModel;
  /** Told as soon as the domain is read, before anything of it runs: breakpoints can be set from here on. */
  readonly onDomain: (domain: LoadedDomain) => void;
};

/** Starts a rollout of the configured task in a run of its own. Throws what a person can read. */
export async function launched(configuration: Configuration, host: Host): Promise<Debuggee> {
  const { domain: folder } = configuration;
  if (!folder) throw new UsageError('the launch configuration names no domain (the folder with domain.yaml)');
  const discard = startLaneEarly(folder);
  try {
    return await begun(openDomainAt(resolve(folder)), configuration, host);
  } finally {
    discard();
  }
}

async function begun(domain: LoadedDomain, configuration: Configuration, host: Host): Promise<Debuggee> {
  const { seed, trial, basis, turnCap } = configuration;
  const task = taskNamed(domain, configuration.task);
  const { timeout } = configuration;
  const { folder } = domain;
  const agent = timed(chosenSeat(configuration.agent, task.agent ?? domain.file.agent, 'agent', folder), timeout);
  const user = timed(chosenSeat(configuration.user, userSeatFor(domain.file, basis), 'user', folder), timeout);
  const forkAgent = configuration.forkAgent
    ? timed(seat(configuration.forkAgent, 'agent', folder), timeout)
    : agent.type === 'scripted'
      ? ({ type: 'gold' } as const)
      : agent;
  host.onDomain(domain);
  const debuggee = new Debuggee({ domain, agent, user, forkAgent, ...host });
  const runs = configuration.runs ?? join(domain.folder, '.rehearsal', 'runs');
  const run = freeFolder(join(runs, runName(task.id)));
  const receive = openRun(run, domain, { seed, trials: 1, basis, agent, user, tasks: [task], key: signingKey() });
  debuggee.onClosed = (recording, closed) => {
    const receipt = receiptOfClosed(domain, recording, closed);
    if (receipt) receive(receipt);
  };
  const recording = join(run, `${rolloutName(task, trial)}.traj.jsonl`);
  await debuggee.launch({ task, seed, trial, basis, recording, ...(turnCap === undefined ? {} : { turnCap }) });
  return debuggee;
}

/** Opens a recording to be stepped through; nothing runs until it is forked. Throws what a person can read. */
export function attached(configuration: Configuration, host: Host): Debuggee {
  const { recording: given, domain: named } = configuration;
  if (!given) throw new UsageError('the attach configuration names no recording (a file that ends in .traj.jsonl)');
  const recording = resolve(given);
  if (!existsSync(recording)) throw new UsageError(`${recording}: there is no such recording`);
  const folder = named ?? domainBeside(recording);
  if (!folder)
    throw new UsageError(
      `${recording}: which domain was it recorded in? Name its folder as "domain" in the configuration`,
    );
  const domain = openDomainAt(resolve(folder));
  const { timeout } = configuration;
  const forkAgent = timed(
    seat(configuration.forkAgent ?? configuration.agent ?? 'gold', 'agent', domain.folder),
    timeout,
  );
  const user = timed(
    configuration.user === undefined ? recordedUser(recording) : seat(configuration.user, 'user', domain.folder),
    timeout,
  );
  const debuggee = new Debuggee({ domain, agent: { type: 'gold' }, user, forkAgent, ...host });
  debuggee.onClosed = (fork, closed) => {
    const receipt = receiptOfClosed(domain, fork, closed);
    const why = receipt && signFork(fork, receipt);
    if (why) host.log(`${basename(fork)} gets no receipt: ${why}`);
  };
  debuggee.attach(recording);
  host.onDomain(domain);
  return debuggee;
}

/** The user's seat of a recording; a seat that can't be taken again is left to the agenda. */
function recordedUser(recording: string): SeatSpec {
  const started = readRecording(recording).lines[0]?.event;
  const parsed = started?.type === 'rolloutStarted' ? parseSeat(started.seats.user, 'user', 'domain') : 'none';
  return typeof parsed === 'string' ? { type: 'agenda' } : parsed;
}

function chosenSeat(chosen: string | undefined, own: string, which: 'agent' | 'user', folder: string): SeatSpec {
  return chosen === undefined ? seat(own, which, folder, 'domain') : seat(chosen, which, folder);
}

/** @param folder of the domain, where an agent's file may stand */
function seat(text: string, which: 'agent' | 'user', folder: string, from: 'person' | 'domain' = 'person'): SeatSpec {
  const parsed = parseSeat(text, which, from, process.env, from === 'person' ? [process.cwd(), folder] : [folder]);
  if (typeof parsed === 'string') throw new UsageError(parsed);
  return parsed;
}

/** @param timeout seconds that a model may take for one response */
function timed(spec: SeatSpec, timeout: number | undefined): SeatSpec {
  return timeout === undefined ? spec : withModel(spec, (model) => ({ ...model, timeoutMs: timeout * 1000 }));
}

/** Two sessions of one second are two runs. */
function freeFolder(folder: string): string {
  for (let number = 1; ; number += 1) {
    const path = number === 1 ? folder : `${folder}-${number}`;
    if (!existsSync(path)) return path;
  }
}
