/** Whether this is `npm run test:full`, which also runs exhaustive variants. */
export const isFullSuite = process.env['REHEARSAL_SUITE'] === 'full';

/** A test that only `npm run test:full` runs. */
export const inFullSuite = isFullSuite ? it : it.skip;
