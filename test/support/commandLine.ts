import { inRoot } from '../../scripts/repository.ts';

/** The command line as it is shipped, for tests that start it as a process of its own. */
export const commandLine = inRoot('dist', 'rehearsal.mjs');
