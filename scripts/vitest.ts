import { stripVTControlCharacters } from 'node:util';
import { runCommand } from './process.ts';
import { inRoot, root } from './repository.ts';
import { type Counts, freshReport, readVitest, withExitCode } from './results.ts';

/**
 * Runs vitest once and counts from its JSON report.
 * @param name the name of the report in dist/test
 * @param filters parts of test file names, and options of vitest; none means all
 */
export async function runVitest(
  name: string,
  filters: readonly string[],
  config = 'vitest.config.ts',
): Promise<Counts> {
  const report = freshReport(`${name}.json`);
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`];
  const args = [inRoot('node_modules/vitest/vitest.mjs'), 'run', '--config', config, ...reporters, ...filters];
  const { code, output } = await runCommand(process.execPath, args, { cwd: root, echo: true });
  const [error] = /Vitest caught \d+ unhandled errors?/.exec(stripVTControlCharacters(output)) ?? [];
  return withExitCode(readVitest(report), code, error);
}
