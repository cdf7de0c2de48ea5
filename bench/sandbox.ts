// The cost of confining a domain's code: each measurement runs with the sandbox and Node's flags, with the flags only
// and with neither, in turns, in one process.

import { descendantsOf } from '../scripts/processTree.ts';
import { loadDomain } from '../src/engine/shell/domain/loadDomain.ts';
import { findSandbox } from '../src/engine/shell/processes/sandbox.ts';
import { openSupervisor } from '../src/engine/shell/supervisor.ts';
import { firstStop } from './debugger.ts';
import type { Show } from './measure.ts';
import { cpuSeconds, isOnce, type Measured, median, pssOf, rounds, Skipped } from './measure.ts';
import { measureLive, measureRollouts } from './rollouts.ts';

const settings = ['the sandbox and flags', 'flags', 'neither'] as const;
type Setting = (typeof settings)[number];
type Sample = Pick<Measured, 'name' | 'value' | 'unit'>;
type Samples = Readonly<Record<Setting, readonly Sample[]>>;

const runtimeFlags = process.allowedNodeEnvironmentFlags;

/** Confines the workers that this process starts from now on. */
function confineBy(setting: Setting): void {
  process.env['REHEARSAL_SANDBOX'] = setting === 'the sandbox and flags' ? 'on' : 'off';
  // A runtime without permission flags gets none.
  const value = setting === 'neither' ? new Set() : runtimeFlags;
  Object.defineProperty(process, 'allowedNodeEnvironmentFlags', { value, configurable: true });
}

/** Compares start, CPU, throughput, memory and the first stop of the three settings. */
export async function measureSandbox(show: Show): Promise<readonly Measured[]> {
  const sandbox = findSandbox();
  if (sandbox.name === null) throw new Skipped(sandbox.reason);
  try {
    const samples = await inTurns(measureIn);
    for (const name of new Set(samples.flags.map((each) => each.name)))
      for (const row of rowsOf(name, samples)) show(row);
  } finally {
    confineBy('flags');
    delete process.env['REHEARSAL_SANDBOX'];
  }
  return [];
}

async function measureIn(setting: Setting): Promise<readonly Sample[]> {
  confineBy(setting);
  // The adapter is another process, which does not leave its flags out.
  const stop = setting === 'neither' ? [] : [await measureFirstStop()];
  const rollouts = await measureRollouts(isOnce ? 1 : 20);
  const live = await measureLive(isOnce ? 16 : 256, 10);
  return [...(await measureStart()), ...rollouts, ...live, ...stop];
}

/** Measures every setting once per round, in a different order each time. */
async function inTurns(measure: (setting: Setting) => Promise<readonly Sample[]>): Promise<Samples> {
  const samples: Record<Setting, Sample[]> = { 'the sandbox and flags': [], flags: [], neither: [] };
  for (let round = 0; round < rounds(3); round += 1)
    for (const at of settings.keys()) {
      const setting = settings[(round + at) % settings.length] as Setting;
      samples[setting].push(...(await measure(setting)));
    }
  return samples;
}

async function measureFirstStop(): Promise<Sample> {
  const { stop } = await firstStop();
  return { name: 'start of the adapter to the first stop', value: stop, unit: 'ms' };
}

/** Starts a supervisor with one worker, and ends it. */
async function measureStart(): Promise<readonly Sample[]> {
  const domain = loadDomain('domains/order-desk');
  const from = performance.now();
  const supervisor = await openSupervisor(domain, { workers: 1 });
  const value = performance.now() - from;
  const processes = descendantsOf(process.pid);
  // Measure before the end: no parent waits for the processes of a killed sandbox, so their CPU time would be lost.
  const [cpu, memory] = [1000 * cpuSeconds(processes), pssOf(processes) / 1e6];
  await supervisor.close();
  return [
    { name: 'start of a worker', value, unit: 'ms' },
    { name: 'CPU of the start of a worker', value: cpu, unit: 'ms' },
    { name: 'memory of a worker', value: memory, unit: 'MB' },
  ];
}

/** The medians of a measurement, and the median of each ratio to the round with the flags alone. */
function rowsOf(name: string, samples: Samples): readonly Measured[] {
  const values = (setting: Setting) => samples[setting].filter((each) => each.name === name).map(({ value }) => value);
  const { unit = '' } = samples.flags.find((each) => each.name === name) ?? {};
  const note = `${values('flags').length} rounds in turns`;
  const measured = settings.filter((setting) => values(setting).length > 0);
  const ratioTo = (setting: Setting) => values(setting).map((value, at) => value / (values('flags')[at] ?? Number.NaN));
  return [
    ...measured.map((setting) => ({ name: `${name}, ${setting}`, value: median(values(setting)), unit, note })),
    ...measured
      .filter((setting) => setting !== 'flags')
      .map((setting) => ({
        name: `${name}, ${setting} against flags`,
        value: median(ratioTo(setting)),
        unit: 'times',
        note,
      })),
  ];
}
