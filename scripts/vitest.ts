import { readFileSync } from 'node:fs';
import { stripVTControlCharacters } from 'node:util';
import { runCommand } from './process.ts';
import { inRoot, root } from './repository.ts';
import { type Counts, freshReport, readVitest, withExitCode } from './results.ts';
import { Failure } from './terminal.ts';

/**
 * Runs vitest once and counts from its JSON report.
 * @param name the name of the report in dist/test
 * @param filters parts of test file names, and options of vitest; none means all. Without a match no test is counted.
 */
export async function runVitest(
  name: string,
  filters: readonly string[],
  config = 'vitest.config.ts',
): Promise<Counts> {
  const report = freshReport(`${name}.json`);
  const times = freshReport(`${name}-files.json`);
  const reporters = [
    '--reporter=default',
    '--reporter=json',
    `--outputFile.json=${report}`,
    `--reporter=${inRoot('scripts/fileTimes.ts')}`,
  ];
  const env = { ...process.env, REHEARSAL_FILE_TIMES: times };
  const matching = filters.length > 0 ? ['--passWithNoTests', ...filters] : [];
  const args = [inRoot('node_modules/vitest/vitest.mjs'), 'run', '--config', config, ...reporters, ...matching];
  const { code, output } = await runCommand(process.execPath, args, { cwd: root, env, echo: true });
  const [error] = /Vitest caught \d+ unhandled errors?/.exec(stripVTControlCharacters(output)) ?? [];
  return withExitCode(readVitest(report, times), code, error);
}

/**
 * Returns the test files that vitest would run.
 * @param name the name of the list in dist/test
 */
export async function listVitest(name: string, filters: readonly string[]): Promise<readonly string[]> {
  const list = freshReport(`${name}.json`);
  const args = [inRoot('node_modules/vitest/vitest.mjs'), 'list', '--filesOnly', `--json=${list}`, ...filters];
  const { code, output } = await runCommand(process.execPath, args, { cwd: root });
  if (code !== 0) throw new Failure(`vitest could not list the test files:\n${output.trim()}`);
  return (JSON.parse(readFileSync(list, 'utf8')) as { file: string }[]).map(({ file }) => file);
}
