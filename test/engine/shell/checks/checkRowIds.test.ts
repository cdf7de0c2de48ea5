import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { parse, stringify } from 'yaml';
import type { Tool } from '../../../../src/engine/core/domain/tool.ts';
import { type Random, randomStream } from '../../../../src/engine/core/values/random.ts';
import { describeCodeTools } from '../../../../src/engine/shell/describe.ts';
import { completeDomain, loadDomain } from '../../../../src/engine/shell/domain/loadDomain.ts';
import type { Diagnostic } from '../../../../src/engine/shell/files/diagnostic.ts';
import { sampleDomains } from '../../../support/sampleDomains.ts';
import { isFullSuite } from '../../../support/suite.ts';
import { deskTools, type Files, load } from '../load/domainFolder.ts';

const rows = {
  customers: {
    C101: { name: 'Ann Berg', email: 'ann@example.com' },
    C102: { name: 'Bo Lind', email: 'bo@example.com' },
  },
  orders: {
    W1001: { customer: 'C101', status: 'pending' },
    W1002: { customer: 'C101', status: 'pending' },
    W1003: { customer: 'C102', status: 'pending' },
    W1005: { customer: 'C102', status: 'pending' },
  },
};

const task = `id: cancel
persona: plain
user:
  goal: You want to cancel order W1001.
  opening: Please cancel W1001.
  known: { email: ann@example.com, order: W1001 }
actions:
  - { tool: find_order, arguments: { order: W1001 } }
  - { tool: cancel_order, arguments: { order: W1001 } }
`;

const domain = (text: string): Files => ({
  'database.json': JSON.stringify(rows),
  'tasks/first.task.yaml': text,
});

/** Returns the findings about ids of rows, as `line:column code message`. */
function found(text: string): readonly string[] {
  return load(domain(text), deskTools)
    .diagnostics.filter(({ code }) => /missing-row|other-fact|other-owner/.test(code))
    .map(({ line, column, code, message }) => `${line}:${column} ${code} ${message}`);
}

const missing = (place: string, id: string) => `${place} task/missing-row There is no ${id} in orders of the database.`;
const withEverywhere = (id: string) => task.replaceAll('W1001', id);

