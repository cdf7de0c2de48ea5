import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { eventsOf } from '../../src/engine/shell/records/runRecord.ts';
import { findPython } from '../pythonTests.ts';
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
import { checkoutOf } from './copy.ts';

const checkout = checkoutOf('https://github.com/chenchen0103/ACEBench', '56dd66c', {
  name: 'acebench-56dd66c',
  variable: 'REHEARSAL_ACEBENCH_CHECKOUT',
  bytes: 10e6,
});

/** The number of entries whose replayed milestones give an end state that ACEBench's own code accepts. */
const goldEntries: Readonly<Record<string, number>> = {
  multi_turn_en: 29,
  multi_turn_zh: 29,
  multi_step_en: 12,
  multi_step_zh: 14,
};

/** A trajectory with the verdict of ACEBench's code; null if it raised an exception. */
type Judged = {
  readonly task: string;
  readonly kind: string;
  readonly steps: readonly Response[];
  readonly valid: boolean | null;
  /** Process accuracy. */
  readonly process: number | null;
  /** The exception of ACEBench's code; empty if there was none. */
  readonly reason: string;
};

/** Plays each trajectory that the oracle makes of each agent entry as a separate rollout. */
export const acebench: Comparison = {
  name: 'acebench',
  parts: Object.keys(goldEntries),
  copies: [checkout],
  compare: async function* (parts, folder): AsyncIterable<ComparedPart> {
    const domains = join(folder, 'domains');
    const named = parts.map(({ name }) => name).join(',');
    await rehearsal(['import', 'acebench', '--from', checkout.path(), '--out', domains, '--domains', named]);
    for (const { name: part, tasks } of parts) {
      const [, kind = '', language = ''] = /^(.*)_(..)$/.exec(part) ?? [];
      const file = join(folder, `${part}.json`);
      const oracle = ['test/benchmarks/acebench_oracle.py', checkout.path(), kind, language, file, '--tasks', tasks];
      await must(findPython() ?? 'python3', oracle);
      const judged = JSON.parse(readFileSync(file, 'utf8')) as readonly Judged[];
      const run = join(folder, `${part}-run`);
      const receipts = await played(withTrajectories(join(domains, part), judged), run);
      const trajectories = judged.map(({ task, kind: mutation, valid, process: accuracy, reason }): Compared => {
        const receipt = receipts.get(`${task}.${mutation}`);
        const own = receipt && accuracyIn(join(run, receipt.recording));
        return {
          task,
          kind: mutation,
          official: valid === null ? null : Number(valid),
          own: receipt?.reward ?? null,
          raised: reason,
          differs: own === accuracy ? undefined : `process accuracy: official ${accuracy}, here ${own}`,
        };
      });
      yield { name: part, trajectories, goldDemanded: goldEntries[part] ?? 0 };
    }
  },
};

function withTrajectories(imported: string, judged: readonly Judged[]): string {
  return withTasks(imported, judged, (task, { kind, steps }) => {
    const last = task.script.at(-1);
    return {
      ...task,
      id: `${task.id}.${kind}`,
      user: { otherwise: 'finish conversation', ...task.user },
      // The first messages never end a conversation, so the last message is repeated.
      script: [...steps.map(scripted), last, last, last],
    };
  });
}

/** Returns the process accuracy of a recorded rollout, rounded to three digits as in ACEBench. */
function accuracyIn(recording: string): number | undefined {
  const verdicts = eventsOf(recording).flatMap((event) => (event.type === 'verdictReached' ? [event.verdict] : []));
  const milestones = verdicts.find(({ verifier }) => verifier === 'milestones');
  if (milestones?.met === undefined || milestones.of === undefined) return undefined;
  return Math.round((milestones.met / milestones.of) * 1000) / 1000;
}
