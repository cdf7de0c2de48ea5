import { join } from 'node:path';
import { expectToGoOn, runBatch } from '../../engine/shell/batch.ts';
import { guardReader } from '../../engine/shell/guardNotes.ts';
import { signingKey } from '../../engine/shell/ledger.ts';
import { withDrafts } from '../../engine/shell/load/drafts.ts';
import type { LoadedDomain } from '../../engine/shell/load/loadDomain.ts';
import { recordingName, rolloutName } from '../../engine/shell/recordingName.ts';
import { summaryOf } from '../../engine/shell/rolloutSummary.ts';
import { openSupervisor } from '../../engine/shell/supervisor.ts';
import { type Command, type Given, text } from '../command.ts';
import type { ExitCode, Io } from '../io.ts';
import { modelWait } from '../modelWait.ts';
import {
  askAtTerminal,
  newRunFolder,
  openDomain,
  readRolloutOptions,
  rolloutHelp,
  rolloutOptions,
  taskNamed,
} from '../rolloutOptions.ts';
import { withCheckpoint } from '../servedModel.ts';
import { statusLine } from '../statusLine.ts';
import { spoken } from '../transcript.ts';

export const runCommand: Command = {
  name: 'run',
  takes: 2,
  summary: 'rehearse one task and show the conversation as it happens',
  help: `rehearsal run DOMAIN TASK [options]\n\nPlays one rollout of a task from a fresh database to a reward.\n\n${rolloutHelp}\nExit code 0 when the rollout was scored, 1 when its reward is not 1 and --gate is given, 2 when it could not be run.\n  --gate             exit with 1 unless the reward is 1\n`,
  options: { ...rolloutOptions, gate: { type: 'boolean' } },
  run: async (given, io) => {
    const domain = withDrafts(openDomain(io, given.positionals[0]));
    return withCheckpoint(text(given, 'agent'), domain.file.dialect, io, (own) => rehearse(domain, given, own));
  },
};

async function rehearse(domain: LoadedDomain, given: Given, io: Io): Promise<ExitCode> {
  const task = taskNamed(domain, given.positionals[1]);
  const { agentFor, ...options } = readRolloutOptions(given, domain, io);
  const json = given.values['json'] === true;
  const folder = newRunFolder(io, given, task.id);
  const plan = { ...options, folder, tasks: [task], trials: 1, agent: agentFor(task), key: signingKey() };
  expectToGoOn(folder, domain, plan);
  const supervisor = await openSupervisor(domain, { log: (line) => io.err(`${line}\n`) });
  const wait = modelWait((line) => io.err(`${line}\n`), io.terminal ? statusLine(io) : undefined);
  try {
    const guard = guardReader(join(folder, recordingName(rolloutName(task, 0))));
    const [result] = await runBatch(supervisor, {
      ...plan,
      concurrency: 1,
      readKey: (name) => io.environment[name],
      askPerson: askAtTerminal(io),
      signal: io.signal,
      onModel: wait.onModel,
      onEvents: (_task, _trial, events) => {
        if (!json)
          for (const each of events)
            for (const line of spoken(each.event, guard(each), io.terminal)) io.out(`${line}\n`);
      },
    });
    if (!result) {
      io.err(`nothing to run: ${folder} holds a finished rollout of ${task.id}\n`);
      return 2;
    }
    const summary = json ? summaryOf(supervisor.loaded, result.recording) : null;
    io.out(json ? `${JSON.stringify({ ...result, ...summary })}\n` : `recording ${result.recording}\n`);
    if (result.reward === null) return 2;
    return given.values['gate'] === true && result.reward < 1 ? 1 : 0;
  } finally {
    wait.end();
    await supervisor.close();
  }
}
