import { join, relative } from 'node:path';
import type { SeatSpec } from '../../engine/core/domain/seatSpec.ts';
import type { Task } from '../../engine/core/domain/task.ts';
import { goldWarning } from '../../engine/core/evaluation/goldWarning.ts';
import type { LoadedDomain } from '../../engine/shell/domain/loadDomain.ts';
import { personGone } from '../../engine/shell/files/fault.ts';
import { runsOf } from '../../engine/shell/files/workFolders.ts';
import { withDrafts } from '../../engine/shell/load/drafts.ts';
import { signingKey } from '../../engine/shell/records/ledger.ts';
import { recordingName, rolloutName } from '../../engine/shell/records/recordingName.ts';
import { eventsOf } from '../../engine/shell/records/runRecord.ts';
import { summaryOf } from '../../engine/shell/rolloutSummary.ts';
import { expectToGoOn, runBatch, throwCrash } from '../../engine/shell/runs/batch.ts';
import { openSupervisor } from '../../engine/shell/supervisor.ts';
import { withCheckpoint } from '../checkpoints/servedModel.ts';
import { askAtTerminal } from '../dap/terminal/askAtTerminal.ts';
import { type Command, defineCommand } from '../options/command.ts';
import { flag, json, type OptionValues } from '../options/option.ts';
import { inRunFolder } from '../options/outFolder.ts';
import {
  openDomain,
  readRolloutOptions,
  requireScripts,
  rolloutOptions,
  taskNamed,
} from '../options/rolloutOptions.ts';
import { goldLines } from '../report/goldLines.ts';
import { type ExitCode, hasColours, type Io } from '../terminal/io.ts';
import { modelWait } from '../terminal/modelWait.ts';
import { shellWord } from '../terminal/shellWord.ts';
import { statusLine } from '../terminal/statusLine.ts';
import { transcriptReader } from '../terminal/transcript.ts';

const options = {
  ...rolloutOptions('`agent:` of the task, else of domain.yaml'),
  gate: flag('exit with 1 unless the reward is 1'),
  json,
};
type Options = OptionValues<typeof options>;

export const runCommand: Command = defineCommand({
  name: 'run',
  takes: 2,
  summary: 'run one task and show the conversation as it happens',
  usage: 'DOMAIN TASK [options]',
  about: `
Runs one rollout of a task, from a fresh database to a reward. TASK is the id of a task, or the path of a file that has
one task.
`,
  options,
  after:
    'Exit code 0: the rollout was scored. 1: its reward is not 1, with --gate. 2: it could not run, or you left it with /quit.',
  run: async (options, [folder, task], io) => {
    const domain = withDrafts(openDomain(io, folder));
    return withCheckpoint(options.agent, domain.file.dialect, io, (own) => rehearse(domain, task, options, own));
  },
});

async function rehearse(domain: LoadedDomain, named: string | undefined, given: Options, io: Io): Promise<ExitCode> {
  const task = taskNamed(domain, named, io.cwd);
  const { agentFor, ...options } = readRolloutOptions(given, domain, io);
  const plan = { ...options, tasks: [task] as const, trials: 1, agent: agentFor(task), key: signingKey() };
  return inRunFolder(io, given.out, runsOf(domain.folder, [io.cwd]), task.id, (folder) =>
    play(domain, { ...plan, folder }, given, io),
  );
}

type Plan = Omit<ReturnType<typeof readRolloutOptions>, 'agentFor'> & {
  readonly folder: string;
  readonly tasks: readonly [Task];
  readonly trials: number;
  readonly agent: SeatSpec;
  readonly key: ReturnType<typeof signingKey>;
};

async function play(domain: LoadedDomain, plan: Plan, given: Options, io: Io): Promise<ExitCode> {
  const { folder, tasks } = plan;
  const [task] = tasks;
  expectToGoOn(folder, domain, plan);
  requireScripts(tasks, plan);
  const supervisor = await openSupervisor(domain, { log: (line) => io.err(`${line}\n`) });
  const wait = modelWait((line) => io.err(`${line}\n`), io.terminal ? statusLine(io) : undefined);
  try {
    const recording = join(folder, recordingName(rolloutName(task, 0)));
    const linesOf = transcriptReader(recording, domain, hasColours(io));
    const [result] = await runBatch(supervisor, {
      ...plan,
      concurrency: 1,
      readKey: (name) => io.environment[name],
      askPerson: askAtTerminal(io, task.user),
      signal: io.signal,
      onModel: wait.onModel,
      onEvents: (_task, _trial, events) => {
        if (!given.json) for (const line of events.flatMap(linesOf)) io.out(`${line}\n`);
      },
    });
    if (result) throwCrash([result]);
    if (!result) {
      io.err(
        io.signal.aborted
          ? 'cancelled before the rollout began\n'
          : `nothing to run: ${folder} holds a finished rollout of ${task.id}. Choose another folder with --out\n`,
      );
      return 2;
    }
    const summary = given.json ? summaryOf(supervisor.loaded, result.recording) : null;
    io.out(
      given.json
        ? `${JSON.stringify({ ...result, ...summary })}\n`
        : `recording ${relative(io.cwd, result.recording)}\n`,
    );
    if (result.failure?.code === personGone)
      io.err(`to continue, run the same command with --out ${shellWord(relative(io.cwd, folder) || '.')}\n`);
    const warning = goldWarning(eventsOf(result.recording));
    for (const line of goldLines([{ task: task.id, warning, recording: result.recording }], domain, io.cwd)) {
      const folderWord = shellWord(relative(io.cwd, domain.folder) || '.');
      io.err(`${line} \`npx rehearsal check ${folderWord} --audit\` finds such tasks\n`);
    }
    if (result.reward === null) return 2;
    return given.gate && result.reward < 1 ? 1 : 0;
  } finally {
    wait.end();
    await supervisor.close();
  }
}
