import type { Simulation, SourceKind } from './sourceKind.ts';

/** Tools for which a model answers. */
export const simulated: SourceKind<{ readonly type: 'simulated' } & Simulation> = (simulation) => ({
  runs: 'byModel',
  state: null,
  declaredAt: null,
  hosted: null,
  nameThere: undefined,
  isInFiles: false,
  isForeign: false,
  isRepeatable: false,
  simulation,
  label: 'simulated by a model',
});
