import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  type Compared,
  type ComparedPart,
  type Comparison,
  must,
  played,
  type Response,
  rehearsal,
  scripted,
  withTasks,
} from './comparison.ts';
import { pythonWith } from './copy.ts';

/** The package without dependencies that only clients of models need, and the one that its checker imports. */
const python = pythonWith(['--no-deps', 'bfcl-eval==2026.3.23', 'mpmath==1.3.0'], {
  name: 'bfcl-2026.3.23',
  variable: 'REHEARSAL_BENCH_BFCL',
  bytes: 3e6,
});

const entriesEach = 200;

/** A trajectory with the verdict of BFCL's checker; null if it raised an exception. */
type Judged = {
  readonly task: string;
  readonly kind: string;
  readonly responses: readonly Response[];
  readonly valid: boolean | null;
  /** The reason for a failure, or the exception of the checker. */
  readonly reason: string;
};

/** Plays each trajectory that the oracle makes of each multi-turn entry as a separate rollout. */
export const bfcl: Comparison = {
  name: 'bfcl',
  parts: ['base', 'miss_func', 'miss_param', 'long_context'],
  copies: [python],
  compare: async function* (parts, folder): AsyncIterable<ComparedPart> {
    const domains = join(folder, 'domains');
    const named = ['--domains', parts.map(({ name }) => name).join(',')];
    await rehearsal(['import', 'bfcl', '--from', 'bfcl-eval', '--python', python.path(), '--out', domains, ...named]);
    for (const { name: category, tasks } of parts) {
      const file = join(folder, `${category}.json`);
      await must(python.path(), ['test/benchmarks/bfcl_oracle.py', category, file, '--tasks', tasks]);
      const judged = JSON.parse(readFileSync(file, 'utf8')) as readonly Judged[];
      const domain = withTasks(join(domains, category), judged, (task, { kind, responses }) => ({
        ...task,
        id: `${task.id}.${kind}`,
        script: responses.map(scripted),
      }));
      const receipts = await played(domain, join(folder, `${category}-run`));
      const trajectories = judged.map(({ task, kind, valid, reason }): Compared => {
        const official = valid === null ? null : Number(valid);
        return { task, kind, official, own: receipts.get(`${task}.${kind}`)?.reward ?? null, raised: reason };
      });
      yield { name: category, trajectories, goldDemanded: entriesEach };
    }
  },
};
