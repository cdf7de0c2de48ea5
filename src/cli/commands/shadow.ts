import { existsSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { logsInFolder } from '../../authoring/conversations/logFolder.ts';
import { shadow } from '../../authoring/conversations/shadow.ts';
import { type Stage, type Traffic, trafficOfChats, trafficOfRecording } from '../../authoring/conversations/traffic.ts';
import { type SeatSpec, seatName } from '../../engine/core/domain/seatSpec.ts';
import {
  type Action,
  type Agreement,
  agreementOf,
  type ShadowedRollout,
  type ShadowKind,
  type ShadowTurn,
  shadowDivergence,
} from '../../engine/core/evaluation/shadow.ts';
import { callText } from '../../engine/core/events/message.ts';
import { counted } from '../../engine/core/text/counted.ts';
import { lineExcerpt } from '../../engine/core/text/excerpt.ts';
import { tableLines } from '../../engine/core/text/tableText.ts';
import type { LoadedDomain } from '../../engine/shell/domain/loadDomain.ts';
import { externalSeatsOf } from '../../engine/shell/externalSeats.ts';
import { fromDisk } from '../../engine/shell/files/disk.ts';
import { entriesBelow } from '../../engine/shell/files/entriesBelow.ts';
import { isForkName, isRecording } from '../../engine/shell/records/recordingName.ts';
import { baseHashOf } from '../../engine/shell/replay.ts';
import { openSupervisor } from '../../engine/shell/supervisor.ts';
import { formatLines, readLogs } from '../conversations/conversations.ts';
import { askAtTerminal } from '../dap/terminal/askAtTerminal.ts';
import { type Command, defineCommand } from '../options/command.ts';
import { settingOptions } from '../options/modelSettings.ts';
import { flag, number, type OptionValues, text, wholeNumber } from '../options/option.ts';
import { openDomain, rateLimitWait, readRolloutOptions, timeout } from '../options/rolloutOptions.ts';
import { percent } from '../report/sections.ts';
import { type ExitCode, type Io, progress, UsageError } from '../terminal/io.ts';

const shownDivergences = 20;

/** Names of the kinds, in the order in which a person reads them. */
const kindNames: Readonly<Record<ShadowKind, string>> = {
  sameCall: 'same tool, same arguments',
  sameTool: 'same tool, other arguments',
  otherTool: 'another tool',
  bothSpeak: 'both speak',
  speaksInstead: 'speaks instead of calling a tool',
  callsInstead: 'calls a tool instead of speaking',
  failed: 'the agent failed',
  unanswered: 'no answer (not the agent’s fault)',
};

const options = {
  agent: text('SEAT', "gold, openai:MODEL[@BASE_URL], or agent:FILE, a custom agent (default: the domain's)"),
  reads: flag('in recordings, execute the reads that the agent calls first, on the recorded state'),
  gate: number(
    'SHARE',
    'exit with 1 if the agent agrees in less than this share of the turns, from 0 to 1',
    'a share of the turns from 0 to 1',
    (given) => given >= 0 && given <= 1,
  ),
  format: text('NAME', 'the format of the chats (default: detected from their content)'),
  concurrency: wholeNumber('N', 'turns to run at the same time (default: 8)'),
  ...settingOptions,
  timeout,
  rateLimitWait,
  json: flag('machine-readable output, with every turn'),
};
type Options = OptionValues<typeof options>;

export const shadowCommand: Command = defineCommand({
  name: 'shadow',
  summary: 'compare what an agent would do with what happened in recorded conversations',
  usage: 'DOMAIN TRAFFIC... --agent SEAT [options]',
  about: `
At each agent turn of recorded conversations, the seat gets the conversation so far and proposes what it would do. Its
proposals are not executed. TRAFFIC is a run's folder, a recording (*.traj.jsonl), or a file or folder of
chats (in any format that \`npx rehearsal import chats\` reads).
`,
  options,
  after: 'Exit code 0: done. 1: the gate was missed. 2: cancelled, or no turn could be compared.',
  run: async (options, [folder, ...named], io) => {
    const domain = openDomain(io, folder);
    const files = trafficFiles(io, named);
    if (domain.tasks.length === 0) throw new UsageError(`${domain.folder} has no task`);
    const agent = readRolloutOptions(options, domain, io).agentFor({});
    const compared = await compareAll(options, io, domain, files, agent);
    if (options.json) io.out(`${JSON.stringify(compared)}\n`);
    else io.out(shadowText(domain, agent, compared));
    return conclude(io, compared, options.gate);
  },
});

type Compared = {
  readonly agreement: Agreement;
  readonly rollouts: readonly (ShadowedRollout & { readonly divergence: ShadowTurn | null })[];
  /** Traffic that could not be read, each in a sentence. */
  readonly problems: readonly string[];
  /** The number of turns planned for comparison. */
  readonly planned: number;
};

async function compareAll(
  given: Options,
  io: Io,
  domain: LoadedDomain,
  files: readonly string[],
  agent: SeatSpec,
): Promise<Compared> {
  const supervisor = await openSupervisor(domain, { log: (line) => io.err(`${line}\n`) });
  try {
    const stage = { domain: supervisor.domain, database: baseHashOf(supervisor.loaded) };
    const read = await readTraffic(files, stage, given, io);
    const traffic = read.filter((each): each is Traffic => typeof each !== 'string');
    const show = given.json ? () => undefined : progress(io);
    const { rollouts, planned } = await shadow(supervisor, traffic, {
      agent,
      externalSeats: externalSeatsOf(agent, { type: 'human' }, (name) => io.environment[name], askAtTerminal(io)),
      reads: given.reads === true,
      concurrency: given.concurrency ?? 8,
      signal: io.signal,
      onTurn: (done, total) => show(done, total, 'turns'),
    });
    const isWrite = (tool: string) =>
      supervisor.domain.tools.some(({ name, effect }) => name === tool && effect === 'write');
    return {
      agreement: agreementOf(rollouts, isWrite),
      rollouts: rollouts.map((each) => ({ ...each, divergence: shadowDivergence(each) })),
      problems: read.filter((each) => typeof each === 'string'),
      planned,
    };
  } finally {
    await supervisor.close();
  }
}

/** Reads recordings, and the other files as logs of chats. */
async function readTraffic(
  files: readonly string[],
  stage: Stage,
  given: Options,
  io: Io,
): Promise<readonly (Traffic | string)[]> {
  const logs = files.filter((file) => !isRecording(file));
  if (logs.length === 0 && given.format !== undefined)
    throw new UsageError('--format applies to files of chats, but only recordings are named');
  const recordings = files.filter(isRecording).map((file) => trafficOfRecording(file, stage));
  if (logs.length === 0) return recordings;
  const read = await readLogs('chats', { files: logs, folders: [] }, given, io);
  if (!given.json) for (const line of formatLines(read, io)) io.err(`${line}\n`);
  const left = read.notes.map(({ file, line, message }) => `${file}:${line}: ${message}`);
  return [...recordings, ...trafficOfChats(read, stage), ...left];
}

/** The files that a person named, those of a folder in their order. */
function trafficFiles(io: Io, named: readonly string[]): readonly string[] {
  if (named.length === 0) throw new UsageError('name the traffic: a run’s folder, recordings, or files of chats');
  return named.flatMap((given) => {
    const path = resolve(io.cwd, given);
    if (!existsSync(path)) throw new UsageError(`${given}: there is no such traffic`);
    if (!statSync(path).isDirectory()) return [path];
    const inside = fromDisk(path, () => entriesBelow(path).names);
    const found = inside.filter((name) => isRecording(name) && !isForkName(name)).sort();
    if (found.length > 0) return found.map((name) => join(path, name));
    const logs = logsInFolder(path).files;
    if (logs.length === 0) throw new UsageError(`${given}: this folder has no recordings and no logs of chats`);
    return logs;
  });
}

function conclude(io: Io, { agreement, rollouts, problems, planned }: Compared, gate: number | undefined): ExitCode {
  for (const problem of problems) io.err(`left out: ${problem}\n`);
  for (const [problem, turns] of unansweredIn(rollouts)) io.err(`${counted(turns, 'turn')} not answered: ${problem}\n`);
  const { share, turns } = agreement;
  if (turns < planned) {
    io.err(`cancelled: ${turns} of ${planned} turns were compared\n`);
    return 2;
  }
  if (share === null) {
    io.err('no turn could be compared\n');
    return 2;
  }
  if (gate === undefined || share >= gate) return 0;
  io.err(`gate missed: the agent agrees in ${percent(share)} of the turns, the gate requires ${percent(gate)}\n`);
  return 1;
}

/** Returns how many turns got no answer for each reason. */
function unansweredIn(rollouts: Compared['rollouts']): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { kind, problem = '' } of rollouts.flatMap(({ turns }) => turns))
    if (kind === 'unanswered') counts.set(problem, (counts.get(problem) ?? 0) + 1);
  return counts;
}

