import type { SourceKind } from './sourceKind.ts';

/** Tools of tools.ts. */
export const code: SourceKind<{ readonly type: 'code' }> = () => ({
  runs: 'inWorker',
  state: null,
  declaredAt: null,
  hosted: null,
  nameThere: undefined,
  isInFiles: true,
  isForeign: false,
  isRepeatable: true,
  simulation: null,
  label: 'TypeScript',
});
