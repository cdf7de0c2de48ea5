import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { DebugProtocol } from '@vscode/debugprotocol';
import { expect, test } from 'vitest';
import { type Rows, rowsOf, shownRows } from '../../../src/cli/dap/variables/rows.ts';
import { temporaryFolder } from '../../support/temporary.ts';
import { domain, type Session, session } from './harness.ts';

const many = 12_000;

/** A copy of the domain with a table of many rows, and a long list in one of them. */
function largeDomain(): string {
  const folder = join(temporaryFolder('rehearsal-large'), 'order-desk');
  cpSync(domain, folder, { recursive: true });
  const file = join(folder, 'database.json');
  const database = JSON.parse(readFileSync(file, 'utf8')) as Record<string, unknown>;
  const stock = Array.from({ length: many }, (_, n) => [
    `S${n}`,
    { shelf: n, boxes: n === 0 ? [...Array(250).keys()] : [] },
  ]);
  writeFileSync(file, JSON.stringify({ ...database, stock: Object.fromEntries(stock) }));
  return folder;
}

const large = largeDomain();

type Variables = DebugProtocol.VariablesResponse['body'];
const ask = async (run: Session, args: object) =>
  (await run.client.request<Variables>('variables', args)).body.variables;
const stock = async (run: Session) =>
  (await run.variables('Database')).found.find(({ name }) => name === 'stock') as DebugProtocol.Variable;

test('a large table is opened in pages that are named after their rows, and a long list by its numbers', async () => {
  const run = session();
  await run.client.request('initialize', { adapterID: 'rehearsal', supportsVariablePaging: true });
  const opening = run.client.request('launch', {
    domain: large,
    runs: run.runs,
    task: 'lamp-variant',
    stopOnEntry: true,
  });
  await run.client.event('initialized');
  await run.client.stop(() => run.client.request('configurationDone'));
  await opening;
  const table = await stock(run);
  expect(table).toMatchObject({ value: '12000 rows', evaluateName: 'db.stock' });
  const pages = await ask(run, { variablesReference: table.variablesReference });
  expect([pages.length, pages[0]?.name, pages[0]?.value]).toEqual([2, 'S0 … S9999', '10000 rows']);
  const part = await ask(run, { variablesReference: pages[1]?.variablesReference, start: 18, count: 1 });
  expect(part.map(({ name }) => name)).toEqual(['S11800 … S11899']);
  const rows = await ask(run, { variablesReference: part[0]?.variablesReference });
  expect([rows.length, rows[0]?.name, rows[99]?.name]).toEqual([100, 'S11800', 'S11899']);
  expect(await ask(run, { variablesReference: part[0]?.variablesReference, filter: 'indexed' })).toEqual([]);
  // A data breakpoint finds a row deep in a page.
  const info = { variablesReference: part[0]?.variablesReference, name: 'S11807' };
  expect((await run.client.request('dataBreakpointInfo', info)).body).toMatchObject({
    dataId: '["agent","stock","S11807"]',
  });
  for (const expression of ['db.stock.S0.boxes', 'stock["S0"].boxes']) {
    const { body } = await run.client.request<DebugProtocol.EvaluateResponse['body']>('evaluate', { expression });
    const { variablesReference, indexedVariables } = body;
    expect(indexedVariables).toBe(250);
    const numbers = await ask(run, { variablesReference, filter: 'indexed', start: 200, count: 50 });
    expect([numbers.length, numbers[0]?.name, numbers[49]?.value]).toEqual([50, '200', '249']);
    expect(await ask(run, { variablesReference, filter: 'named' })).toEqual([]);
  }
  const { body } = await run.client.request<DebugProtocol.EvaluateResponse['body']>('evaluate', {
    expression: 'db.stock',
  });
  expect(body.result).toMatch(/^\{"S0":\{"shelf":0,.*\.\.\.$/);
  expect(await ask(run, { variablesReference: body.variablesReference })).toHaveLength(2);
});

test.each([
  [100, 100, '0'],
  [101, 2, '0 … 99'],
  [10_000, 100, '0 … 99'],
  [100_000, 10, '0 … 9999'],
  [3_000_000, 3, '0 … 999999'],
])('of %i rows %i are shown at once, the first as %s; none is made that is not looked at', (total, shown, first) => {
  let made = 0;
  const rows = rowsOf([...Array(total).keys()], true, (key) => {
    made += 1;
    return { name: String(key), value: '' };
  });
  const { total: count, nameAt, page } = shownRows(rows);
  expect([count, nameAt(0)]).toEqual([shown, first]);
  expect(made).toBe(0);
  const walk = (each: Rows): string => {
    const last = shownRows(each).page(shownRows(each).total - 1, 1)[0];
    return last?.rows ? walk(last.rows()) : (last?.name ?? '');
  };
  expect([page(0, 1)[0]?.name, walk(rows)]).toEqual([first, String(total - 1)]);
  expect(made).toBeLessThanOrEqual(2);
  expect(rows.named(String(total - 1))?.name).toBe(String(total - 1));
  expect(rows.named('no')).toBeUndefined();
});
