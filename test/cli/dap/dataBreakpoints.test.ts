import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { DebugProtocol } from '@vscode/debugprotocol';
import { describe, expect, test } from 'vitest';
import { rehearsal } from '../../support/terminal.ts';
import { domain, reason, type Session, sharedSession as session, text } from './harness.ts';

type Info = DebugProtocol.DataBreakpointInfoResponse['body'];
type Placed = DebugProtocol.SetDataBreakpointsResponse['body'];

const info = async (run: Session, args: object) => (await run.client.request<Info>('dataBreakpointInfo', args)).body;

/** Sets one data breakpoint on the value of an expression. */
async function watch(run: Session, name: string, accessType: string, more: object = {}) {
  const { dataId } = await info(run, { name });
  const set = { breakpoints: [{ dataId, accessType, ...more }] };
  const { body } = await run.client.request<Placed>('setDataBreakpoints', set);
  return body.breakpoints[0];
}

/** Returns the reason of each stop until the end. */
async function walk(run: Session, move = 'continue'): Promise<readonly (string | undefined)[]> {
  const stops: (string | undefined)[] = [];
  for (;;) {
    const stop = await run.step(move);
    if (reason(stop) === 'exit' || reason(stop) === 'entry' || stop.event === 'terminated') return stops;
    stops.push(text(stop));
  }
}

describe('a data breakpoint', () => {
  test('stops where a row is read, where it is written, or both; forward and back', async () => {
    const run = session();
    await run.begin({ task: 'lamp-variant', agent: 'gold', stopOnEntry: true });
    expect(await watch(run, 'db.orders.W1138', 'read')).toEqual({ verified: true, id: 1 });
    const reads = await walk(run);
    expect(reads).toEqual(['orders.W1138 is read by get_order', 'orders.W1138 is read by change_item']);
    // Going back from the end finds the last read, also with a breakpoint that was set there.
    expect(await watch(run, 'orders.W1138.status', 'readWrite')).toMatchObject({ verified: true });
    expect(await walk(run, 'reverseContinue')).toEqual([
      'orders.W1138.status is read by change_item',
      'orders.W1138.status is read by get_order',
    ]);
    await watch(run, 'orders.W1138.payments', 'readWrite');
    expect(await walk(run)).toEqual([
      'orders.W1138.payments is read by get_order',
      'orders.W1138.payments is written',
      'orders.W1138.payments is read by change_item',
    ]);
    await watch(run, 'db.orders.W1138', 'write');
    expect(await walk(run, 'reverseContinue')).toEqual(['orders.W1138 is written']);
  });

  test('has conditions and hit counts, is offered for what an expression names, and is set by name', async () => {
    const run = session();
    await run.begin({ task: 'lamp-variant', agent: 'gold', stopOnEntry: true });
    expect(await info(run, { name: 'db.orders.W1138.items[0].price', frameId: 1 })).toEqual({
      dataId: '["agent","orders","W1138","items",0,"price"]',
      description: 'orders.W1138.items[0].price',
      accessTypes: ['read', 'write', 'readWrite'],
      canPersist: true,
    });
    // A row that does not exist yet can be watched.
    expect(await info(run, { name: 'handoffs.C119' })).toMatchObject({ dataId: '["agent","handoffs","C119"]' });
    expect(await info(run, { name: 'turn' })).toEqual({
      dataId: null,
      description: 'turn is not a value of the database',
    });
    expect(await info(run, { name: 'db' })).toMatchObject({
      dataId: null,
      description: expect.stringMatching(/name a table/),
    });
    expect(await info(run, { name: '1 +' })).toMatchObject({ dataId: null });
    expect(await info(run, { name: '0x10', asAddress: true, bytes: 4 })).toMatchObject({ dataId: null });
    await watch(run, 'db.orders.W1138', 'read', { hitCondition: '2' });
    expect(await walk(run)).toEqual(['orders.W1138 is read by change_item']);
    await watch(run, 'db.orders.W1138', 'read', { condition: 'turn < 4' });
    expect(await walk(run, 'reverseContinue')).toEqual(['orders.W1138 is read by get_order']);
    await run.client.request('setDataBreakpoints', { breakpoints: [] });
    const named = [
      'write:orders.W1138.payments',
      'read:db.customers.C119',
      'read:turn',
      'write:1 +',
      'write:orders.W113',
    ];
    const { body } = await run.client.request<Placed>('setFunctionBreakpoints', {
      breakpoints: named.map((name) => ({ name })),
    });
    expect(body.breakpoints.map(({ message }) => message)).toEqual([
      undefined,
      undefined,
      'turn is not a value of the database',
      expect.stringMatching(/^"1 \+" is not an expression/),
      expect.stringMatching(
        /^the database has no orders\.W113, so it stops when that is added\. Did you mean "W\d+"\?$/,
      ),
    ]);
    expect(await walk(run)).toContain('orders.W1138.payments is written');
    const broken = { breakpoints: [{ dataId: 'nonsense' }, { dataId: '["unknown","orders"]' }] };
    const { body: refused } = await run.client.request<Placed>('setDataBreakpoints', broken);
    expect(refused.breakpoints.map(({ verified, message }) => [verified, message])).toEqual([
      [false, '"nonsense" is not a value of the database'],
      [false, '"["unknown","orders"]" is not a value of the database'],
    ]);
  });

  test('on reads reports that a recording made without the debugger has no reads', async () => {
    const run = session();
    await rehearsal('run', domain, 'lamp-variant', '--out', join(run.runs, 'run'));
    const recording = join(run.runs, 'run', 'lamp-variant.0.traj.jsonl');
    await run.begin({ recording });
    const blind = await watch(run, 'db.orders.W1138', 'read');
    expect(blind).toMatchObject({
      verified: false,
      message: expect.stringMatching(
        /^the reads of 6 of the 6 calls recorded so far are unknown, so this breakpoint skips them/,
      ),
    });
    expect(await watch(run, 'db.orders.W1138', 'readWrite')).toMatchObject({
      verified: true,
      message: expect.stringMatching(/^the reads of 6 of the 6/),
    });
    expect(await walk(run)).toEqual(['orders.W1138 is written']);
    // A fork runs the tools again and records what they read.
    await run.client.stop(() => run.type('/turn 2'));
    await watch(run, 'db.orders.W1138', 'read');
    await run.client.stop(() => run.type('/resample'));
    expect(await walk(run)).toContain('orders.W1138 is read by get_order');
  });

  test('a recording of the debugger tells its reads also later', async () => {
    const run = session();
    await run.begin({ task: 'lamp-variant', noDebug: true });
    const [recording = ''] = run.recordings();
    expect(readFileSync(recording, 'utf8')).not.toContain('"reads"');
    const later = session();
    await later.begin({ recording });
    expect(await watch(later, 'db.orders.W1138', 'read')).toEqual({ verified: true, id: 1 });
    expect(await walk(later)).toContain('orders.W1138 is read by get_order');
  });
});
