import { existsSync, readdirSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { domainBeside } from '../../engine/shell/domain/domainBeside.ts';
import { withDrafts } from '../../engine/shell/load/drafts.ts';
import { hasSources, type LoadedDomain } from '../../engine/shell/load/loadedDomain.ts';
import {
  noStart,
  type ReadRecording,
  type RecordingProblem,
  readRecording,
} from '../../engine/shell/records/recording.ts';
import { isRecording, recordingEnding } from '../../engine/shell/records/recordingName.ts';
import { requestNamed, sentRequests } from '../../engine/shell/records/sentRequests.ts';
import { replayRecording } from '../../engine/shell/replay.ts';
import { firstDifference } from '../../engine/shell/runs/recompute.ts';
import { openSupervisor } from '../../engine/shell/supervisor.ts';
import { type Command, defineCommand } from '../options/command.ts';
import { flag, json, text } from '../options/option.ts';
import { requireRecording } from '../options/requireRecording.ts';
import { openDomain, unknownDomain } from '../options/rolloutOptions.ts';
import { type ExitCode, hasColours, type Io, UsageError } from '../terminal/io.ts';
import { shellWord } from '../terminal/shellWord.ts';
import { transcriptReader } from '../terminal/transcript.ts';

export const replayCommand: Command = defineCommand({
  name: 'replay',
  takes: 1,
  summary: 'replay a recording and compare every state, verdict and reward',
  usage: 'RECORDING [--domain FOLDER] [--static] [--quiet | --request STEP]',
  about: `
Shows the conversation from the recorded answers, and compares the state after every step, every verdict and the reward
with recomputed ones. No model is asked. The domain's code runs for its gold actions and its own verifiers. A domain
that starts MCP servers or environments must be named with --domain. Exit code 1 if something differs.
`,
  options: {
    domain: text('FOLDER', 'the domain that it was recorded in (default: from the run.json next to it)'),
    static: flag('do not run code of the domain: compare only the states'),
    quiet: flag('print only the result'),
    request: text('STEP', 'print only the exact request to a model for a step (7, or 7.2 if the step made several)'),
    json,
  },
  run: async (options, [named], io) => {
    const path = recordingNamed(io, named);
    const isJson = options.json === true;
    if (options.request !== undefined) return showRequest(io, path, options.request);
    const folder = options.domain ?? domainBeside(path);
    const read = readRecording(path);
    const isUnread = read.lines.length === 0;
    if (isUnread || (folder === undefined && read.problems.length > 0)) {
      report(io, isJson, path, { steps: 0, problems: read.problems.length > 0 ? read.problems : [noStart] });
      return 1;
    }
    if (folder === undefined) throw unknownDomain(path, 'Name its folder with --domain FOLDER');
    const domain = withDrafts(openDomain(io, folder));
    const { steps, problems } = replayRecording(domain, path);
    if (!isJson && !options.quiet)
      for (const line of steps.flatMap(transcriptReader(path, domain, hasColours(io)))) io.out(`${line}\n`);
    const isRecomputed = problems.length === 0 && !options.static;
    if (isRecomputed && options.domain === undefined) throwIfProgramsRun(path, domain);
    const found = isRecomputed ? await recomputedProblems(io, domain, read) : problems;
    report(io, isJson, path, { steps: steps.length, problems: found, isRecomputed });
    return found.length > 0 ? 1 : 0;
  },
});

/** Returns the path of the recording that the user named. Throws a `UsageError` if it is not a recording. */
function recordingNamed(io: Io, named: string | undefined): string {
  const path = resolve(io.cwd, named ?? '');
  if (!named || !existsSync(path)) return requireRecording(named, io);
  if (!statSync(path).isDirectory()) return path;
  const [first] = readdirSync(path).filter(isRecording);
  const instead = first === undefined ? `a file that ends in ${recordingEnding}` : `for example ${join(named, first)}`;
  throw new UsageError(`${named} is a folder, and replay takes one recording: ${instead}`);
}

function showRequest(io: Io, recording: string, name: string): ExitCode {
  const found = requestNamed(sentRequests(recording), name);
  if (typeof found === 'string') throw new UsageError(found);
  io.out(`${found.body}\n`);
  return 0;
}

/** A recording is data: it may not choose which programs start. Throws a `UsageError` where the domain names some. */
function throwIfProgramsRun(recording: string, { file, folder }: LoadedDomain): void {
  if (!hasSources(file)) return;
  throw new UsageError(
    `${recording} belongs to the domain in ${folder}, which starts MCP servers or environments to describe its tools. Add --domain ${shellWord(folder)} to start them, or --static to compare the states only`,
  );
}

/** Returns where the first verdict, reward or other consequence in a recording differs from the recomputed one. */
async function recomputedProblems(
  io: Io,
  domain: LoadedDomain,
  { lines }: ReadRecording,
): Promise<readonly RecordingProblem[]> {
  const supervisor = await openSupervisor(domain, { log: (line) => io.err(`${line}\n`) });
  try {
    const difference = await firstDifference(
      supervisor,
      lines.map(({ event }) => event),
    );
    if (!difference) return [];
    const { event, message } = difference;
    return [{ line: event + 1, message: `event ${event}: ${message}` }];
  } finally {
    await supervisor.close();
  }
}

type Result = {
  readonly steps: number;
  readonly problems: readonly RecordingProblem[];
  /** Whether the verdicts and the reward were compared too. */
  readonly isRecomputed?: boolean;
};

function report(io: Io, json: boolean, path: string, { steps, problems, isRecomputed = false }: Result): void {
  if (json) io.out(`${JSON.stringify({ steps, problems, recomputed: isRecomputed })}\n`);
  else if (problems.length > 0) for (const { line, message } of problems) io.out(`${path}:${line}: ${message}\n`);
  else if (isRecomputed) io.out(`${steps} steps replayed, every state, verdict and reward as recorded\n`);
  else io.out(`${steps} steps replayed, every state as recorded; verdicts and reward were not recomputed\n`);
}
