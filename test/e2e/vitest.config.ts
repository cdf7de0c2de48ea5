import { fileURLToPath } from 'node:url';
import { configDefaults, defineConfig } from 'vitest/config';

/** Stories that take a minute and more each: `npm run test:full` plays them, and whoever asks for one by its name. */
const longStories = [
  'benchmark',
  'coldStart',
  'conversations',
  'emptyFolder',
  'firstUse',
  'forks',
  'insideTool',
  'making',
  'modelDrafting',
  'pausedEditor',
  'targets',
  'testExplorer',
  'training',
  'trajectory',
  'trust',
  'tutorial',
  'walk',
].map((name) => `test/e2e/${name}.e2e.ts`);

/** End-to-end tests in a real VS Code: two files at a time, each with its own server and browser. */
export default defineConfig({
  test: {
    root: fileURLToPath(new URL('../..', import.meta.url)),
    include: ['test/e2e/**/*.e2e.ts'],
    exclude: [...configDefaults.exclude, ...(process.env['REHEARSAL_SUITE'] === 'full' ? [] : longStories)],
    maxWorkers: 2,
    testTimeout: 180_000,
    hookTimeout: 180_000,
    bail: 0,
  },
});
