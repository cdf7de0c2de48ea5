import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

/** Training on targets with real software takes minutes, so only the full suite runs it. */
export default defineConfig({
  test: {
    root: fileURLToPath(new URL('../..', import.meta.url)),
    include: ['test/targets/**/*.targets.ts'],
    globalSetup: ['test/support/temporary.ts', 'test/support/build.ts'],
    env: { REHEARSAL_WORKER: fileURLToPath(new URL('../../dist/worker.mjs', import.meta.url)) },
    maxWorkers: 1,
    testTimeout: 3_600_000,
    hookTimeout: 600_000,
  },
});
