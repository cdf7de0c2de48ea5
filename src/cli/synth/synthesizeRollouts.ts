import { availableParallelism } from 'node:os';
import { join, resolve } from 'node:path';
import { hostedName } from '../../engine/core/domain/domain.ts';
import { modelOf, type SeatSpec, seatName } from '../../engine/core/domain/seatSpec.ts';
import type { Task } from '../../engine/core/domain/task.ts';
import { taskIn, variantId } from '../../engine/core/domain/taskVariant.ts';
import { counted } from '../../engine/core/text/counted.ts';
import { nameMatches } from '../../engine/core/text/literal.ts';
import type { LoadedDomain } from '../../engine/shell/domain/loadDomain.ts';
import { isPure } from '../../engine/shell/externalSeats.ts';
import { makeRunFolder } from '../../engine/shell/files/disk.ts';
import { workFolders } from '../../engine/shell/files/workFolders.ts';
import { signingKey } from '../../engine/shell/records/ledger.ts';
import type { Meter } from '../../engine/shell/runs/meter.ts';
import { openSupervisor, type Supervisor } from '../../engine/shell/supervisor.ts';
import { balanceOf, balanceText } from '../../synthesis/balanceReport.ts';
import { type Source, synthesize } from '../../synthesis/synthesis.ts';
import { hasSynthesis, readSynthesis, type SynthesisFile, writeSynthesis } from '../../synthesis/synthesisFolder.ts';
import { askAtTerminal } from '../dap/terminal/askAtTerminal.ts';
import { meterOf, pricesOf, spentText } from '../options/budget.ts';
import { inRunFolder } from '../options/outFolder.ts';
import {
  fitTasksNow,
  openDomain,
  type RolloutOptions,
  readRolloutOptions,
  tasksInSplit,
} from '../options/rolloutOptions.ts';
import { type ExitCode, type Io, progress, UsageError } from '../terminal/io.ts';
import { modelWait } from '../terminal/modelWait.ts';
import { statusLine } from '../terminal/statusLine.ts';
import type { SynthOptions } from './synthOptions.ts';

type Played = { readonly domain: LoadedDomain; readonly tasks: readonly Task[]; readonly options: RolloutOptions };

/** `rehearsal synth DOMAIN...`: plays, chooses and writes the folder. */
export async function synthesizeRollouts(options: SynthOptions, domains: readonly string[], io: Io): Promise<ExitCode> {
  const played = playedOf(options, domains, io);
  const file = fileOf(options, played);
  const play = (folder: string) => synthesizeIn(folder, played, file, options, io);
  return inRunFolder(io, options.out, resolve(io.cwd, workFolders.synth), 'synth', play, hasSynthesis);
}

async function synthesizeIn(
  folder: string,
  played: readonly Played[],
  file: SynthesisFile,
  given: SynthOptions,
  io: Io,
): Promise<ExitCode> {
  expectToGoOn(folder, file);
  const prices = pricesOf(given);
  const asked = {
    agent: played.some(({ options }) => modelOf(options.agentFor({})) !== null),
    user: played.some(({ options }) => options.user.type === 'openai'),
    judge: false,
    tools: played.some(({ domain }) => domain.parts.simulated.length > 0),
  };
  const meter = meterOf(given, asked, prices);
  const { concurrency = 16 } = given;
  const key = signingKey();
  makeRunFolder(folder);
  writeSynthesis(folder, file);
  const line = statusLine(io);
  const isQuiet = given.json && !io.terminal;
  const show = progress(io, line);
  const wait = modelWait((said) => io.err(`${said}\n`), io.terminal && !isQuiet ? line : undefined);
  const supervisors: Supervisor[] = [];
  const lost = new Map<string, string>();
  try {
    const sources: Source[] = [];
    for (const each of played) {
      const supervisor = await opened(each, io);
      supervisors.push(supervisor);
      const tasks = fitTasksNow(each.tasks, supervisor.loaded, io);
      sources.push(...sourcesOf({ ...each, tasks }, supervisor, given.teacher !== undefined));
    }
    const selection = await synthesize(sources, {
      ...file,
      ...{ folder, basis: played[0]?.options.basis ?? 'train', concurrency, prices, meter, key, signal: io.signal },
      ...(played[0]?.options.turnCap === undefined ? {} : { turnCap: played[0].options.turnCap }),
      ...(played[0]?.options.toolSettings ? { toolSettings: played[0].options.toolSettings } : {}),
      readKey: (name) => io.environment[name],
      askPerson: askAtTerminal(io),
      onModel: wait.onModel,
      onLost: ({ recording, failure, reason }) => lost.set(recording, failure?.message ?? reason),
      onProgress: (chosen) => show(Math.min(chosen, file.count), file.count, 'rollouts can be chosen'),
    });
    wait.end();
    line.end();
    return conclude(folder, file, selection, { meter, lost: [...lost.values()], json: given.json === true }, io);
  } finally {
    wait.end();
    line.end();
    await Promise.all(supervisors.map((supervisor) => supervisor.close()));
  }
}

