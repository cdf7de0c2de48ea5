import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

/** End-to-end tests in a real VS Code: two files at a time, each with its own server and browser. */
export default defineConfig({
  test: {
    root: fileURLToPath(new URL('../..', import.meta.url)),
    include: ['test/e2e/**/*.e2e.ts'],
    maxWorkers: 2,
    testTimeout: 180_000,
    hookTimeout: 180_000,
    bail: 0,
  },
});