function shadowText(domain: LoadedDomain, agent: SeatSpec, { agreement, rollouts }: Compared): string {
  const { kinds, turns, share, agreeing, sameWords, writes } = agreement;
  const rows = Object.entries(kindNames).map(([kind, name]) => {
    const count = kinds[kind as ShadowKind];
    return [name, String(count), turns === 0 ? '' : percent(count / turns)];
  });
  const diverging = rollouts.flatMap((each) => (each.divergence ? [{ ...each, divergence: each.divergence }] : []));
  const lines = [
    `${domain.file.name}: ${seatName(agent)} against ${rollouts.length} recorded conversations`,
    ...tableLines({ columns: ['proposal', 'turns', 'share'], rows }),
    '',
    ...(diverging.length > 0
      ? [
          ...tableLines({
            columns: ['conversation', 'turn', 'at', 'first divergence', 'done', 'proposed'],
            rows: diverging
              .slice(0, shownDivergences)
              .map(({ name, task, divergence }) => divergenceRow(task ?? name, divergence)),
          }),
          ...(diverging.length > shownDivergences ? [`... and ${diverging.length - shownDivergences} more`] : []),
          '',
        ]
      : []),
    `${diverging.length} of ${rollouts.length} conversations diverge`,
    `writes: ${writes.alike} of ${writes.made} recorded ones are proposed with the same arguments, ${writes.others} proposed ones were not made`,
    `texts: ${sameWords} of ${kinds.bothSpeak} have the same words`,
    `agreement: ${share === null ? 'none' : `${percent(share)} (${agreeing} of ${turns - kinds.unanswered} answered turns: same tool and arguments, or both speak)`}`,
  ];
  return `${lines.join('\n')}\n`;
}

function divergenceRow(name: string, { turn, place, kind, done, proposed, problem }: ShadowTurn): readonly string[] {
  return [
    name,
    String(turn),
    String(place),
    kindNames[kind],
    actionText(done),
    proposed ? actionText(proposed) : short(problem ?? ''),
  ];
}

function actionText({ content, toolCalls }: Action): string {
  if (toolCalls.length === 0) return `"${short(content ?? '')}"`;
  return short(toolCalls.map(callText).join(', '));
}

const short = (text: string) => lineExcerpt(text, 60);
