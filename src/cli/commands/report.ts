import { existsSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { metricsOf } from '../../engine/core/evaluation/metrics.ts';
import { counted } from '../../engine/core/text/counted.ts';
import { type LoadedDomain, loadDomain } from '../../engine/shell/domain/loadDomain.ts';
import { ownPublicKey } from '../../engine/shell/records/ledger.ts';
import { plannedTrials } from '../../engine/shell/records/runFile.ts';
import type { RunRecord } from '../../engine/shell/records/runRecord.ts';
import { unverifiedIn } from '../../engine/shell/records/verifyRollouts.ts';
import { type Command, defineCommand, refuseMore } from '../options/command.ts';
import { openRunRecord } from '../options/openRunRecord.ts';
import { flag, type OptionValues, text } from '../options/option.ts';
import { junitText } from '../report/junit.ts';
import { pageText } from '../report/page.ts';
import { paperOf, paperText } from '../report/paper.ts';
import { reportText } from '../report/text.ts';
import { type ExitCode, type Io, UsageError } from '../terminal/io.ts';
import { printRollout } from '../terminal/runLines.ts';
import { shellWord } from '../terminal/shellWord.ts';

const options = {
  html: text(
    'FILE',
    'a self-contained page: each failed task with its reason, its conversation and the failing step, then plots and the tables behind them',
  ),
  junit: text(
    'FILE',
    'JUnit XML: a test case for each planned trial; one that was not run is an error, and imported conversations are skipped',
  ),
  paper: flag("the table of MUA-RL, with a column for a model's runs of imported benchmarks"),
  json: flag('the metrics and the measures of every rollout; with --paper the table'),
  stream: flag(
    'with --json: before the metrics, print a JSON line with the conversation of each rollout, and one with its result',
  ),
};

export const report: Command = defineCommand({
  name: 'report',
  summary: 'show the metrics of a run, also as a page or for a CI system',
  usage: 'RUN_FOLDER [options]\n--paper RUN_FOLDER [RUN_FOLDER ...]',
  about: 'Computes the metrics of a run again from the recordings of its finished rollouts, and prints them.',
  options,
  run: async (options, positionals, io) => {
    const { html, junit } = options;
    for (const file of [html, junit]) if (file) requireFolderOf(file, io);
    if (options.paper) return printPaper(options, positionals, io);
    refuseMore(positionals, 1, report);
    const record = openRunRecord(io, positionals[0]);
    const metrics = metricsOf(record.rollouts, record.file.prices, plannedTrials(record.file));
    const unverified = unverifiedText(record);
    if (html) writeFileSync(resolve(io.cwd, html), pageText(record, metrics, domainOf(record)));
    if (junit) writeFileSync(resolve(io.cwd, junit), junitText(record));
    if (options.json) {
      const domain = domainOf(record);
      if (options.stream) for (const { recording } of record.rollouts) printRollout(io, recording, domain);
      const { folder, file, rollouts, unfinished, notRun, problems } = record;
      const found = { folder, run: file, metrics, rollouts, unfinished, notRun, problems, unverified };
      io.out(`${JSON.stringify(found)}\n`);
    } else {
      const isWarned = record.rollouts.some(({ warning }) => warning !== null);
      io.out(reportText(record, metrics, isWarned ? domainOf(record) : null, io.cwd));
      if (unverified !== null) io.out(`${unverified}\n`);
      for (const file of [html, junit]) if (file) io.out(`wrote ${file}\n`);
    }
    return record.problems.length > 0 ? 1 : 0;
  },
});

/** Throws a `UsageError` where the folder of a file that is to be written does not exist. */
function requireFolderOf(file: string, { cwd }: Io): void {
  const folder = dirname(file);
  if (existsSync(resolve(cwd, folder))) return;
  throw new UsageError(`${file} cannot be written: the folder ${folder} does not exist. Make it, or name another file`);
}

/** Returns a sentence about a run that does not verify; null where it does. Its key decides whose rewards these are. */
function unverifiedText(record: RunRecord): string | null {
  const { folder, file } = record;
  const own = ownPublicKey();
  const check = `npx rehearsal verify ${shellWord(folder)}`;
  if (file.publicKey !== own)
    return `this run was signed on another machine, or its key was changed. Check it with: ${check} --key PUBLIC_KEY`;
  const { ofRun, ofRollout } = unverifiedIn(record, own);
  const count = ofRun.length + [...ofRollout.values()].flat().length;
  if (count === 0) return null;
  return `this run does not verify (${counted(count, 'problem')}), so its results are not certain. List them with: ${check}`;
}

/** Returns the domain that a run names, as its files are now; null if it does not exist. */
function domainOf({ file: { folder } }: RunRecord): LoadedDomain | null {
  return existsSync(join(folder, 'domain.yaml')) ? loadDomain(folder, { soundness: false }) : null;
}

function printPaper(given: OptionValues<typeof options>, positionals: readonly string[], io: Io): ExitCode {
  const alone = (['html', 'junit'] as const).find((name) => given[name] !== undefined);
  if (alone) throw new UsageError(`--paper is a table of several runs: leave --${alone} out`);
  const [first, ...more] = positionals;
  const records = [first, ...more].map((each) => openRunRecord(io, each));
  const paper = paperOf(records);
  io.out(given.json ? `${JSON.stringify(paper)}\n` : paperText(paper, records));
  return records.some(({ problems }) => problems.length > 0) ? 1 : 0;
}
