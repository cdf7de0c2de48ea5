// The cost of the sandbox: every measurement with it and without it, in turns, in one process.

import { descendantsOf } from '../scripts/processTree.ts';
import { loadDomain } from '../src/engine/shell/load/loadDomain.ts';
import { findSandbox } from '../src/engine/shell/sandbox.ts';
import { openSupervisor } from '../src/engine/shell/supervisor.ts';
import { firstStop } from './debugger.ts';
import { cpuSeconds, isOnce, type Measured, median, rounds, Skipped } from './measure.ts';
import type { Show } from './parts.ts';
import { measureLive, measureRollouts } from './rollouts.ts';

type Setting = 'on' | 'off';
type Sample = Pick<Measured, 'name' | 'value' | 'unit'>;

/** Compares start, CPU, throughput, memory and the first stop with the sandbox and without it. */
export async function measureSandbox(show: Show): Promise<readonly Measured[]> {
  const sandbox = findSandbox();
  if (sandbox.name === null) throw new Skipped(sandbox.reason);
  const samples: Record<Setting, Sample[]> = { on: [], off: [] };
  try {
    for (let round = 0; round < rounds(5); round += 1)
      for (const setting of round % 2 === 0 ? (['on', 'off'] as const) : (['off', 'on'] as const)) {
        process.env['REHEARSAL_SANDBOX'] = setting;
        samples[setting].push(...(await measureOnce()));
      }
  } finally {
    delete process.env['REHEARSAL_SANDBOX'];
  }
  for (const name of new Set(samples.on.map((each) => each.name))) for (const row of rowsOf(name, samples)) show(row);
  return [];
}

async function measureOnce(): Promise<readonly Sample[]> {
  const { stop } = await firstStop();
  return [
    ...(await measureStart()),
    ...(await measureRollouts(isOnce ? 1 : 20)),
    ...(await measureLive(isOnce ? 16 : 256, 10)),
    { name: 'start of the adapter to the first stop', value: stop, unit: 'ms' },
  ];
}

/** Starts a supervisor with one lane, and ends it. */
async function measureStart(): Promise<readonly Sample[]> {
  const domain = loadDomain('domains/order-desk');
  const from = performance.now();
  const supervisor = await openSupervisor(domain, { lanes: 1 });
  const value = performance.now() - from;
  // Before the end: nobody waits for what a killed sandbox ran, so it counts for no parent.
  const cpu = 1000 * cpuSeconds(descendantsOf(process.pid));
  await supervisor.close();
  return [
    { name: 'start of a lane', value, unit: 'ms' },
    { name: 'CPU of the start of a lane', value: cpu, unit: 'ms' },
  ];
}

/** The medians of a measurement, and the median of what it takes with the sandbox against the round without it. */
function rowsOf(name: string, samples: Readonly<Record<Setting, readonly Sample[]>>): readonly Measured[] {
  const [on, off] = [samples.on, samples.off].map((each) => each.filter((sample) => sample.name === name));
  const values = (each: readonly Sample[] = []) => each.map(({ value }) => value);
  const unit = on?.[0]?.unit ?? '';
  const note = `${on?.length} rounds in turns`;
  const ratios = values(on).map((value, round) => value / (values(off)[round] ?? Number.NaN));
  return [
    { name: `${name}, in the sandbox`, value: median(values(on)), unit, note },
    { name: `${name}, without`, value: median(values(off)), unit, note },
    { name: `${name}, in the sandbox against without`, value: median(ratios), unit: 'times', note },
  ];
}
