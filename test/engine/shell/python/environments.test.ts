import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { describeExternalTools } from '../../../../src/engine/shell/describe.ts';
import { loadDomain } from '../../../../src/engine/shell/domain/loadDomain.ts';
import { type Rehearsed, rehearse, replayed } from '../../../support/rehearsed.ts';
import { inFullSuite, sampled } from '../../../support/suite.ts';
import { temporaryFolder } from '../../../support/temporary.ts';

const source = fileURLToPath(new URL('shop', import.meta.url));

/** Returns the shop with a kind of state. */
function shop(state: 'snapshot' | 'replay' | 'none'): string {
  const folder = temporaryFolder('rehearsal-shop');
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  cpSync(source, folder, { recursive: true });
  const file = join(folder, 'domain.yaml');
  writeFileSync(file, readFileSync(file, 'utf8').replace('state: snapshot', `state: ${state}`));
  return folder;
}

const chair = (count: number) => `{"customer":"C1","items":[{"name":"chair","count":${count}}],"status":"open"}`;
const table = '{"customer":"C9","items":[{"name":"table","count":1}],"status":"open"}';
const twoChairs = [
  'ok',
  'Error: a count is not negative',
  chair(2),
  table,
  'cancelled',
  "Error: KeyError: 'there is no order W2'",
];

test('methods of an existing class are tools', async () => {
  const tools = await describeExternalTools(loadDomain(source));
  expect(tools.map(({ name, effect, timeoutMs }) => [name, effect, timeoutMs])).toEqual([
    ['cancel', 'write', 30_000],
    ['get_order', 'read', 30_000],
    ['rest', 'read', 4000],
    ['set_count', 'write', 30_000],
  ]);
});

test('a rollout: set-up, writes, a failed write without trace, state, assertions', async () => {
  const [first, second] = await rehearse(source, ['two-chairs', 'two-chairs']);
  for (const closed of [first, second]) {
    expect(closed?.results).toEqual(twoChairs);
    expect(closed).toMatchObject({ reward: 1 });
  }
  if (first) expect(replayed(source, first).problems).toBe(0);
  const saved = first?.events.filter((event) => event.type === 'sourceSaved') ?? [];
  expect(saved.map(({ snapshot }) => snapshot)).toEqual([
    {
      rows: [
        { path: ['orders', 'W1'], value: JSON.parse(chair(2)) },
        { path: ['orders', 'W2'], value: JSON.parse(table) },
        { path: ['revision'], value: 1 },
      ],
    },
    {
      rows: [
        { path: ['orders', 'W2'] },
        { path: ['orders', 'W1'], value: JSON.parse(chair(2)) },
        { path: ['revision'], value: 2 },
      ],
    },
  ]);
});

/** Returns the events of a recording up to the result of its nth call. */
function upTo(closed: Rehearsed | undefined, calls: number) {
  const events = closed?.events ?? [];
  const returned = events.flatMap((event, index) => (event.type === 'toolReturned' ? [index] : []));
  return events.slice(0, (returned[calls - 1] ?? 0) + 1);
}

test.each(sampled(['snapshot', 'replay'] as const, 2))(
  'a fork continues from the state at its step (%s)',
  async (state) => {
    const folder = shop(state);
    const [parent] = await rehearse(folder, ['two-chairs']);
    const [fork] = await rehearse(folder, ['two-chairs'], { from: upTo(parent, 3) });
    expect(fork?.results).toEqual(twoChairs);
    expect(fork?.reward).toBe(1);
  },
);

inFullSuite('without a kind of state, a fork after a write is refused in words', async () => {
  const folder = shop('none');
  const [parent] = await rehearse(folder, ['two-chairs']);
  await expect(rehearse(folder, ['two-chairs'], { from: upTo(parent, 3) })).rejects.toThrow(
    /cannot continue from here: "shop" declares state: none, and set_count changed it/,
  );
});

inFullSuite.each([
  ['snapshot', { endReason: 'userStopped', reward: 1 }],
  ['replay', { endReason: 'userStopped', reward: 1 }],
  ['none', { endReason: 'environmentFailed', failure: { code: 'environment/lost' } }],
] as const)('a hung call of another rollout takes the process, not the state (%s)', async (state, end) => {
  const [survives, hangs] = await rehearse(shop(state), ['survives', 'hangs']);
  expect(hangs).toMatchObject({ endReason: 'environmentFailed', failure: { code: 'tool/hung' } });
  expect(survives).toMatchObject(end);
});
