import { mkdirSync, rmSync } from 'node:fs';
import { runCommand } from './process.ts';
import { inRoot, root } from './repository.ts';
import { type Counts, readVitest, withExitCode } from './results.ts';

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
  const report = inRoot('dist', 'test', `${name}.json`);
  mkdirSync(inRoot('dist', 'test'), { recursive: true });
  rmSync(report, { force: true });
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`];
  const args = [inRoot('node_modules/vitest/vitest.mjs'), 'run', '--config', config, ...reporters, ...filters];
  const { code } = await runCommand(process.execPath, args, { cwd: root, echo: true });
  return withExitCode(readVitest(report), code);
}
