import { inRoot } from '../../scripts/repository.ts';

/** The command line as it is shipped, for tests that start it as a separate process. */
export const commandLine = inRoot('dist', 'rehearsal.mjs');
