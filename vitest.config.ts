import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { runs } from './test/support/runs.ts';

/** Tests of code that runs from its source: they need neither dist/ nor another process of the product. */
const fromSource = [
  'test/engine/core/**/*.test.ts',
  'test/language/**/*.test.ts',
  'test/authoring/masking/**/*.test.ts',
  'test/scripts/**/*.test.ts',
  'test/syntaxes/**/*.test.ts',
  'test/webview/**/*.test.{ts,tsx}',
];
/** Tests that replace the module `vscode`, each by its own stand-in: their files cannot share modules. */
const ofExtension = ['test/extension/**/*.test.ts'];
const needsBuild = {
  globalSetup: ['test/support/build.ts'],
  env: { REHEARSAL_WORKER: fileURLToPath(new URL('dist/worker.mjs', import.meta.url)) },
};
const outside = ['test/e2e/**', 'test/gates/planted/**', '**/node_modules/**'];

/** The unit suites: everything in test/ that needs neither VS Code nor a browser. */
export default defineConfig({
  test: {
    globalSetup: ['test/support/temporary.ts'],
    setupFiles: ['test/support/properties.ts'],
    // All files of a worker share their modules: the engine is loaded and compiled once, not once per file.
    isolate: false,
    // Many tests start processes, which take long on a busy machine.
    testTimeout: runs(300_000),
    hookTimeout: runs(300_000),
    // The limit only ends a test that hangs.
    expect: { poll: { timeout: 240_000 } },
    // Also beside the other steps of `npm test`, because a test often waits for a process.
    maxWorkers: availableParallelism(),
    // A missing golden file fails instead of being written, except where a person asks for it with -u.
    ...(process.argv.some((arg) => arg === '-u' || arg.startsWith('--update')) ? {} : { update: 'none' as const }),
    projects: [
      { extends: true, test: { name: 'source', include: fromSource, exclude: outside } },
      {
        extends: true,
        test: {
          name: 'extension',
          include: ofExtension,
          isolate: true,
          ...needsBuild,
        },
      },
      {
        extends: true,
        test: {
          name: 'built',
          include: ['test/**/*.test.{ts,tsx}'],
          exclude: [...fromSource, ...ofExtension, ...outside],
          ...needsBuild,
        },
      },
    ],
  },
});
