import { isFullSuite } from '../support/suite.ts';
import { chatFaults } from './chatFaults.ts';
import type { Plan } from './plan.ts';
import { streamFaults } from './streamFaults.ts';
import { toolFaults } from './toolFaults.ts';

/** Every fault at every seat that it may be injected at, in a fixed order. */
export const injections: readonly Plan[] = [
  ...[...chatFaults, ...streamFaults].flatMap((fault) =>
    fault.seats.map((seat): Plan => ({ type: 'chat', fault, seat, nth: 0 })),
  ),
  ...toolFaults.map((fault): Plan => ({ type: 'tool', fault })),
].filter(({ fault }) => isFullSuite || fault.isSlow !== true);