function playedOf(given: SynthOptions, named: readonly string[], io: Io): readonly Played[] {
  if (named.length === 0)
    throw new UsageError('name the folders of one domain or more (each with domain.yaml), or grade, export or preview');
  const domains = named.map((name) => openDomain(io, name));
  const names = domains.map(({ file }) => file.name);
  const twice = names.find((name, at) => names.indexOf(name) !== at);
  if (twice !== undefined) throw new UsageError(`two of the domains are named ${twice}: give each a unique name`);
  const patterns = given.under?.split(',') ?? [];
  const nobody = patterns.filter((pattern) => domains.every((domain) => personasOf(domain, [pattern]).length === 0));
  if (nobody.length > 0) throw new UsageError(`none of the domains has a persona ${nobody.join(', ')}`);
  return domains.map((domain) => {
    const { teacher: agent = 'gold', basis = 'train' } = given;
    const options = readRolloutOptions({ ...given, agent, basis }, domain, io);
    const preview = [options.agentFor({}), options.user].find((seat) => modelOf(seat)?.isPreview);
    if (preview)
      throw new UsageError(
        `${seatName(preview)} is a preview, and training never uses previews: name openai:MODEL[@BASE_URL]`,
      );
    const own = tasksInSplit(domain, 'train');
    const under = personasOf(domain, patterns);
    const laid = own.flatMap((task) =>
      under.filter((id) => id !== task.persona).flatMap((id) => taskIn(domain.domain, variantId(task.id, id)) ?? []),
    );
    return { domain, tasks: [...own, ...laid], options };
  });
}

function personasOf({ domain }: LoadedDomain, patterns: readonly string[]): readonly string[] {
  return domain.personas.map(({ id }) => id).filter((id) => patterns.some((pattern) => nameMatches(id, pattern)));
}

function fileOf(
  { teacher = 'gold', count = 2000, nearMisses = 0.25, seed = '1' }: SynthOptions,
  played: readonly Played[],
): SynthesisFile {
  return {
    format: 1,
    domains: played.map(({ domain }) => ({ name: domain.file.name, folder: domain.folder })),
    ...{ teacher, count, nearMisses, seed },
  };
}

/** A synthesis continues with more or fewer rollouts and another share of near-misses; the rest of it stays. */
function expectToGoOn(folder: string, file: SynthesisFile): void {
  const before = readSynthesis(folder);
  if (before.type === 'missing') return;
  if (before.type === 'damaged') throw new UsageError(`${before.message}. Choose another --out, or put that file back`);
  // A model is the same at another address.
  const words = ({ domains, teacher, seed }: SynthesisFile) =>
    `${domains.map(({ folder: each }) => each).join(' ')}, taught by ${teacher.replace(/@.*/, '')}, seed ${seed}`;
  if (words(before.file) !== words(file))
    throw new UsageError(
      `${folder} holds another synthesis: of ${words(before.file)}; now it would be of ${words(file)}. Choose another --out`,
    );
}

async function opened({ domain, options }: Played, io: Io): Promise<Supervisor> {
  const isOwn = hostedName(domain.file) === null;
  const workers = isOwn && isPure(options.agentFor({})) && isPure(options.user) ? availableParallelism() : 1;
  return openSupervisor(domain, { workers, log: (line) => io.err(`${line}\n`) });
}

/** A teacher brings both kinds as they come; without one, the gold seat plays for each. */
function sourcesOf({ domain, tasks, options }: Played, supervisor: Supervisor, isTaught: boolean): readonly Source[] {
  const { user } = options;
  const source = (by: string, agent: SeatSpec, brings: Source['brings']): Source => ({
    ...{ name: `${domain.file.name}.${by}`, supervisor, tasks, agent, user, brings },
  });
  if (isTaught) return [source('teacher', options.agentFor({}), ['success', 'nearMiss'])];
  // The name is part of the paths of recordings, and a synthesis draws from these in their order. So it stays.
  return [source('gold', { type: 'gold' }, ['success']), source('slip', { type: 'faultyGold' }, ['nearMiss'])];
}

function conclude(
  folder: string,
  { count }: SynthesisFile,
  selection: Awaited<ReturnType<typeof synthesize>>,
  { meter, lost, json }: { readonly meter: Meter; readonly lost: readonly string[]; readonly json: boolean },
  io: Io,
): ExitCode {
  const balance = balanceOf(selection);
  const isShort = balance.chosen < count;
  const stopped = !isShort ? null : meter.isSpent() ? 'budget' : io.signal.aborted ? 'cancelled' : null;
  if (json) io.out(`${JSON.stringify({ folder, count, stopped, balance })}\n`);
  else io.out(`${balanceText(balance)}synthesis ${folder}, the selection is ${join(folder, 'selection.jsonl')}\n`);
  if (!isShort) return 0;
  if (stopped === null && lost.length > 0) {
    io.err(`${counted(lost.length, 'rollout')} could not be run: ${lost[0]}\nRun them again with --out ${folder}\n`);
    return 2;
  }
  if (stopped === null) {
    io.err(
      `${balance.chosen} of ${count} could be chosen: further rollouts only repeat. Add tasks, or personas with --under\n`,
    );
    return 1;
  }
  const why = stopped === 'budget' ? spentText(meter) : 'cancelled';
  io.err(`${why}: ${balance.chosen} of ${count} can be chosen so far. Resume with --out ${folder}\n`);
  return 2;
}
