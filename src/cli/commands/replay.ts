import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { guardReader } from '../../engine/shell/guardNotes.ts';
import { replayRecording } from '../../engine/shell/replay.ts';
import { requestNamed, sentRequests } from '../../engine/shell/sentRequests.ts';
import { type Command, text } from '../command.ts';
import { type ExitCode, type Io, UsageError } from '../io.ts';
import { domainBeside, openDomain } from '../rolloutOptions.ts';
import { spoken } from '../transcript.ts';

export const replayCommand: Command = {
  name: 'replay',
  summary: 'fold a recording again and compare the state after every step',
  help: "rehearsal replay RECORDING [--domain FOLDER] [--quiet | --request STEP]\n\nShows the conversation from the recorded answers; no model and no tool is called. Exit code 1 when a step's\nstate differs from the recorded one.\n\n  --domain FOLDER    the domain it was recorded in (default: from run.json beside the recording)\n  --quiet            only the result\n  --request STEP     only the exact request that a model was sent for a step (7, or 7.2 where it took several)\n",
  options: { domain: { type: 'string' }, quiet: { type: 'boolean' }, request: { type: 'string' } },
  run: async (given, io) => {
    const path = resolve(io.cwd, given.positionals[0] ?? '');
    if (!given.positionals[0] || !existsSync(path))
      throw new UsageError(
        `${given.positionals[0] ?? 'RECORDING'}: there is no such recording (a file that ends in .traj.jsonl)`,
      );
    const asked = text(given, 'request');
    if (asked !== undefined) return showRequest(io, path, asked);
    const domain = openDomain(io, text(given, 'domain') ?? domainBeside(path));
    const { steps, problems } = replayRecording(domain, path);
    const guard = guardReader(path);
    const json = given.values['json'] === true;
    if (!json && given.values['quiet'] !== true)
      for (const step of steps) for (const line of spoken(step.event, guard(step), io.terminal)) io.out(`${line}\n`);
    report(io, json, path, steps.length, problems);
    return problems.length > 0 ? 1 : 0;
  },
};

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
