import { writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { metricsOf } from '../../engine/core/metrics.ts';
import { type RunRecord, readRun } from '../../engine/shell/runRecord.ts';
import { type Command, text } from '../command.ts';
import { type Io, UsageError } from '../io.ts';
import { junitText } from '../report/junit.ts';
import { pageText } from '../report/page.ts';
import { reportText } from '../report/text.ts';

export const report: Command = {
  name: 'report',
  summary: 'show the metrics of a run, also as a page or for a CI system',
  help: `rehearsal report RUN_FOLDER [options]

Measures the finished rollouts of a run again from their recordings and prints what it found.

  --html FILE    one page without anything outside of it, with plots and the tables behind them
  --junit FILE   JUnit XML: a test case for each rollout
  --json         the metrics and the measures of every rollout
`,
  options: { html: { type: 'string' }, junit: { type: 'string' } },
  run: async (given, io) => {
    const record = openRunRecord(io, given.positionals[0]);
    const metrics = metricsOf(record.rollouts, record.file.prices);
    const html = text(given, 'html');
    const junit = text(given, 'junit');
    if (html) writeFileSync(resolve(io.cwd, html), pageText(record, metrics));
    if (junit) writeFileSync(resolve(io.cwd, junit), junitText(record));
    if (given.values['json'] === true) {
      const { folder, file, rollouts, unfinished, problems } = record;
      io.out(`${JSON.stringify({ folder, run: file, metrics, rollouts, unfinished, problems })}\n`);
    } else {
      io.out(reportText(record, metrics));
      for (const file of [html, junit]) if (file) io.out(`wrote ${file}\n`);
    }
    return record.problems.length > 0 ? 1 : 0;
  },
};

/** Reads the run of a folder that a person named. */
export function openRunRecord(io: Io, given: string | undefined): RunRecord {
  const record = given === undefined ? null : readRun(resolve(io.cwd, given));
  if (!record) throw new UsageError(`${given ?? 'RUN_FOLDER'}: there is no run here (a folder with run.json)`);
  return record;
}
