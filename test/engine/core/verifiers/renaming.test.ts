import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { World } from '../../../../src/engine/core/domain/domain.ts';
import type { Task } from '../../../../src/engine/core/domain/task.ts';
import type { Message } from '../../../../src/engine/core/events/message.ts';
import type { RolloutState } from '../../../../src/engine/core/events/state.ts';
import { createdId, renamedJson } from '../../../../src/engine/core/values/createdIds.ts';
import type { Json, JsonObject } from '../../../../src/engine/core/values/json.ts';
import { randomStream } from '../../../../src/engine/core/values/random.ts';
import { databaseVerdict } from '../../../../src/engine/core/verifiers/database.ts';
import { openDatabase } from '../../../../src/engine/core/world/database.ts';

const empty = openDatabase({});
const worldOf = (agent: JsonObject): World => ({ agent: openDatabase(agent), user: empty });

type Given = { readonly start?: JsonObject; readonly messages?: readonly Message[]; readonly task?: Partial<Task> };

/** Returns the verdict on an end state, compared with that of the gold actions. */
function verdict(gold: JsonObject, made: JsonObject, { start = {}, messages = [], task = {} }: Given = {}) {
  const state = { world: worldOf(made), messages, next: 1 } as unknown as RolloutState;
  return databaseVerdict({ task: { actions: [], ...task }, state }, worldOf(start), worldOf(gold));
}

/** A row that a tool created: its number, the rows that it refers to, and a text that names one. */
type Row = { readonly refers: readonly number[]; readonly names: number; readonly isAlike: boolean };
const digits = fc.integer({ min: 10_000_000, max: 99_999_990 });
const row: fc.Arbitrary<Row> = fc.record({
  refers: fc.array(fc.nat(20), { maxLength: 3 }),
  names: fc.nat(20),
  isAlike: fc.boolean(),
});
const start: JsonObject = {
  books: { B10000001: { title: 'The Winter Harbour' }, B10000002: { title: 'Salt' } },
  holds: { H10000001: { book: 'B10000001', number: -1 } },
};

/** Draws ids for some rows, different from each other and from those of the start. */
const idsFor = (count: number) =>
  fc
    .uniqueArray(
      digits.filter((each) => each > 10_000_100),
      { minLength: count, maxLength: count },
    )
    .map((numbers) => numbers.map((each) => `H${each}`));

const created = fc.array(row, { minLength: 1, maxLength: 7 }).chain((rows) =>
  fc.record({
    rows: fc.constant(rows),
    ids: idsFor(rows.length),
    others: idsFor(rows.length),
    order: fc.shuffledSubarray(
      rows.map((_, at) => at),
      { minLength: rows.length },
    ),
  }),
);

/** Returns the end state after these rows were created with these ids in this order. */
function endOf(rows: readonly Row[], ids: readonly string[], order: readonly number[]): JsonObject {
  const at = (index: number) => ids[index % ids.length] as string;
  const made = order.map((index): [string, Json] => {
    const { refers, names, isAlike } = rows[index] as Row;
    const text = `after ${at(names)}, for B10000002`;
    return [at(index), { book: 'B10000001', number: isAlike ? 0 : index, after: refers.map(at), note: text }];
  });
  return { ...start, holds: { ...(start['holds'] as JsonObject), ...Object.fromEntries(made) } };
}

const inOrder = (rows: readonly Row[]) => rows.map((_, at) => at);

