import { join } from 'node:path';
import { type ComparedPart, type Comparison, must, regraded, rehearsal } from './comparison.ts';
import { checkoutOf } from './copy.ts';
import { tau2Python } from './tau2Python.ts';

const checkout = checkoutOf(
  'https://github.com/sierra-research/tau-bench',
  '59a200c6d575d595120f1cb70fea53cef0632f6b',
  {
    name: 'tau-bench-59a200c',
    variable: 'REHEARSAL_TAU1_CHECKOUT',
    bytes: 60e6,
  },
);

/** What is compared of it: every split; of the long one those mutations of which every task has five. */
const someKinds = 'gold,dropped,changed,extra,early,hallucinated,failing,handover';
const splits = [
  { part: 'tau1-retail', domain: 'retail', split: 'test', tasks: 115, kinds: [] },
  { part: 'tau1-airline', domain: 'airline', split: 'test', tasks: 50, kinds: [] },
  { part: 'tau1-retail', domain: 'retail', split: 'train', tasks: 500, kinds: ['--kinds', someKinds] },
] as const;

/** Every trajectory that the oracle makes of every task. Its domains are called as tau2's are, so parts have a prefix. */
export const tau1: Comparison = {
  name: 'tau1',
  parts: ['tau1-retail', 'tau1-airline'],
  // Its evaluator needs pydantic, which tau2 does too, so one Python serves both.
  copies: [tau2Python, checkout],
  compare: async function* (parts, folder): AsyncIterable<ComparedPart> {
    const domains = join(folder, 'domains');
    await rehearsal(['import', 'tau1', '--from', checkout.path(), '--out', domains]);
    for (const { part, domain, split, tasks, kinds } of splits) {
      if (!parts.includes(part)) continue;
      const name = `${domain}-${split}`;
      const results = join(folder, `${name}.json`);
      const oracle = ['test/benchmarks/tau1_oracle.py', checkout.path(), domain, split, results, ...kinds];
      await must(tau2Python.path(), oracle);
      const trajectories = await regraded(results, join(domains, domain), join(folder, `${name}-run`));
      yield { name, trajectories, goldDemanded: tasks };
    }
  },
};
