import type { SourceKind } from './sourceKind.ts';

/** Tools of tools.py, or of an environment that works on the domain's database. */
export const python: SourceKind<{ readonly type: 'python'; readonly environment?: string }> = ({ environment }) => ({
  runs: 'inPython',
  state: null,
  declaredAt: environment === undefined ? null : ['environments', environment],
  hosted: environment ?? null,
  nameThere: undefined,
  isInFiles: environment === undefined,
  isForeign: false,
  isRepeatable: true,
  simulation: null,
  label: environment === undefined ? 'Python' : `environment ${environment}`,
});
