/**
 * Writes database.json of this domain: the customers, products and orders of a shop.
 *
 *   node generate.ts
 *
 * Seeded, so it always writes the same file; it is committed, and the engine never runs this script.
 * The tasks name customers and orders of that file: after a change of this script run `node generateTasks.ts`,
 * and `rehearsal check`, which reports what the hand-written tasks can no longer find.
 */
import { writeFileSync } from 'node:fs';
import { seeded } from './random.ts';
import type { Customer, Order, Product } from './tools.ts';

const customerCount = 64;
const orderCount = 220;
const today = Date.parse('2026-03-02');

const firstNames = [
  'Ada',
  'Boris',
  'Clara',
  'Dario',
  'Elif',
  'Femi',
  'Greta',
  'Hugo',
  'Ines',
  'Jonas',
  'Kira',
  'Liam',
  'Mara',
  'Nils',
  'Olga',
  'Pavel',
  'Rosa',
  'Samir',
  'Tilda',
  'Uma',
  'Viktor',
  'Wanda',
  'Yusuf',
  'Zoe',
];
const lastNames = [
  'Okafor',
  'Lindqvist',
  'Moreau',
  'Tanaka',
  'Silva',
  'Novak',
  'Haddad',
  'Petersen',
  'Rossi',
  'Kowalski',
  'Iyer',
  'Brandt',
  'Castillo',
  'Duarte',
  'Eriksen',
  'Fontaine',
  'Greco',
  'Hartmann',
];
const streets = [
  'Mill Lane',
  'Station Road',
  'Park Street',
  'Harbour Way',
  'Church Road',
  'Garden Close',
  'Bridge Street',
];
const towns = ['Ashford', 'Brightwater', 'Coldbrook', 'Dunmore', 'Eastvale', 'Fairhaven', 'Greenfield'];
const cards = ['visa', 'mastercard'];

/** Name, category, price of the first variant, and what each further variant costs more. */
const catalogue: [name: string, category: string, price: number, more: number, variants: string[]][] = [
  ['desk lamp', 'home', 49.9, 6, ['black', 'white', 'brass', 'green']],
  ['floor lamp', 'home', 119, 15, ['black', 'oak', 'brass']],
  ['wall clock', 'home', 34.5, 0, ['white', 'oak', 'red']],
  ['throw blanket', 'home', 42, 0, ['grey', 'navy', 'rust', 'cream']],
  ['cushion cover', 'home', 14.9, 1, ['grey', 'navy', 'rust']],
  ['bookshelf', 'home', 189, 20, ['white', 'oak', 'walnut']],
  ['side table', 'home', 79, 10, ['white', 'oak', 'walnut']],
  ['kettle', 'kitchen', 38.9, 4, ['black', 'steel', 'copper']],
  ['coffee grinder', 'kitchen', 64, 5, ['black', 'steel']],
  ['chef knife', 'kitchen', 58, 12, ['16 cm', '20 cm', '24 cm']],
  ['frying pan', 'kitchen', 32.5, 7, ['20 cm', '24 cm', '28 cm']],
  ['tea towel', 'kitchen', 8.9, 0, ['striped', 'plain', 'checked']],
  ['water bottle', 'outdoor', 21.9, 3, ['500 ml', '750 ml', '1 litre']],
  ['backpack', 'outdoor', 84, 12, ['20 litre', '30 litre', '45 litre']],
  ['hiking boots', 'outdoor', 139, 0, ['size 38', 'size 40', 'size 42', 'size 44']],
  ['rain jacket', 'outdoor', 96, 0, ['small', 'medium', 'large']],
  ['sleeping bag', 'outdoor', 112, 18, ['summer', 'autumn', 'winter']],
  ['camping stove', 'outdoor', 54.9, 9, ['one burner', 'two burners']],
  ['headlamp', 'outdoor', 29.9, 6, ['black', 'orange']],
  ['trail shoes', 'outdoor', 92, 0, ['size 38', 'size 40', 'size 42', 'size 44']],
  ['headphones', 'tech', 79.9, 10, ['black', 'white', 'blue']],
  ['bluetooth speaker', 'tech', 59.9, 5, ['black', 'red', 'blue']],
  ['phone case', 'tech', 17.5, 2, ['clear', 'black', 'leather']],
  ['power bank', 'tech', 35, 14, ['small', 'medium', 'large']],
];

