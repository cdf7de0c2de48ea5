import { writeFileSync } from 'node:fs';
import type { Reporter, TestModule } from 'vitest/node';

/** Writes the time of each test file, with its imports and hooks, to the file that REHEARSAL_FILE_TIMES names. */
export default class FileTimes implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const file = process.env['REHEARSAL_FILE_TIMES'];
    const times = modules.map((module) => ({ file: module.moduleId, ms: timeOf(module) }));
    if (file) writeFileSync(file, JSON.stringify(times));
  }
}

/** Vitest's JSON report has the times of tests only. */
function timeOf(module: TestModule): number {
  const { prepareDuration, environmentSetupDuration, collectDuration, setupDuration, duration } = module.diagnostic();
  return prepareDuration + environmentSetupDuration + collectDuration + setupDuration + duration;
}