describe('the end state, up to ids that tools created', () => {
  it('is the same under any renaming of created ids', () => {
    fc.assert(
      fc.property(created, ({ rows, ids, others, order }) => {
        const made = verdict(endOf(rows, ids, inOrder(rows)), endOf(rows, others, order), { start });
        expect(made).toMatchObject({ held: true });
      }),
    );
  });

  const changes: readonly ((holds: Record<string, JsonObject>, id: string, other: string) => unknown)[] = [
    (holds, id) => Object.assign(holds, { [id]: { ...holds[id], book: 'B10000002' } }),
    (holds, id) => Object.assign(holds, { [id]: { ...holds[id], number: 99 } }),
    (holds, id) => Object.assign(holds, { [id]: { ...holds[id], note: `after ${id}, for B10000001` } }),
    (holds, id) => Object.assign(holds, { [id]: { ...holds[id], after: ['H10000001'] } }),
    (holds, id, other) =>
      Object.assign(holds, { [id]: { ...holds[id], after: [...((holds[id]?.['after'] ?? []) as string[]), other] } }),
    (holds, id) => delete holds[id],
    (holds, id) => Object.assign(holds, { H99999998: holds[id] }),
    (holds, id) => Object.assign(holds, { J99999998: holds[id], [id]: undefined }),
    (holds) => Object.assign(holds, { H10000001: { book: 'B10000001', number: 0 } }),
  ];

  it('is another one after any other change', () => {
    fc.assert(
      fc.property(
        created,
        fc.nat(changes.length - 1),
        fc.nat(20),
        fc.nat(20),
        ({ rows, ids, others, order }, which, of, to) => {
          const end = structuredClone(endOf(rows, others, order)) as { readonly holds: Record<string, JsonObject> };
          const at = (index: number) => others[index % others.length] as string;
          changes[which]?.(end.holds, at(of), at(to));
          const made = JSON.parse(JSON.stringify(end)) as JsonObject;
          expect(verdict(endOf(rows, ids, inOrder(rows)), made, { start })).toMatchObject({ held: false });
        },
      ),
    );
  });

  const gold = { holds: { H11111111: { book: 'B1' } }, log: ['placed H11111111'] };
  const made = (id: string): JsonObject => renamedJson(gold, () => id) as JsonObject;
  const call = (args: JsonObject): Message => ({
    role: 'agent',
    step: 1,
    content: null,
    toolCalls: [{ id: '1', name: 'hold', arguments: args }],
  });
  const result = (content: string): Message => ({
    role: 'tool',
    step: 2,
    callId: '1',
    name: 'hold',
    content,
    isError: false,
  });

  it.each<[string, JsonObject, Given, boolean]>([
    ['the same row under another id', made('H22222222'), {}, true],
    ['an id with another prefix', made('K22222222'), {}, false],
    ['an id that the agent made up', made('H22222222'), { messages: [call({ id: 'H22222222' })] }, false],
    [
      'an id that the agent uses after a tool told it',
      made('H22222222'),
      { messages: [call({}), result('{"id":"H22222222"}'), call({ id: 'H22222222' })] },
      true,
    ],
    [
      'an id that the gold actions name',
      made('H22222222'),
      { task: { actions: [{ tool: 'hold', by: 'agent', arguments: { id: 'H11111111' } }] } },
      false,
    ],
    ['a task of a benchmark', made('H22222222'), { task: { origin: { benchmark: 'tau2', id: '1' } } }, false],
    ['two created ids where one is expected', { ...made('H22222222'), log: ['placed H33333333'] }, {}, false],
    ['one created id where two are expected', { holds: { H22222222: { book: 'B1' } }, log: [] }, {}, false],
  ])('%s', (_, end, given, held) => {
    expect(verdict(gold, end, given)).toMatchObject({ held });
  });

  it.each(['', 'R-2026-', 'INV-2026-', 'C3-', 'B:', 'é', 'ticket ', '#', 'a/b.'])(
    'is the same under another id with the prefix "%s"',
    (prefix) => {
      const end = (number: string, book: string): JsonObject => ({
        holds: { [`${prefix}${number}`]: { book } },
        log: [`placed "${prefix}${number}"`, `see\n${prefix}${number}`],
      });
      const messages = [
        call({}),
        result(JSON.stringify({ id: `${prefix}22222222` })),
        call({ id: `${prefix}22222222` }),
      ];
      expect(verdict(end('11111111', 'B1'), end('22222222', 'B1'), { messages })).toMatchObject({ held: true });
      const { held, detail } = verdict(end('11111111', 'B1'), end('22222222', 'B2'), { messages });
      expect([held, detail]).toEqual([false, expect.stringContaining('.book is "B2", expected "B1" (ids')]);
    },
  );

  it.each<[string, Json, Json]>([
    ['a date', '20260522', '20260523'],
    ['a number', 12345678, 12345679],
    ['a longer number', '123456789012', '123456789013'],
  ])('is another one where %s differs', (_, expected, actual) => {
    expect(verdict({ loan: { due: expected } }, { loan: { due: actual } })).toMatchObject({ held: false });
  });

  it('a new id does not read as a date', () => {
    const numbers = [20_260_522, 10_000_005].map((each) => each - 10_000_000);
    const random = { ...randomStream('ids'), integer: () => numbers.shift() ?? 0 };
    expect(createdId(random, 'due ')).toBe('due 10000005');
  });

  it('says which id is which, also where something else differs', () => {
    expect(verdict(gold, made('H22222222')).detail).toBe(
      'the final database is the expected one (ids that tools created: H11111111 is H22222222)',
    );
    const other = { ...made('H22222222'), holds: { H22222222: { book: 'B2' } } };
    expect(verdict(gold, other).detail).toBe(
      'holds.H22222222.book is "B2", expected "B1" (ids that tools created: H11111111 is H22222222)',
    );
  });

  it.each([
    ['before', 'H20000001', 'H20000002'],
    ['after', 'H20000003', 'H20000002'],
  ])('names only the row that is too many, whose id is %s that of the right one', (_, extra, right) => {
    const holds = (rows: JsonObject): JsonObject => ({ holds: rows, readers: { R1: { holds: Object.keys(rows) } } });
    const gold = holds({ H30000001: { book: 'B1', slot: 'S3' } });
    const made = holds({ [right]: { book: 'B1', slot: 'S3' }, [extra]: { book: 'B1', slot: 'S4' } });
    const { detail } = verdict(gold, made, { start: { readers: { R1: { holds: [] } } } });
    expect(detail).toContain(`holds.${extra} is `);
    expect(detail).not.toContain('is missing');
  });

  it('compares many rows that look alike', () => {
    const many = (from: number): JsonObject => ({
      holds: Object.fromEntries(Array.from({ length: 60 }, (_, at) => [`H${from + at}`, { book: 'B1' }])),
    });
    expect(verdict(many(20_000_000), many(50_000_000))).toMatchObject({ held: true });
  });
});
