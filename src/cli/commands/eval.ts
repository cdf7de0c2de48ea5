import { availableParallelism } from 'node:os';
import { summaryOf } from '../../engine/core/metrics.ts';
import { runBatch, type TrialResult } from '../../engine/shell/batch.ts';
import { signingKey } from '../../engine/shell/ledger.ts';
import type { StaticDomain } from '../../engine/shell/load/loadDomain.ts';
import { isPure } from '../../engine/shell/outside.ts';
import { openSupervisor } from '../../engine/shell/supervisor.ts';
import { type Command, type Given, text } from '../command.ts';
import { type Io, progress, UsageError } from '../io.ts';
import {
  askAtTerminal,
  newRunFolder,
  openDomain,
  readRolloutOptions,
  rolloutHelp,
  rolloutOptions,
  wholeNumber,
} from '../rolloutOptions.ts';

export const evaluate: Command = {
  name: 'eval',
  summary: 'run many tasks, several trials each, and report success',
  help: `rehearsal eval DOMAIN [options]\n\nRuns k trials of every task and reports the reward, pass^k and how rollouts ended. With --out of an\ninterrupted run it goes on with what has no receipt yet.\n\n  --split NAME       train or test (default: both)\n  --tasks A,B        only these tasks\n  --trials K         trials of each task (default: 1)\n  --concurrency N    rollouts at once (default: 16)\n  --gate X           exit with 1 when the mean reward is below X (0 to 1)\n${rolloutHelp}`,
  options: {
    ...rolloutOptions,
    split: { type: 'string' },
    tasks: { type: 'string' },
    trials: { type: 'string' },
    concurrency: { type: 'string' },
    gate: { type: 'string' },
  },
  run: async (given, io) => {
    const domain = openDomain(io, given.positionals[0]);
    const tasks = chosenTasks(given, domain);
    const trials = wholeNumber(given, 'trials') ?? 1;
    const { agentFor, ...options } = readRolloutOptions(given, domain, io);
    const agent = agentFor({ ...(tasks[0] as (typeof tasks)[number]), agent: undefined });
    const lanes = isPure(agent) && isPure(options.user) ? availableParallelism() : 1;
    const supervisor = await openSupervisor(domain, { lanes, log: (line) => io.err(`${line}\n`) });
    const json = given.values['json'] === true;
    const show = json ? () => undefined : progress(io, tasks.length * trials);
    try {
      const folder = newRunFolder(io, given, domain.file.name);
      let done = 0;
      let rewarded = 0;
      await runBatch(supervisor, {
        ...options,
        folder,
        tasks,
        trials,
        concurrency: wholeNumber(given, 'concurrency') ?? 16,
        agent,
        key: signingKey(),
        readKey: (name) => io.environment[name],
        askPerson: askAtTerminal(io),
        signal: io.signal,
        onFinished: ({ reward }) => {
          done += 1;
          rewarded += reward ?? 0;
          show(done, `mean reward ${(rewarded / done).toFixed(2)}`);
        },
      }).then((results) => report(io, json, folder, results, trials));
      return gatePassed(given, rewarded / Math.max(done, 1)) ? 0 : 1;
    } finally {
      await supervisor.close();
    }
  },
};

function chosenTasks(given: Given, domain: StaticDomain): StaticDomain['tasks'] {
  const split = text(given, 'split');
  if (split !== undefined && split !== 'train' && split !== 'test')
    throw new UsageError(`--split is train or test, not "${split}"`);
  const names = text(given, 'tasks')?.split(',');
  const unknown = names?.filter((name) => !domain.tasks.some(({ id }) => id === name)) ?? [];
  if (unknown.length > 0) throw new UsageError(`there is no task ${unknown.join(', ')} in ${domain.folder}`);
  const tasks = domain.tasks.filter(
    (task) => (split === undefined || task.split === split) && (names === undefined || names.includes(task.id)),
  );
  if (tasks.length === 0) throw new UsageError(`no task of ${domain.folder} is chosen by these options`);
  return tasks;
}

function report(io: Io, json: boolean, folder: string, results: readonly TrialResult[], trials: number): void {
  const summary = summaryOf(results, trials);
  if (json) {
    io.out(`${JSON.stringify({ folder, summary, results })}\n`);
    return;
  }
  const failed = results.filter(({ reward }) => reward !== 1);
  for (const result of failed.slice(0, 20))
    io.out(
      `${result.task} trial ${result.trial}: ${result.reward ?? 'not scored'}: ${result.failure?.message ?? result.reason}\n`,
    );
  if (failed.length > 20) io.out(`... and ${failed.length - 20} more\n`);
  const powers = summary.passHat.map((value, index) => `pass^${index + 1} ${value.toFixed(3)}`).join('  ');
  io.out(`${summary.scored} scored of ${summary.rollouts}, mean reward ${summary.meanReward.toFixed(3)}  ${powers}\n`);
  io.out(
    `turns ${summary.meanTurns.toFixed(1)}, violations in ${summary.withViolations}, not scored ${summary.rollouts - summary.scored}\nrun ${folder}\n`,
  );
}

function gatePassed(given: Given, mean: number): boolean {
  const gate = text(given, 'gate');
  if (gate === undefined) return true;
  const threshold = Number(gate);
  if (!(threshold >= 0 && threshold <= 1)) throw new UsageError(`--gate is a number from 0 to 1, not "${gate}"`);
  return mean >= threshold;
}
