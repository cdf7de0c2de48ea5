import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

/** Tests with deliberate faults, which the step `planted` of `npm test` runs. */
export default defineConfig({
  test: {
    root: fileURLToPath(new URL('../../..', import.meta.url)),
    include: ['test/scripts/planted/*.planted.ts'],
  },
});
