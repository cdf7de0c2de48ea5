import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  type Compared,
  type ComparedPart,
  type Comparison,
  must,
  played,
  regraded,
  rehearsal,
  scripted,
  withTasks,
} from './comparison.ts';
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

/** The kinds of mutation to compare in the long split; one of them by random edits. The other splits use every kind. */
const someKinds = 'gold,dropped,changed,extra,early,hallucinated,failing,handover,random1';
const splits = [
  { part: 'tau1-retail', domain: 'retail', split: 'test', tasks: 115, kinds: [] },
  { part: 'tau1-airline', domain: 'airline', split: 'test', tasks: 50, kinds: [] },
  { part: 'tau1-retail', domain: 'retail', split: 'train', tasks: 500, kinds: ['--kinds', someKinds] },
] as const;

/** Plays each trajectory that the oracle makes of each task. Parts have a prefix, because tau2 uses the same names. */
export const tau1: Comparison = {
  name: 'tau1',
  parts: ['tau1-retail', 'tau1-airline'],
  // Its evaluator and tau2 both need pydantic, so they use the same Python.
  copies: [tau2Python, checkout],
  compare: async function* (parts, folder): AsyncIterable<ComparedPart> {
    const domains = join(folder, 'domains');
    await rehearsal(['import', 'tau1', '--from', checkout.path(), '--out', domains]);
    for (const { part, domain, split, tasks, kinds } of splits) {
      const chosen = parts.find(({ name: each }) => each === part);
      if (!chosen) continue;
      const name = `${domain}-${split}`;
      const results = join(folder, `${name}.json`);
      const oracle = [
        'test/benchmarks/tau1_oracle.py',
        checkout.path(),
        domain,
        split,
        results,
        ...kinds,
        '--tasks',
        chosen.tasks,
      ];
      await must(tau2Python.path(), oracle);
      const imported = join(domains, domain);
      const scored = await regraded(results, imported, join(folder, `${name}-run`));
      const failed = await playedAgain(failedIn(results), split, imported, join(folder, `${name}-failed`));
      yield { name, trajectories: [...scored, ...failed], goldDemanded: tasks };
    }
  },
};

type Step = {
  readonly by: 'assistant' | 'user';
  readonly text: string | null;
  readonly calls: readonly { readonly tool: string; readonly arguments: string }[];
};

/** A run that ended with an error. Its file has the reward 0 and no trajectory. */
type Failed = {
  readonly id: string;
  readonly task_id: number;
  readonly reward: number;
  readonly info: { readonly error: string };
  readonly steps: readonly Step[];
};

function failedIn(results: string): readonly Failed[] {
  const runs = JSON.parse(readFileSync(results, 'utf8')) as readonly Partial<Failed>[];
  return runs.filter((run): run is Failed => run.info?.error !== undefined);
}

/** Plays the steps of runs that ended with an error in tau-bench as rollouts of scripted seats. */
async function playedAgain(
  runs: readonly Failed[],
  split: string,
  imported: string,
  run: string,
): Promise<readonly Compared[]> {
  if (runs.length === 0) return [];
  const trajectories = runs.map((each) => ({ ...each, task: `${split}/${each.task_id}` }));
  const domain = withTasks(imported, trajectories, (task, { id, steps }) => ({
    ...task,
    id: nameOf(id),
    script: steps.flatMap(({ by, text, calls }) => (by === 'user' ? [] : [calls.length > 0 ? scripted(calls) : text])),
    user: { ...task.user, otherwise: 'Please go on.' },
  }));
  const receipts = await played(domain, run);
  return trajectories.map(({ id, task, reward, info }) => {
    const own = receipts.get(nameOf(id))?.reward ?? null;
    return { task, kind: id.split(' ')[1] ?? '', official: reward, own, raised: info.error };
  });
}

/** Returns the id of a task that plays a run such as `test/5 random1`. */
const nameOf = (id: string) => id.replace('/', '-').replace(' ', '.');
