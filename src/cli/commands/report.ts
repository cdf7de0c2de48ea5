import { existsSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { metricsOf } from '../../engine/core/evaluation/metrics.ts';
import { type LoadedDomain, loadDomain } from '../../engine/shell/domain/loadDomain.ts';
import { plannedTrials } from '../../engine/shell/records/runFile.ts';
import type { RunRecord } from '../../engine/shell/records/runRecord.ts';
import { type Command, type Given, refuseMore, text } from '../options/command.ts';
import { openRunRecord } from '../options/openRunRecord.ts';
import { junitText } from '../report/junit.ts';
import { pageText } from '../report/page.ts';
import { paperOf, paperText } from '../report/paper.ts';
import { reportText } from '../report/text.ts';
import { type ExitCode, type Io, UsageError } from '../terminal/io.ts';
import { printRollout } from '../terminal/runLines.ts';

export const report: Command = {
  name: 'report',
  summary: 'show the metrics of a run, also as a page or for a CI system',
  help: `rehearsal report RUN_FOLDER [options]
rehearsal report --paper RUN_FOLDER [RUN_FOLDER ...]

Measures the finished rollouts of a run again from their recordings and prints what it found.

  --html FILE    one page without anything outside of it: each failed task with its reason in words, its conversation
                 and the failing step, then plots and the tables behind them
  --junit FILE   JUnit XML: a test case for each rollout; imported conversations are skipped
  --paper        the table of MUA-RL, with a column for a model's runs of imported benchmarks
  --json         the metrics and the measures of every rollout; with --paper the table
  --stream       with --json: before them, a JSON line with what was said in each rollout, and one with how it came out
`,
  options: {
    html: { type: 'string' },
    junit: { type: 'string' },
    paper: { type: 'boolean' },
    stream: { type: 'boolean' },
  },
  run: async (given, io) => {
    if (given.values['paper'] === true) return printPaper(given, io);
    refuseMore(given, 1, report);
    const record = openRunRecord(io, given.positionals[0]);
    const metrics = metricsOf(record.rollouts, record.file.prices, plannedTrials(record.file));
    const html = text(given, 'html');
    const junit = text(given, 'junit');
    if (html) writeFileSync(resolve(io.cwd, html), pageText(record, metrics, domainOf(record)));
    if (junit) writeFileSync(resolve(io.cwd, junit), junitText(record));
    if (given.values['json'] === true) {
      const domain = domainOf(record);
      if (given.values['stream'] === true)
        for (const { recording } of record.rollouts) printRollout(io, recording, domain);
      const { folder, file, rollouts, unfinished, problems } = record;
      io.out(`${JSON.stringify({ folder, run: file, metrics, rollouts, unfinished, problems })}\n`);
    } else {
      io.out(reportText(record, metrics));
      for (const file of [html, junit]) if (file) io.out(`wrote ${file}\n`);
    }
    return record.problems.length > 0 ? 1 : 0;
  },
};

/** Returns the domain that a run names, as its files are now; null if it does not exist. */
function domainOf({ file: { folder } }: RunRecord): LoadedDomain | null {
  return existsSync(join(folder, 'domain.yaml')) ? loadDomain(folder, { soundness: false }) : null;
}

function printPaper(given: Given, io: Io): ExitCode {
  const alone = ['html', 'junit'].find((name) => text(given, name) !== undefined);
  if (alone) throw new UsageError(`--paper is a table of several runs: leave --${alone} out`);
  const [first, ...more] = given.positionals;
  const records = [first, ...more].map((each) => openRunRecord(io, each));
  const paper = paperOf(records);
  io.out(given.values['json'] === true ? `${JSON.stringify(paper)}\n` : paperText(paper, records));
  return records.some(({ problems }) => problems.length > 0) ? 1 : 0;
}