describe('an id of a row', () => {
  const cases: readonly (readonly [string, string, readonly string[]])[] = [
    ['that is right', task, []],
    [
      'that no row has, in a fact',
      task.replace('order: W1001 }\nactions', 'order: W1009 }\nactions'),
      [missing('6:43', 'W1009')],
    ],
    [
      'that no row has, in the goal and the opening, with a digit more or less',
      task.replace('order W1001.', 'order W10011.').replace('cancel W1001.', 'cancel W100.'),
      [missing('4:34', 'W10011'), missing('5:26', 'W100')],
    ],
    [
      'that no row has, in what is demanded',
      `${task}evaluate: [assertions, receipts]
assertions:
  - { that: 'db.orders.W1008.status == "cancelled"' }
  - { path: orders.W1007.status, equals: cancelled }
receipts: [{ tool: cancel_order, arguments: { order: W1006 } }]
`,
      [missing('12:24', 'W1008'), missing('13:20', 'W1007'), missing('14:54', 'W1006')],
    ],
    [
      'that no row has, in the start of the task',
      `${task}state: [{ path: [orders, W1001, customer], value: C109 }]\n`,
      ['10:51 task/missing-row There is no C109 in customers of the database.'],
    ],
    [
      'that only the task has at its start',
      `${withEverywhere('W1004')}state: [{ path: [orders, W1004], value: { customer: C101 } }]\n`,
      [],
    ],
    ['that has another form, such as that of a tool', task.replace('Please', 'W12345678, WX1001, W2: please'), []],
    [
      'that no row has, between those of others, after a write',
      `${task}  - { tool: cancel_order, arguments: { order: W1004 } }\n`.replace('You want', 'You want W1004 too, and'),
      ['10:47 task/missing-row There is no W1004 in orders of the database, so cancel_order has nothing to work on.'],
    ],
    [
      'that a tool may have made, after a write',
      `${task}  - { tool: cancel_order, arguments: { order: W1006 } }\n`.replace('You want', 'You want W1006 too, and'),
      [],
    ],
    [
      'that the user knows, and the rest of the task does not have',
      task.replace('order: W1001 }\nactions', 'order: W1002 }\nactions'),
      [
        '6:43 task/other-fact The user knows order W1002, which no gold action and no text of the task names. find_order gets order W1001.',
      ],
    ],
    [
      'that the opening has alone',
      task.replace('cancel W1001.', 'cancel W1002.'),
      [
        '5:26 task/other-fact The opening names W1002 of orders, but the user knows order W1001. The gold actions do not name W1002 either.',
      ],
    ],
    ['that the opening has beside the right one', task.replace('cancel W1001.', 'cancel W1001, and not W1002.'), []],
    [
      'of the row of somebody else',
      withEverywhere('W1003'),
      [
        '9:47 task/other-owner cancel_order gets order W1003, whose customer is C102, but email of the user is in the row C101 of customers.',
      ],
    ],
    [
      'of the row of somebody else, whom the goal names',
      withEverywhere('W1003').replace('order W1003.', 'order W1003 of Bo Lind.'),
      [],
    ],
    [
      'of the row of another person, which neither the user nor the task names',
      task
        .replace('find_order, arguments: { order: W1001', 'find_order, arguments: { order: W1003')
        .replace(', order: W1001 }\nactions', ' }\nactions'),
      [
        '8:45 task/other-owner find_order gets order W1003, whose customer is C102, but email of the user is in the row C101 of customers.',
      ],
    ],
    [
      'of the row of somebody else, that is only looked at',
      withEverywhere('W1003').replace(/ {2}- \{ tool: cancel.*\n/, ''),
      [],
    ],
    [
      'of any row if the facts describe no person',
      withEverywhere('W1003').replace('ann@example.com', 'an@example.com'),
      [],
    ],
  ];
  it.each(cases)('%s', (_, text, expected) => {
    expect(found(text)).toEqual(expected);
  });
});

const books = {
  members: { M1: { name: 'Ann Berg', card: '4471', postcode: '8004' } },
  books: { B1: { title: 'The Winter Harbour' }, B2: { title: 'Bread from Scratch' } },
  orders: { L11: { member: 'M1', book: 'B1' }, L12: { member: 'M1', book: 'B2' } },
};

const renewal = (...loans: readonly string[]) => `id: renew
persona: plain
user:
  goal: You want to keep The Winter Harbour and the other book that you have.
  known: { card: "4471", title: The Winter Harbour }
actions:
${loans.map((loan) => `  - { tool: cancel_order, arguments: { order: ${loan} } }\n`).join('')}`;

it.each<[string, readonly string[], readonly string[]]>([
  ['both books that the user wants', ['L11', 'L12'], []],
  ['both books, in another order', ['L12', 'L11'], []],
  ['a book in place of the one that the user wants', ['L12'], ['task/other-owner']],
])('a gold action with the row of %s', (_, loans, codes) => {
  const files = { 'database.json': JSON.stringify(books), 'tasks/first.task.yaml': renewal(...loans) };
  const found = load(files, deskTools).diagnostics.filter(({ code }) => code === 'task/other-owner');
  expect(found.map(({ code }) => code)).toEqual(codes);
});

it('a call with the row that the user describes may name another one beside it', () => {
  const exchange = renewal('L11').replace('order: L11', 'order: L12, loan: L11');
  const files = { 'database.json': JSON.stringify(books), 'tasks/first.task.yaml': exchange };
  expect(load(files, deskTools).diagnostics.filter(({ code }) => code === 'task/other-owner')).toEqual([]);
});

type Site = {
  readonly folder: string;
  readonly file: string;
  readonly index: number;
  readonly path: readonly (string | number)[];
  readonly id: string;
  readonly at: number;
  /** Whether the id is the whole value. */
  readonly isWhole: boolean;
  readonly others: readonly string[];
};

const drawn = isFullSuite ? 200 : 20;

/** The places of a task in which another id is found, whatever it is. */
const places = ['user.known', 'user.goal', 'user.opening', 'actions'];

describe('wrong ids in the tasks of the sample domains', () => {
  const tools = new Map<string, readonly Tool[]>();
  const sites: Site[] = [];

  beforeAll(async () => {
    for (const name of sampleDomains) {
      const folder = join(import.meta.dirname, '../../../../domains', name);
      const loaded = loadDomain(folder);
      tools.set(folder, await describeCodeTools(loaded));
      for (const file of new Set(loaded.parts.tasks.map((placed) => placed.file)))
        for (const [index, each] of [parse(readFileSync(file, 'utf8')) as object].flat().entries())
          sites.push(...sitesIn(each, loaded.world.agent, { folder, file, index }));
    }
  });

  it(`${drawn} that no row has are found`, () => {
    const random = randomStream('missing ids', 'draw');
    const missed = Array.from({ length: drawn }, () => random.pick(sites)).flatMap((site) => {
      const wrong = missingLike(site, random);
      return isFound(site, wrong) ? [] : [`${site.file} ${site.index} ${site.path.join('.')} ${site.id} -> ${wrong}`];
    });
    expect(missed).toEqual([]);
  });

  it(`${drawn} of other rows are found in gold actions`, () => {
    const random = randomStream('other ids', 'draw');
    const own = sites.filter(({ path, isWhole }) => path.includes('arguments') && isWhole);
    const missed = Array.from({ length: drawn }, () => random.pick(own)).flatMap((site) => {
      const wrong = random.pick(site.others);
      return isFound(site, wrong) ? [] : [`${site.file} ${site.index} ${site.path.join('.')} ${site.id} -> ${wrong}`];
    });
    expect(missed).toEqual([]);
  });

  /** Returns the places of ids with two digits or more, in values that are ids and in texts. */
  function sitesIn(each: object, database: object, where: Pick<Site, 'folder' | 'file' | 'index'>): readonly Site[] {
    const tables = Object.values(database).map((table) =>
      Object.keys(table as object).filter((id) => /^[A-Z]+\d{2,}$/.test(id)),
    );
    const visit = (value: unknown, path: readonly (string | number)[]): readonly Site[] => {
      if (typeof value === 'object' && value !== null)
        return Object.entries(value).flatMap(([key, inner]) =>
          visit(inner, [...path, Array.isArray(value) ? Number(key) : key]),
        );
      const place = path[0] === 'user' ? path.slice(0, 2).join('.') : String(path[0]);
      if (typeof value !== 'string' || !places.includes(place)) return [];
      return [...value.matchAll(/\b[A-Z]+\d{2,}\b/g)].flatMap(({ 0: id, index: at }) =>
        tables.flatMap((ids) =>
          ids.includes(id)
            ? [{ ...where, path, id, at, isWhole: value === id, others: ids.filter((other) => other !== id) }]
            : [],
        ),
      );
    };
    return visit(each, []);
  }

  /** Returns an id that no row of the table has: with another digit, or with a digit more. */
  function missingLike({ id, others }: Site, random: Random): string {
    const at = id.length - 1 - random.integer(2);
    const other = `${id.slice(0, at)}${random.integer(10)}${id.slice(at + 1)}`;
    return other === id || others.includes(other) ? `${id}${random.integer(10)}` : other;
  }

  function isFound({ folder, file, index, path, id, at }: Site, wrong: string): boolean {
    const root = [parse(readFileSync(file, 'utf8')) as object].flat();
    const holder = path
      .slice(0, -1)
      .reduce((value, key) => (value as Record<string, unknown>)[key], root[index] as unknown);
    const key = String(path.at(-1));
    const text = String((holder as Record<string, unknown>)[key]);
    (holder as Record<string, unknown>)[key] = `${text.slice(0, at)}${wrong}${text.slice(at + id.length)}`;
    const overlay = new Map([[file, stringify(root, { lineWidth: 100 })]]);
    const { diagnostics } = completeDomain(loadDomain(folder, { overlay }), tools.get(folder) ?? []);
    const about = ({ code, message }: Diagnostic) =>
      /^task\//.test(code) && (message.includes(wrong) || code === 'task/gold-violates');
    return diagnostics.some(about);
  }
});
