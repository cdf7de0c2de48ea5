import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { limit } from './support/until.ts';

/** The files that `npm test` runs: the story from F5 to the reward, and others that need little more. */
const quick = ['story', 'smoke', 'comparison', 'report', 'toolView', 'trajectoryView', 'views'];

const names = process.env['REHEARSAL_SUITE'] === 'full' ? ['*'] : quick;

/** End-to-end tests: two workers, each with one browser and one VS Code server for all of its files. */
export default defineConfig({
  test: {
    root: fileURLToPath(new URL('../..', import.meta.url)),
    include: names.map((name) => `test/e2e/${name}.e2e.ts`),
    globalSetup: ['test/support/temporary.ts', 'test/e2e/support/setUp.ts'],
    setupFiles: ['test/e2e/support/failures.ts'],
    maxWorkers: 2,
    isolate: false,
    testTimeout: 5 * limit,
    hookTimeout: 5 * limit,
    expect: { poll: { timeout: limit } },
  },
});
