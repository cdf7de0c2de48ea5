import { configureGlobal } from 'fast-check';
import { runs } from './runs.ts';

/**
 * Seeds properties with `REHEARSAL_SEED`: `npm test` gives the same result for the same source, and the full suite uses
 * a new seed each time. A property without its own count runs `runs(100)` times.
 */
configureGlobal({ seed: Number(process.env['REHEARSAL_SEED'] ?? 1), numRuns: runs(100) });