const { next, below, pick, shuffled } = seeded(2026);

const products = Object.fromEntries(
  catalogue.map(([name, category, price, more, variants]) => [
    name,
    {
      category,
      variants: Object.fromEntries(variants.map((variant, index) => [variant, variantAt(price + more * index)])),
    },
  ]),
);
const customers = Object.fromEntries(
  shuffled(fullNames())
    .slice(0, customerCount)
    .map((name, index) => [`C${101 + index}`, customer(name)]),
);
const orders = Object.fromEntries(Array.from({ length: orderCount }, (_, index) => [`W${1001 + index}`, order(index)]));

const tables = { customers, products, orders, handoffs: {} };
writeFileSync(`${import.meta.dirname}/database.json`, databaseText(tables));

function variantAt(price: number): Product['variants'][string] {
  return { price: cents(price), available: next() < 0.85 };
}

function customer(name: string): Customer {
  const email = `${name.toLowerCase().replace(' ', '.')}@example.com`;
  const card = `${pick(cards)} ${1000 + below(9000)}`;
  const others = shuffled(['paypal', 'gift card', `${pick(cards)} ${1000 + below(9000)}`]).slice(0, below(3));
  return { name, email, postcode: postcode(), address: address(), payment_methods: [card, ...others] };
}

/** Returns an order. The first orders belong to each customer once, later ones to random customers. */
function order(index: number): Order {
  const ids = Object.keys(customers);
  const id = ids[index] ?? pick(ids);
  const { address, payment_methods } = customers[id] as Customer;
  const items = shuffled(Object.keys(products))
    .slice(0, 1 + below(3))
    .map((product) => item(product));
  const status = pick([
    'pending',
    'pending',
    'pending',
    'delivered',
    'delivered',
    'delivered',
    'shipped',
    'cancelled',
  ] as const);
  const daysAgo = { pending: 1 + below(4), shipped: 4 + below(4), delivered: 8 + below(50), cancelled: 5 + below(60) }[
    status
  ];
  const paid = { method: pick(payment_methods), amount: cents(items.reduce((sum, { price }) => sum + price, 0)) };
  return {
    customer: id,
    status,
    placed: daysBefore(daysAgo),
    ...(status === 'delivered' ? { delivered: daysBefore(daysAgo - 5) } : {}),
    address,
    items,
    payments: status === 'cancelled' ? [paid, { method: paid.method, amount: -paid.amount }] : [paid],
  };
}

function item(product: string): Order['items'][number] {
  const [variant, { price }] = pick(Object.entries((products[product] as Product).variants));
  return { product, variant, price };
}

function fullNames(): string[] {
  return firstNames.flatMap((first) => lastNames.map((last) => `${first} ${last}`));
}

function address(): string {
  return `${1 + below(90)} ${pick(streets)}, ${pick(towns)}`;
}

function postcode(): string {
  return String(10000 + below(90000));
}

function daysBefore(days: number): string {
  return new Date(today - days * 86_400_000).toISOString().slice(0, 10);
}

function cents(amount: number): number {
  return Math.round(amount * 100) / 100;
}

/** Writes one row per line, so that a change of a row changes one line of the file. */
function databaseText(tables: Record<string, Record<string, unknown>>): string {
  const texts = Object.entries(tables).map(([name, table]) => {
    const rows = Object.entries(table).map(([id, row]) => `    ${JSON.stringify(id)}: ${JSON.stringify(row)}`);
    return rows.length === 0 ? `  "${name}": {}` : `  "${name}": {\n${rows.join(',\n')}\n  }`;
  });
  return `{\n${texts.join(',\n')}\n}\n`;
}
