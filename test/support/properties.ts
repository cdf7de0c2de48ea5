import { configureGlobal } from 'fast-check';
import { runs } from './runs.ts';

/**
 * Properties draw from `REHEARSAL_SEED`: `npm test` gives the same verdict on the same tree, and the full suite takes
 * a new seed each time. A property without a count of its own is tried `runs(100)` times.
 */
configureGlobal({ seed: Number(process.env['REHEARSAL_SEED'] ?? 1), numRuns: runs(100) });
