import { existsSync, readdirSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { domainBeside } from '../../engine/shell/domainBeside.ts';
import { guardReader } from '../../engine/shell/guardNotes.ts';
import { withDrafts } from '../../engine/shell/load/drafts.ts';
import { readRecording } from '../../engine/shell/recording.ts';
import { isRecording, recordingEnding } from '../../engine/shell/recordingName.ts';
import { noStart, replayRecording } from '../../engine/shell/replay.ts';
import { requestNamed, sentRequests } from '../../engine/shell/sentRequests.ts';
import { type Command, text } from '../command.ts';
import { type ExitCode, type Io, UsageError } from '../io.ts';
import { noRecording } from '../requireRecording.ts';
import { openDomain, unknownDomain } from '../rolloutOptions.ts';
import { spoken } from '../transcript.ts';

export const replayCommand: Command = {
  name: 'replay',
  takes: 1,
  summary: 'fold a recording again and compare the state after every step',
  help: "rehearsal replay RECORDING [--domain FOLDER] [--quiet | --request STEP]\n\nShows the conversation from the recorded answers; no model and no tool is called. Exit code 1 when a step's\nstate differs from the recorded one.\n\n  --domain FOLDER    the domain it was recorded in (default: from run.json beside the recording)\n  --quiet            only the result\n  --request STEP     only the exact request that a model was sent for a step (7, or 7.2 where it took several)\n  --json             machine-readable output\n",
  options: { domain: { type: 'string' }, quiet: { type: 'boolean' }, request: { type: 'string' } },
  run: async (given, io) => {
    const path = recordingNamed(io, given.positionals[0]);
    const json = given.values['json'] === true;
    const asked = text(given, 'request');
    if (asked !== undefined) return showRequest(io, path, asked);
    const folder = text(given, 'domain') ?? domainBeside(path);
    const read = readRecording(path);
    const isUnread = read.lines.length === 0;
    if (isUnread || (folder === undefined && read.problems.length > 0)) {
      report(io, json, path, 0, read.problems.length > 0 ? read.problems : [noStart]);
      return 1;
    }
    if (folder === undefined) throw unknownDomain(path, 'Name its folder with --domain FOLDER');
    const domain = withDrafts(openDomain(io, folder));
    const { steps, problems } = replayRecording(domain, path);
    const guard = guardReader(path);
    if (!json && given.values['quiet'] !== true)
      for (const step of steps) for (const line of spoken(step.event, guard(step), io.terminal)) io.out(`${line}\n`);
    report(io, json, path, steps.length, problems);
    return problems.length > 0 ? 1 : 0;
  },
};

/** The path of the recording that a person named. Throws a `UsageError` for what is none. */
function recordingNamed(io: Io, named: string | undefined): string {
  const path = resolve(io.cwd, named ?? '');
  if (!named || !existsSync(path)) throw noRecording(named);
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

function report(
  io: Io,
  json: boolean,
  path: string,
  steps: number,
  problems: readonly { readonly line: number; readonly message: string }[],
): void {
  if (json) io.out(`${JSON.stringify({ steps, problems })}\n`);
  else if (problems.length === 0) io.out(`${steps} steps replayed, every state as recorded\n`);
  else for (const { line, message } of problems) io.out(`${path}:${line}: ${message}\n`);
}
