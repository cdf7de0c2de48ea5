import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

/** The packed parts of a release, each used from an empty folder. `npm run release -- --dry-run` packs them. */
export default defineConfig({
  test: {
    root: fileURLToPath(new URL('../..', import.meta.url)),
    include: ['test/release/**/*.release.ts'],
    globalSetup: ['test/support/temporary.ts', 'test/release/pack.ts'],
    maxWorkers: 1,
    testTimeout: 300_000,
    hookTimeout: 300_000,
  },
});
