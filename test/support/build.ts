import { ensureBuilt } from '../../scripts/build.ts';

/** Before the tests: processes that they start run what is bundled, as the product does, and start twice as fast. */
export default ensureBuilt;
