// The time from F5 to the first stop, and of one step, in the debug adapter's process, without the editor's time.
import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { ensureBuilt } from '../scripts/build.ts';
import { DebugClient } from '../test/support/debugClient.ts';
import { copyLargeDomain } from '../test/support/largeDomain.ts';
import { type Measured, median, rounds } from './measure.ts';

/** Starts the built adapter, runs to a breakpoint, and steps five times. Returns the times in milliseconds. */
export async function firstStop(
  domain = resolve('domains/order-desk'),
): Promise<{ readonly stop: number; readonly step: number }> {
  const policy = join(domain, 'policy.md');
  const line =
    readFileSync(policy, 'utf8')
      .split('\n')
      .findIndex((text) => text.includes('Before any call that changes something')) + 1;
  const from = performance.now();
  const client = new DebugClient(resolve('dist/rehearsal.mjs'));
  try {
    await client.request('initialize', { adapterID: 'rehearsal' });
    const opening = client.request('launch', {
      domain,
      task: 'lamp-variant',
      runs: mkdtempSync(join(tmpdir(), 'rehearsal-bench-')),
    });
    await client.event('initialized');
    await client.request('setBreakpoints', { source: { path: policy }, breakpoints: [{ line }] });
    await client.stop(() => client.request('configurationDone'));
    await opening;
    const stop = performance.now() - from;
    const before = performance.now();
    for (let n = 0; n < 5; n += 1) await client.stop(() => client.request('stepIn', { threadId: 1 }));
    return { stop, step: (performance.now() - before) / 5 };
  } finally {
    client.close();
  }
}

/** Measures five launches of the built adapter, and three in a large domain. */
export async function measureDebugger(): Promise<readonly Measured[]> {
  await ensureBuilt();
  const runs = await launches(rounds(5));
  const large = join(mkdtempSync(join(tmpdir(), 'rehearsal-large-')), 'order-desk');
  copyLargeDomain(large);
  const inLarge = await launches(rounds(3), large);
  return [
    {
      name: 'start of the adapter to the first stop',
      value: median(runs.map(({ stop }) => stop)),
      unit: 'ms',
      note: 'order-desk, breakpoint on a rule, 7 calls in',
    },
    {
      name: 'the same in a large domain',
      value: median(inLarge.map(({ stop }) => stop)),
      unit: 'ms',
      note: '2,000 more tasks, a database of 40 MB',
    },
    {
      name: 'a step',
      value: median(runs.map(({ step }) => step)),
      unit: 'ms',
      note: 'event by event',
      promise: { at: 'most', value: 50 },
    },
  ];
}

async function launches(count: number, domain?: string): Promise<Awaited<ReturnType<typeof firstStop>>[]> {
  const runs = [];
  for (let n = 0; n < count; n += 1) runs.push(await firstStop(domain));
  return runs;
}
