import { ensureBuilt } from '../../scripts/build.ts';

/** Builds before the tests, because the processes that they start run the bundles, which start twice as fast. */
export default ensureBuilt;
