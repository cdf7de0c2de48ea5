import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

/** The unit suites: everything in test/ that needs neither VS Code nor a browser. */
export default defineConfig({
  test: {
    include: ['test/**/*.test.{ts,tsx}'],
    globalSetup: ['test/support/build.ts'],
    setupFiles: ['test/support/properties.ts'],
    env: { REHEARSAL_LANE: fileURLToPath(new URL('dist/lane.mjs', import.meta.url)) },
    exclude: ['test/e2e/**', 'test/gates/planted/**', '**/node_modules/**'],
    // Many start processes of their own, which takes its time on a busy machine.
    testTimeout: 60_000,
    // One more than there are cores: much of the time goes into child processes and limits that are waited for.
    maxWorkers: availableParallelism() + 1,
    // A missing golden file fails instead of being written, except where a person asks for it with -u.
    ...(process.argv.some((arg) => arg === '-u' || arg.startsWith('--update')) ? {} : { update: 'none' as const }),
  },
});
