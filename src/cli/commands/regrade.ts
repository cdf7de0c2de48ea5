import { existsSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { type OfficialResults, readOfficialResults } from '../../benchmarks/officialResults.ts';
import { verdictOf } from '../../benchmarks/officialVerdict.ts';
import { type Compared, countsOf, regradeOfficial } from '../../benchmarks/regradeOfficial.ts';
import { knowledge, notKnowledge } from '../../benchmarks/tau2Task.ts';
import { counted } from '../../engine/core/text/counted.ts';
import { tableLines } from '../../engine/core/text/tableText.ts';
import type { LoadedDomain } from '../../engine/shell/load/loadedDomain.ts';
import { signingKey } from '../../engine/shell/records/ledger.ts';
import { type Regrading, regradeRun } from '../../engine/shell/runs/regrade.ts';
import { openSupervisor } from '../../engine/shell/supervisor.ts';
import { type Command, defineCommand, refuseStray } from '../options/command.ts';
import { openRunRecord } from '../options/openRunRecord.ts';
import { json, type OptionValues, text } from '../options/option.ts';
import { requireOutFolder } from '../options/outFolder.ts';
import { openDomainAt } from '../options/rolloutOptions.ts';
import { trustedKey } from '../options/trustedKey.ts';
import { type ExitCode, type Io, UsageError } from '../terminal/io.ts';

const options = {
  official: text(
    'RESULTS',
    'the file, or its folder; --domain is then an imported domain, or (tau2) the folder of several',
  ),
  domain: text('FOLDER', 'the domain (default: the one that run.json names)'),
  key: trustedKey,
  out: text('FOLDER', 'the folder of the new run (default: RUN_FOLDER-regraded-1, -2, ...)'),
  json,
};

export const regrade: Command = defineCommand({
  name: 'regrade',
  takes: 1,
  summary: 'score an old run again with the current rules, verifiers and tasks',
  usage: 'RUN_FOLDER [options]\n--official RESULTS --domain FOLDER [options]',
  about: `
Computes the verdicts of a run again with the current rules, verifiers and tasks of its domain. It repeats no message and
no call. The results are a new run, which report, compare and verify accept; the old run stays unchanged. A rollout that
fails verification is refused, and so is a run whose run.json or ledger fails it.

With --official, this engine scores the results file of another tool (tau2's results.json or its folder, or the list that
tau-bench's run.py writes). It makes every call again and compares the reward with the one in the file.
`,
  options,
  after: "Exit code 0: done. 1: a rollout could not be scored again, or its reward differs from its file's.",
  run: async (options, [run], io) => {
    if (options.official !== undefined) {
      refuseStray(options, ['official', 'domain', 'out'], 'the results of another tool');
      return regradeResults(options.official, options, io);
    }
    const record = openRunRecord(io, run);
    const domain = openDomainAt(options.domain ? resolve(io.cwd, options.domain) : record.file.folder);
    const folder = freshFolder(io, record.folder, options.out);
    const supervisor = await openSupervisor(domain, { log: (line) => io.err(`${line}\n`) });
    try {
      const batch = batchOptions(folder, io);
      const regrading = await regradeRun(supervisor, record, {
        ...batch,
        trustedKey: options.key ?? batch.key.publicKey,
      });
      const refused = [...record.problems, ...regrading.refused];
      if (options.json) io.out(`${JSON.stringify({ folder, ...regrading, refused })}\n`);
      else io.out(regradingText(folder, { ...regrading, refused }));
      return refused.length > 0 ? 1 : 0;
    } finally {
      await supervisor.close();
    }
  },
});

const batchOptions = (folder: string, { signal }: Io) => ({ folder, concurrency: 16, key: signingKey(), signal });

async function regradeResults(
  results: string,
  { domain: named, out, json: isJson }: OptionValues<typeof options>,
  io: Io,
): Promise<ExitCode> {
  const path = resolve(io.cwd, results);
  const read = readOfficialResults(path);
  if (named === undefined)
    throw new UsageError('name the imported domain: --domain FOLDER (npx rehearsal import makes one)');
  const domain = domainOf(path, read, resolve(io.cwd, named));
  const folder = freshFolder(io, path.replace(/\.json$/, ''), out);
  const supervisor = await openSupervisor(domain, { log: (line) => io.err(`${line}\n`) });
  try {
    const { rollouts, refused } = await regradeOfficial(supervisor, read.simulations, batchOptions(folder, io));
    const counts = countsOf(rollouts);
    if (isJson) io.out(`${JSON.stringify({ folder, rollouts, refused, counts })}\n`);
    else io.out(officialText(folder, rollouts, refused));
    return counts.differ > 0 || counts.unscored > 0 || refused.length > 0 ? 1 : 0;
  } finally {
    await supervisor.close();
  }
}

/** The imported domain that a results file is of: the folder itself, or one of those in it. */
function domainOf(path: string, { benchmark, domain: named }: OfficialResults, whole: string): LoadedDomain {
  const isOne = existsSync(join(whole, 'domain.yaml'));
  if (!isOne && named === null)
    throw new UsageError(`${path} does not name its domain: name a folder with a domain.yaml, not ${whole}`);
  const folder = isOne ? whole : join(whole, basename(named ?? ''));
  if (named === knowledge) throw new UsageError(`${path} belongs to the domain ${knowledge}, which ${notKnowledge}`);
  if (!existsSync(join(folder, 'domain.yaml')))
    throw new UsageError(
      `${path} belongs to the domain ${named}, and ${whole} contains no domain that was imported from it`,
    );
  const domain = openDomainAt(folder);
  const source = Object.values(domain.file.environments).find(({ adapter }) => adapter !== undefined);
  if (source?.adapter !== benchmark)
    throw new UsageError(
      `${path} is a results file of ${benchmark}, and ${folder} ${source ? `was imported from ${source.adapter}` : 'was not imported'}`,
    );
  const own = source.settings['domain'];
  if (named !== null && own !== named)
    throw new UsageError(`${path} belongs to the domain ${named}, but ${folder} was imported from ${own}`);
  return domain;
}

function officialText(folder: string, rollouts: readonly Compared[], refused: readonly string[]): string {
  const { agree, differ, raised, unscored } = countsOf(rollouts);
  const show = (reward: number | null) => (reward === null ? 'none' : String(reward));
  const odd = rollouts.filter(({ official, own }) => verdictOf(official, own) !== 'agree');
  const rows = odd.map(({ name, official, own, raised: why, reason }) => [
    name,
    show(official),
    show(own),
    why ?? reason,
  ]);
  const lines = [
    ...(rows.length > 0 ? tableLines({ columns: ['simulation', 'official', 'here', 'why'], rows }) : []),
    ...rollouts.flatMap(({ name, changed }) => changed.map((each) => `${name}: ${each}`)),
    ...refused,
    `run ${folder}`,
    `${agree} agree, ${differ} differ, ${raised} raised${unscored > 0 ? `, ${unscored} not scored here` : ''}`,
  ];
  return `${lines.join('\n')}\n`;
}

function freshFolder(io: Io, run: string, out: string | undefined): string {
  if (out !== undefined) {
    const folder = resolve(io.cwd, out);
    requireOutFolder(folder, () => false);
    return folder;
  }
  for (let number = 1; ; number++) {
    const folder = `${run}-regraded-${number}`;
    if (!existsSync(folder)) return folder;
  }
}

function regradingText(folder: string, { rollouts, refused }: Regrading): string {
  const changed = rollouts.filter(({ before, after }) => before !== after);
  const show = (reward: number | null) => (reward === null ? 'none' : String(reward));
  const rows = changed.map(({ task, trial, before, after, reason }) => [
    task,
    String(trial),
    show(before),
    show(after),
    reason,
  ]);
  const lines = [
    ...(rows.length > 0 ? tableLines({ columns: ['task', 'trial', 'before', 'after', 'why now'], rows }) : []),
    ...refused,
    `${counted(rollouts.length, 'rollout')} graded again, ${changed.length} with another reward${refused.length > 0 ? `, ${refused.length} refused` : ''}`,
    `run ${folder}`,
  ];
  return `${lines.join('\n')}\n`;
}
