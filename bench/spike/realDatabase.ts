// The same costs as database.mjs, for the real src/engine/core/world/database.ts.
// Run: node bench/spike/realDatabase.ts
import { hash as nativeHash } from 'node:crypto';
import { useNativeHash } from '../../src/engine/core/values/hash.ts';
import type { JsonObject } from '../../src/engine/core/values/json.ts';
import {
  applyPatches,
  draft,
  hashOf,
  openDatabase,
  readView,
  sameDatabase,
  toJson,
} from '../../src/engine/core/world/database.ts';
// @ts-expect-error a plain script without types
import { retailDatabase } from './retail.mjs';

// biome-ignore lint/suspicious/noExplicitAny: code of a domain writes to its database untyped.
type Loose = any;
const json = retailDatabase() as JsonObject & { orders: JsonObject };
const ids = Object.keys(json.orders);
let at = 0;
let sink = 0;
const next = () => {
  at = (at + 7) % ids.length;
  return ids[at] as string;
};

const write = (db: ReturnType<typeof openDatabase>) => {
  const open = draft(db);
  (open.view as Loose).orders[next()].status = `x${at}`;
  return open.finish();
};

for (const hashing of ['noble', 'native'] as const) {
  if (hashing === 'native') useNativeHash((text) => nativeHash('sha256', text, 'hex'));
  console.log(`\n${hashing}`);
  const base = openDatabase(json);
  time('open', 3, () => {
    sink += openDatabase(json) ? 1 : 0;
  });
  const before = process.memoryUsage().heapUsed;
  time('first hash of the whole', 1, () => {
    sink += hashOf(base).length;
  });
  console.log(`heap after it: ${((process.memoryUsage().heapUsed - before) / 1e6).toFixed(1)} MB more`);
  let db = base;
  time('draft, one field, finish', 5000, () => {
    db = write(base).db;
  });
  time('the same, nested field', 5000, () => {
    const open = draft(base);
    (open.view as Loose).orders[next()].items[0].price += 1;
    db = open.finish().db;
  });
  time('insert of a copied row', 3000, () => {
    const open = draft(base);
    const view = open.view as Loose;
    view.orders[`new${at}`] = { ...view.orders[next()] };
    sink += open.finish().patches.length;
  });
  time('write and hash', 3000, () => {
    sink += hashOf(write(base).db).length;
  });
  time('write, apply the patches, hash', 3000, () => {
    const { patches } = write(base);
    sink += hashOf(applyPatches(base, patches)).length;
  });
  time('write, apply copied patches, hash', 3000, () => {
    const { patches } = write(base);
    sink += hashOf(applyPatches(base, [...patches])).length;
  });
  time('lookup in the read view', 5000, () => {
    sink += (readView(db) as Loose).orders[next()].status.length;
  });
  time('scan of the read view, never written', 200, () => {
    sink += scan((readView(base) as Loose).orders);
  });
  time('scan of the read view after a write', 200, () => {
    sink += scan((readView(db) as Loose).orders);
  });
  time('scan of a draft', 20, () => {
    sink += scan((draft(base).view as Loose).orders);
  });
  const [a, b] = [write(base).db, write(base).db];
  time('comparison of two versions', 3000, () => {
    sink += sameDatabase(a, b) ? 1 : 0;
  });
  time('plain JSON of a version', 100, () => {
    sink += Object.keys(toJson(db)).length;
  });
}
if (sink === 0) throw new Error('nothing was measured');

function scan(orders: Loose): number {
  let count = 0;
  for (const id of Object.keys(orders)) if (orders[id].status === 'pending' && orders[id].address.zip !== '0') count++;
  return count;
}

function time(name: string, count: number, body: () => void): void {
  if (count > 10) for (let i = 0; i < Math.min(count, 300); i++) body();
  const cpu = process.cpuUsage();
  for (let i = 0; i < count; i++) body();
  const used = process.cpuUsage(cpu);
  console.log(`${name.padEnd(45)} ${((used.user + used.system) / count).toFixed(2).padStart(10)} us`);
}
