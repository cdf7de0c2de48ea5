import { existsSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { userSeatFor } from '../../../engine/core/domain/domain.ts';
import { type AskedSettings, type ModelSeat, type SeatSpec, withModel } from '../../../engine/core/domain/seatSpec.ts';
import { domainBeside } from '../../../engine/shell/domain/domainBeside.ts';
import type { LoadedDomain } from '../../../engine/shell/domain/loadDomain.ts';
import type { AskPerson, OnModel } from '../../../engine/shell/externalSeats.ts';
import { runsIn } from '../../../engine/shell/files/workFolders.ts';
import type { ReadKey } from '../../../engine/shell/models/modelSettings.ts';
import { parseSeat } from '../../../engine/shell/models/parseSeat.ts';
import { signingKey } from '../../../engine/shell/records/ledger.ts';
import { readRecording } from '../../../engine/shell/records/recording.ts';
import { recordingEnding, recordingName, rolloutName } from '../../../engine/shell/records/recordingName.ts';
import { makeNewRunFolder, removeUnbegunRun } from '../../../engine/shell/records/runName.ts';
import { openRun } from '../../../engine/shell/runs/batch.ts';
import { throwUnlessNamed } from '../../options/modelSettings.ts';
import { hasRun, requireOutFolder } from '../../options/outFolder.ts';
import {
  chosenSeat,
  rateLimitOf,
  requireScripts,
  settledModel,
  taskNamed,
  timesOf,
  unknownDomain,
} from '../../options/rolloutOptions.ts';
import { UsageError } from '../../terminal/io.ts';
import type { Configuration } from '../rollout/configuration.ts';
import { Debuggee } from '../rollout/debuggee.ts';
import type { Engine } from '../rollout/engine.ts';
import type { PresentPlaces } from '../rollout/presentPlaces.ts';
import type { CheckpointSeat } from './checkpointSeat.ts';
import { receiptOfClosed, signFork } from './receipts.ts';

/** The parts of the session that a debuggee uses. */
export type Host = {
  readonly readKey: ReadKey;
  readonly checkpoint: CheckpointSeat;
  readonly askPerson: AskPerson;
  readonly log: (text: string) => void;
  /** Receives every call to a model. */
  readonly onModel: OnModel;
  /** Called as soon as the domain is read, before anything of it runs. Breakpoints can be set from here on. */
  readonly onDomain: (places: PresentPlaces) => void;
  /** Whether a JavaScript debugger may attach to the worker. */
  readonly inspectable: boolean;
  readonly engine: Engine;
};

/** Starts a rollout of the configured task in its own run. Throws what a person can read. */
export async function launched(configuration: Configuration, host: Host): Promise<Debuggee> {
  const { domain: folder } = configuration;
  if (!folder) throw new UsageError('the launch configuration names no domain (the folder with domain.yaml)');
  const discard = host.engine.startWorkerEarly(folder, host.inspectable);
  try {
    return await begun(host.engine.openDomain(resolve(folder)), configuration, host);
  } finally {
    discard();
  }
}

async function begun(domain: LoadedDomain, configuration: Configuration, host: Host): Promise<Debuggee> {
  const { seed, trial, basis, turnCap } = configuration;
  const task = taskNamed(domain, configuration.task, domain.folder);
  await host.checkpoint.open(configuration, domain.file.dialect);
  const seatOf = seatsOf(configuration, domain, host.checkpoint.environment);
  const agent = seatOf('agent', configuration.agent, task.agent ?? domain.file.agent);
  const user = seatOf('user', configuration.user, userSeatFor(domain.file, basis));
  requireScripts([task], { agent, user });
  const forkAgent = configuration.forkAgent
    ? seatOf('agent', configuration.forkAgent)
    : agent.type === 'scripted'
      ? ({ type: 'gold' } as const)
      : agent;
  const asked = { ...judgeOf(configuration, seatOf), toolSettings: toolSettingsOf(configuration) };
  const debuggee = new Debuggee({ domain, agent, user, forkAgent, ...asked, ...host });
  host.onDomain(debuggee.places);
  const runs = configuration.runs ?? runsIn(domain.folder);
  const run = configuration.run ?? makeNewRunFolder(runs, task.id);
  requireOutFolder(run, hasRun);
  const recording = join(run, recordingName(rolloutName(task, trial)));
  // A finished recording has a receipt, which a second rollout in its place would make invalid.
  if (existsSync(recording))
    throw new UsageError(`${recording} is a recording already. Name a new folder with --out, or debug the recording`);
  const capped = turnCap === undefined ? {} : { turnCap };
  const priced = configuration.prices ? { prices: configuration.prices } : {};
  const key = signingKey();
  const planned = [rolloutName(task, trial)];
  const seats = { agent, user, ...asked };
  try {
    const open = openRun(run, await debuggee.openedDomain(), {
      ...{ seed, trials: 1, basis, ...seats, tasks: [task], planned, key, ...capped, ...priced },
    });
    debuggee.onClosed = (recording, closed) => {
      const receipt = receiptOfClosed(debuggee.domain, recording, closed);
      if (receipt) open.receive(receipt);
      if (receipt) open.finish();
    };
    await debuggee.launch({ task, seed, trial, basis, recording, ...capped });
  } catch (error) {
    await debuggee.close();
    if (configuration.run === undefined) removeUnbegunRun(run);
    throw error;
  }
  return debuggee;
}

/** Opens a recording to be stepped through; nothing runs until it is forked. Throws what a person can read. */
export async function attached(configuration: Configuration, host: Host): Promise<Debuggee> {
  const { recording: given, domain: named } = configuration;
  if (!given)
    throw new UsageError(`the attach configuration names no recording (a file that ends in ${recordingEnding})`);
  const recording = resolve(given);
  if (!existsSync(recording)) throw new UsageError(`${recording}: there is no such recording`);
  const folder = named ?? domainBeside(recording);
  if (!folder) throw unknownDomain(recording, 'Name its folder as "domain" in the configuration');
  const domain = host.engine.openDomain(resolve(folder));
  await host.checkpoint.open(configuration, domain.file.dialect);
  const seatOf = seatsOf(configuration, domain, host.checkpoint.environment);
  const forkAgent = seatOf('agent', configuration.forkAgent ?? configuration.agent ?? 'gold');
  const user =
    configuration.user === undefined
      ? timed(recordedUser(recording), configuration, (model) =>
          settledModel(
            model,
            { role: 'user', chosen: undefined, own: '', settings: configuration.models ?? {} },
            domain.file,
            host.checkpoint.environment,
          ),
        )
      : seatOf('user', configuration.user);
  const debuggee = new Debuggee({
    ...{ domain, agent: { type: 'gold' }, user, forkAgent, toolSettings: toolSettingsOf(configuration) },
    ...judgeOf(configuration, seatOf),
    ...host,
  });
  debuggee.onClosed = (fork, closed) => {
    const receipt = receiptOfClosed(debuggee.domain, fork, closed);
    const why = receipt && signFork(fork, receipt);
    if (why) host.log(`${basename(fork)} gets no receipt: ${why}`);
  };
  debuggee.attach(recording, configuration.step);
  host.onDomain(debuggee.places);
  return debuggee;
}

/** The user's seat of a recording; a seat that can't be taken again is left to the agenda. */
function recordedUser(recording: string): SeatSpec {
  const started = readRecording(recording).lines[0]?.event;
  const parsed = started?.type === 'rolloutStarted' ? parseSeat(started.seats.user, 'user', 'domain') : 'none';
  return typeof parsed === 'string' ? { type: 'agenda' } : parsed;
}

/** Gives the seat that a configuration names, else the domain's own. */
function seatsOf(configuration: Configuration, { folder, file }: LoadedDomain, environment: NodeJS.ProcessEnv) {
  const here = { cwd: process.cwd(), environment };
  const { models: settings = {}, agent, forkAgent, user, judge } = configuration;
  const where = { headers: '"models" of the launch configuration', seat: '' };
  throwUnlessNamed(settings, { agent: agent ?? forkAgent, user, judge }, where);
  return (role: 'agent' | 'user' | 'judge', chosen: string | undefined, own = ''): SeatSpec =>
    timed(chosenSeat(role, chosen, own, folder, here), configuration, (model) =>
      settledModel(model, { role, chosen, own, settings }, file, environment),
    );
}

function judgeOf({ judge }: Configuration, seatOf: ReturnType<typeof seatsOf>): { readonly judge?: SeatSpec } {
  return judge === undefined ? {} : { judge: seatOf('judge', judge) };
}

/** Gives a model the times of a configuration, and then its other settings. */
function timed(spec: SeatSpec, configuration: Configuration, settle: (model: ModelSeat) => ModelSeat): SeatSpec {
  return withModel(spec, (model) => settle({ ...model, ...timesOf(configuration) }));
}

function toolSettingsOf(configuration: Configuration): AskedSettings {
  return { ...configuration.models?.tools, ...rateLimitOf(configuration) };
}
