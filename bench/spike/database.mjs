// Cost of a write, of the state hash after it and of reading all rows, on 2.8 MB, for ways to store the database.
// Run: node --expose-gc bench/spike/database.mjs      Leaves out: patches of the prototype (the real one is src/engine/core/world/database.ts).
import { createHash, hash as nativeHash } from 'node:crypto';
import { sha256 } from '@noble/hashes/sha2.js';
import { create } from 'mutative';
import { retailDatabase } from './retail.mjs';
import { buildTrie, find, replace } from './trie.mjs';

const json = retailDatabase();
const text = JSON.stringify(json);
console.log(
  `node ${process.version}; ${(text.length / 1e6).toFixed(2)} MB, ${Object.keys(json.orders).length} orders, ${Object.keys(json.users).length} users`,
);
const ids = Object.keys(json.orders);
const row = json.orders[ids[500]];
console.log(`a row: ${JSON.stringify(row).length} B`);

const freeze = (value) => {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  for (const key in value) freeze(value[key]);
  return Object.freeze(value);
};
let sink = 0;
time('JSON.parse of the whole', 5, () => {
  sink += JSON.parse(text).users ? 1 : 0;
});
time('deep freeze of a parsed copy (with parse)', 5, () => {
  sink += freeze(JSON.parse(text)).users ? 1 : 0;
});
const base = freeze(JSON.parse(text));

console.log('\nOne field of one row');
let at = 0;
const next = () => {
  at = (at + 7) % ids.length;
  return ids[at];
};
time('structuredClone and write', 5, () => {
  const copy = structuredClone(base);
  copy.orders[next()].status = 'x';
});
time('spread of the table and the row', 2000, () => {
  const id = next();
  sink += { ...base, orders: { ...base.orders, [id]: { ...base.orders[id], status: 'x' } } }.orders ? 1 : 0;
});
time('mutative', 2000, () => {
  sink += create(base, (d) => {
    d.orders[next()].status = 'x';
  }).orders
    ? 1
    : 0;
});
time('mutative with patches', 2000, () => {
  sink += create(
    base,
    (d) => {
      d.orders[next()].status = 'x';
    },
    { enablePatches: true },
  )[1].length;
});
const trie = buildTrie(base.orders);
time('trie of buckets (prototype): lookup', 20000, () => {
  sink += find(trie, next()) ? 1 : 0;
});
time('trie of buckets (prototype): replace a row', 20000, () => {
  const id = next();
  sink += replace(trie, id, { ...find(trie, id), status: 'x' }).size;
});
console.log('\nAn insert');
time('spread of the table', 2000, (i) => {
  sink += { ...base, orders: { ...base.orders, [`new${i}`]: row } }.orders ? 1 : 0;
});
time('mutative with patches', 2000, (i) => {
  sink += create(
    base,
    (d) => {
      d.orders[`new${i}`] = row;
    },
    { enablePatches: true },
  )[1].length;
});
console.log('\nRead all orders (three fields each)');
const scan = (orders) => {
  let n = 0;
  for (const id of Object.keys(orders)) {
    const o = orders[id];
    if (o.status === 'pending' && o.user_id !== 'x' && o.address.zip !== '0') n++;
  }
  return n;
};
time('frozen plain object', 500, () => {
  sink += scan(base.orders);
});
time('through a mutative draft', 50, () => {
  create(base, (d) => {
    sink += scan(d.orders);
  });
});
const keys = Object.keys(base.orders);
const table = new Proxy(
  {},
  {
    get: (_, key) => find(trie, key),
    ownKeys: () => keys,
    getOwnPropertyDescriptor: (_, key) => ({
      value: find(trie, key),
      enumerable: true,
      configurable: true,
      writable: false,
    }),
  },
);
time('trie behind a proxy, rows frozen and plain', 500, () => {
  sink += scan(table);
});
time('  the same by Object.values', 500, () => {
  for (const o of Object.values(table)) sink += o.status === 'pending' ? 1 : 0;
});

console.log('\nHashing');
const bytes = (size) => new Uint8Array(size).fill(7);
for (const size of [64, 512, 2048, 32768]) {
  const data = bytes(size);
  time(`noble sha256 of ${size} B`, size > 10000 ? 300 : 5000, () => {
    sink += sha256(data)[0];
  });
  time(`node:crypto sha256 of ${size} B`, size > 10000 ? 300 : 5000, () => {
    sink += nativeHash('sha256', data, 'buffer')[0];
  });
}
const canonical = (value) => {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  return `{${Object.keys(value)
    .sort()
    .map((key) => `${JSON.stringify(key)}:${canonical(value[key])}`)
    .join(',')}}`;
};
time('canonical text of a row', 3000, () => {
  sink += canonical(row).length;
});
time('canonical text and sha256 of the whole (native)', 3, () => {
  sink += createHash('sha256').update(canonical(base)).digest()[0];
});
time('a flat hash over 1,000 memoised row hashes (noble)', 200, () => {
  sink += sha256(bytes(1000 * 42))[0];
});

console.log('\nMemory of 1,000 snapshots, one row changed in each');
let kept = [];
for (const [name, snapshot] of [
  ['spread of the table', (id) => ({ ...base.orders, [id]: { ...base.orders[id], status: 'x' } })],
  [
    'mutative',
    (id) =>
      create(base, (d) => {
        d.orders[id].status = 'x';
      }),
  ],
  ['trie of buckets', (id) => replace(trie, id, { ...find(trie, id), status: 'x' })],
]) {
  kept = [];
  const before = heapAfterCollection();
  kept = Array.from({ length: 1000 }, () => snapshot(next()));
  const after = heapAfterCollection();
  console.log(`${name.padEnd(55)} ${((after - before) / 1e6).toFixed(1).padStart(8)} MB for ${kept.length}`);
}
if (sink === 0) throw new Error('nothing was measured');

function heapAfterCollection() {
  if (!globalThis.gc) throw new Error('run with --expose-gc');
  for (let i = 0; i < 4; i++) globalThis.gc();
  return process.memoryUsage().heapUsed;
}

function time(name, count, body) {
  for (let i = 0; i < Math.min(count, 200); i++) body(i);
  const cpu = process.cpuUsage();
  for (let i = 0; i < count; i++) body(i);
  const used = process.cpuUsage(cpu);
  console.log(`${name.padEnd(55)} ${((used.user + used.system) / count).toFixed(2).padStart(10)} us`);
}
