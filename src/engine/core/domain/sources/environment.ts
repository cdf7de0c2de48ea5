import type { SourceKind } from './sourceKind.ts';

type Environment = { readonly type: 'environment'; readonly environment: string };

/** Tools of an environment in Python that has its own state. */
export const environment: SourceKind<Environment> = ({ environment: name }) => ({
  runs: 'atSource',
  state: name,
  declaredAt: ['environments', name],
  hosted: null,
  nameThere: undefined,
  isInFiles: false,
  isForeign: false,
  isRepeatable: true,
  simulation: null,
  label: `environment ${name}`,
});
