// The promise: the same rollout on this engine and on tau2-bench's own orchestrator and evaluator, in turns, in one run.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { tau2Python } from '../scripts/benchmarks/tau2Python.ts';
import { type Measured, median, rounds, tau2Interpreter } from './measure.ts';
import { openRetail } from './retail.ts';

/** Measures the CPU of all processes for a rollout of 78 messages, and the ratio of tau2-bench to it. */
export async function measurePromise(show: (row: Measured) => void): Promise<readonly Measured[]> {
  const ours: number[] = [];
  const theirs: number[] = [];
  const retail = await openRetail(1);
  try {
    await retail.play(rounds(200, 40));
    for (let round = 0; round < rounds(3); round += 1) {
      const { own, workers } = await retail.play(rounds(400, 40));
      ours.push(own + workers);
      if (tau2Python.isReady()) theirs.push(...(await playTau2(tau2Python.path(), rounds(5))));
    }
  } finally {
    await retail.close();
  }
  show({
    name: 'CPU of a rollout of 78 messages',
    value: median(ours),
    unit: 'ms',
    note: `${rounds(3)} times ${rounds(400, 40)} rollouts on 2.9 MB with evaluation, 1 worker, all processes`,
  });
  tau2Interpreter();
  return [
    {
      name: 'CPU of the same rollout in tau2-bench',
      value: median(theirs),
      unit: 'ms',
      note: `retail, ${theirs.length} rollouts, in turns with the above`,
    },
    {
      name: 'tau2-bench against this engine',
      value: median(theirs) / median(ours),
      unit: 'times',
      note: 'CPU of all processes',
      promise: { at: 'least', value: 75 },
    },
  ];
}

async function playTau2(program: string, count: number): Promise<readonly number[]> {
  const { stdout } = await promisify(execFile)(program, ['bench/tau2_rollout.py', String(count)], {
    maxBuffer: 2 ** 24,
  });
  const line = stdout.trim().split('\n').at(-1) ?? '';
  return (JSON.parse(line) as { readonly ms: readonly number[] }).ms;
}
