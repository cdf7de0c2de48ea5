/** The entry that VS Code loads in its extension host: runs the test files of this folder with mocha. */
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { format } from 'node:util';
import Mocha from 'mocha';
import { testMark } from '../../../scripts/vscode/testMark.ts';

/** What one run found; written as JSON to the file that REHEARSAL_HOST_RESULTS names. */
export type HostResults = { passed: number; failed: number; skipped: number };

/** Runs all tests and rejects when one failed, which is how VS Code learns the exit code. */
export async function run(): Promise<void> {
  const mocha = new Mocha({ ui: 'bdd', timeout: 60_000, color: false, forbidOnly: true });
  const only = process.env.REHEARSAL_HOST_FILES;
  for (const file of readdirSync(__dirname).sort()) {
    if (file.endsWith('.test.cjs') && (!only || file.includes(only))) mocha.addFile(join(__dirname, file));
  }
  const results = await runMarked(mocha);
  const file = process.env.REHEARSAL_HOST_RESULTS;
  if (file) writeFileSync(file, JSON.stringify(results));
  if (results.failed > 0) throw new Error(`${results.failed} tests failed in the extension host`);
  if (results.passed === 0) throw new Error('No test ran in the extension host');
}

/** Runs mocha with each printed line marked. */
function runMarked(mocha: Mocha): Promise<HostResults> {
  Mocha.reporters.Base.consoleLog = (...args: unknown[]) => {
    for (const line of format(...args).split('\n')) console.log(`${testMark}${line}`);
  };
  return new Promise((resolve) => {
    const runner = mocha.run((failed) => {
      const { passes = 0, pending = 0 } = runner.stats ?? {};
      resolve({ passed: passes, failed, skipped: pending });
    });
  });
}
