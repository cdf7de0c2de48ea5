import type { Step } from './step.ts';
import { Failure } from './terminal.ts';

/** The options that select steps. `only` and `skip` are lists with commas. */
export type Choice = {
  readonly only?: string | undefined;
  readonly skip?: string | undefined;
  readonly from?: string | undefined;
  readonly full: boolean;
};

/** The steps that run, in their order, and those that the options leave out, with the reason. */
export type Selection = {
  readonly chosen: readonly Step[];
  readonly leftOut: readonly { readonly step: Step; readonly reason: string }[];
};

/** Selects steps. Throws a `Failure` for a name that is not a step, and for a `--from` that is not in the suite. */
export function selectSteps(steps: readonly Step[], { only, skip, from, full }: Choice): Selection {
  const named = namesIn(steps, only);
  const skipped = namesIn(steps, skip) ?? [];
  const suite = steps.filter((step) => named?.includes(step.name) ?? isUsual(step, full));
  const first = from === undefined ? 0 : suite.findIndex(({ name }) => name === from);
  if (first < 0) throw new Failure(`--from ${from}: that step is not in this run. Its steps are ${listed(suite)}.`);
  const reasons = suite.map((step, at) => {
    if (at < first) return `it is before --from ${from}`;
    return skipped.includes(step.name) ? '--skip' : undefined;
  });
  return {
    chosen: suite.filter((_, at) => reasons[at] === undefined),
    leftOut: suite.flatMap((step, at) => (reasons[at] === undefined ? [] : [{ step, reason: reasons[at] }])),
  };
}

function isUsual({ isFull = false, isPlanted = false }: Step, full: boolean): boolean {
  return !isPlanted && (full || !isFull);
}

function namesIn(steps: readonly Step[], list: string | undefined): readonly string[] | undefined {
  const names = list?.split(',');
  const unknown = names?.filter((name) => steps.every((step) => step.name !== name)) ?? [];
  if (unknown.length > 0) throw new Failure(`There is no step ${unknown.join(', ')}. The steps are ${listed(steps)}.`);
  return names;
}

function listed(steps: readonly Step[]): string {
  return steps.map(({ name }) => name).join(', ');
}
