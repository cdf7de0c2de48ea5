import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  conditionHolds,
  evaluateExpression,
  parseExpression,
  pathsIn,
  scopeOf,
} from '../../../../src/engine/core/expression/expression.ts';
import type { JsonObject } from '../../../../src/engine/core/values/json.ts';

const names: JsonObject = {
  db: {
    orders: { W1: { status: 'pending', items: [{ product: 'lamp', price: 49.9 }] }, '#W-2': { status: 'shipped' } },
    people: [
      { name: 'Ann', notes: ['likes tea'] },
      { name: 'Bo', notes: [] },
    ],
  },
  args: { order_id: 'W1', product: 'lamp' },
  now: '2026-03-02T10:00:00Z',
  calls: [
    { tool: 'find', args: { id: 'W1' }, result: { id: 'C1' }, failed: false },
    { tool: 'find', args: { id: 'W2' }, result: 'Error', failed: true },
  ],
  message: 'Shall I cancel W1? The refund takes 5-7 business days.',
};
const scope = scopeOf(names);
const value = (text: string) => {
  const evaluated = evaluateExpression(text, scope);
  return 'problem' in evaluated ? evaluated.problem : evaluated.value;
};

describe('an expression', () => {
  it.each([
    ['1 + 2 * 3', 7],
    ['(1 + 2) * 3 - -1', 10],
    ['7 % 4 / 2', 1.5],
    ['"a" + \'b\'', 'ab'],
    ['db.orders.W1.status', 'pending'],
    ['db.orders[args.order_id].status', 'pending'],
    ['db.orders["#W-2"].status', 'shipped'],
    ['db.orders.W1.items.0.price', 49.9],
    ['db.people[name=Ann].notes[0]', 'likes tea'],
    ['db.people[-1].name', 'Bo'],
    ['db.orders.W9.status.length', null],
    ['db.constructor', null],
    ['db.__proto__', null],
    ['1 < 2 and "a" < "b"', true],
    ['not 1 == 2', true],
    ['!(1 == 1) || false', false],
    ['"W1" in db.orders && "x" not in "abc"', true],
    ['args.product in ["lamp", "chair"]', true],
    ['[1, [2]] == [1, [2]]', true],
    ['any(db.orders, it.status == "shipped")', true],
    ['all(db.people, p, count(p.notes) < 2)', true],
    ['any(db.people, p, any(p.notes, n, n in ["likes tea"] and p.name == "Ann"))', true],
    ['find(db.people, it.name == "Bo").name', 'Bo'],
    ['count(filter(db.people, count(it.notes) == 0))', 1],
    ['sum(db.orders.W1.items, it.price)', 49.9],
    ['round(10 / 3, 2)', 3.33],
    ['days("2026-02-01", now)', 29],
    ['days("2026-03-01T23:00:00Z", now)', 1],
    ['days(now, "2026-02-28")', -2],
    ['days("2026-03-02T23:00:00Z", "2026-03-02T01:00:00Z")', 0],
    ['keys(db.orders)', ['W1', '#W-2']],
    ['last("find").id', 'C1'],
    ['last("other")', null],
    ['mentions(message, db.orders)', ['W1']],
    ['asksForYes(message)', true],
    ['sentences("It costs 4.5. Shall I?")', ['It costs 4.5.', 'Shall I?']],
    ['sentences("We have:\\n- oak\\n- walnut, 229")', ['We have:', 'We have: oak', 'We have: walnut, 229']],
    ['clauses("White is gone, but oak is there. Shall I?")', ['White is gone', 'but oak is there.', 'Shall I?']],
    ['durations("Within the hour, in half an hour, or in a couple of days. Just a minute.")', [1, 0.5, 2]],
    ['amounts("That is 15 less, 253 in total.")', [15, 253]],
    ['says(message, "5 ... 7 ... days")', true],
    ['says(message, ["never", "the refund"])', true],
    ['names(message, args.order_id)', true],
    ['amounts("It is $12, or 3.50. Size 40.")', [12, 3.5]],
    ['numbers("1,200.5 and 3")', [1200.5, 3]],
    ['durations("It takes 5 to 7 business days, or in three weeks. It was 20 days ago, in 2026.")', [5, 7, 7, 3]],
    ['lower("ABC")', 'abc'],
    ['count(words("one two"))', 2],
    ['"9007199254740993" == 9007199254740993', true],
    ['"9007199254740992" == 9007199254740993', false],
    ['"9007199254740993" > 100 and -9007199254740993 < 0.5', true],
    ['"9007199254740993" > 9007199254740992 and not (9007199254740993 <= "9007199254740992")', true],
    ['"12345678901234567890" > "9007199254740993"', true],
    ['9007199254740993 + "9007199254740993"', '18014398509481986'],
    ['9007199254740993 - 9007199254740992', 1],
    ['9007199254740991 * 3', '27021597764222973'],
    ['9007199254740993 * -1', '-9007199254740993'],
    ['9007199254740993 % 10', 3],
    ['9007199254740993 / 2', 4503599627370496],
    ['9007199254740993 + 0.5', 2 ** 53],
    ['9007199254740993 + " items"', '9007199254740993 items'],
    ['-"-9007199254740993"', '9007199254740993'],
    ['sum([9007199254740993, 1])', '9007199254740994'],
    ['round(9007199254740993)', '9007199254740993'],
    ['0.1 + 0.2', 0.1 + 0.2],
  ] as const)('%s', (text, expected) => expect(value(text)).toEqual(expected));

  it.each([
    ['order == 1', 'order is not known here'],
    ['now < 3', '"2026-03-02T10:00:00Z" < 3 does not compare two numbers or two texts'],
    ['1 / 0', 'nothing can be divided by 0'],
    ['days(null, now)', 'days needs two dates, not null'],
    ['days("2025-02-30", now)', 'days needs two dates, and "2025-02-30" does not exist'],
    [
      'days("03/04/2025", now)',
      'days needs two dates, and "03/04/2025" is ambiguous: write the year first, as in 2026-01-05',
    ],
    ['days("2025", now)', 'days needs two dates, and "2025" is not a date'],
    ['says(message, null)', 'says needs phrases, not nothing'],
    ['any(3, it)', 'any needs a list, not 3'],
  ])('%s has no value', (text, problem) => expect(value(text)).toBe(problem));

  it.each([
    ['"2026-03-28", "2026-03-30"', 'Europe/Berlin', 2],
    ['"2026-03-28T12:00:00+01:00", "2026-03-30T11:00:00+02:00"', 'Europe/Berlin', 2],
    ['"2026-10-24T23:30:00", "2026-10-26T00:30:00"', 'Europe/Berlin', 2],
    ['"2026-03-02T22:00:00Z", "2026-03-02T23:30:00Z"', 'Europe/Berlin', 1],
    ['"2026-03-02T22:00:00Z", "2026-03-02T23:30:00Z"', 'America/New_York', 0],
    ['"2026-03-02T22:00:00Z", "2026-03-02T23:30:00Z"', 'UTC', 0],
  ])('days(%s) counts calendar days in %s: %d', (dates, timeZone, days) => {
    expect(evaluateExpression(`days(${dates})`, scopeOf({ timeZone }))).toEqual({ value: days });
  });

  it.each([
    ['a = 1', '= compares nothing: write ==', 2],
    ['a =< 1', '=< is not an operator: write <=', 2],
    ['a => 1', '=> is not an operator: write >=', 2],
    ['a ==', 'the expression ends too early', 4],
    ['(a', 'expected ")", but found the end', 2],
    ['a b', 'expected an operator such as == or the end, but found "b"', 2],
    ['"a', 'a quote is not closed', 0],
    ['a ; b', '";" does not belong here', 2],
    ['eval("1")', 'there is no function eval; there are ', 0],
    ['days(now)', 'days is written days(from, to)', 0],
    ['any(a, 1, b)', 'the second of three inputs of any is a name', 0],
    ['('.repeat(80), 'this is nested too deeply', 60],
  ])('%s is refused', (text, problem, at) => {
    expect(parseExpression(text)).toMatchObject({ problem: expect.stringContaining(problem), at });
  });

  it('never throws for any text', () => {
    const part = fc.constantFrom(
      'db',
      '.orders',
      '[0]',
      '(',
      ')',
      'any(',
      ',',
      'it',
      '==',
      '"a"',
      ' and ',
      'not ',
      '-',
      '1',
    );
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.array(part).map((parts) => parts.join('')),
        ),
        (text) => {
          const holds = conditionHolds(text, scope);
          expect(typeof holds === 'boolean' || typeof holds.problem === 'string').toBe(true);
        },
      ),
    );
  });

  it('ends, however large the computation is', () => {
    const many = scopeOf({ list: Array.from({ length: 2000 }, (_, index) => index) });
    expect(evaluateExpression('any(list, a, any(list, b, a + b == -1))', many)).toEqual({
      problem: 'this takes too long',
    });
  });

  it.each([
    [
      'args.id in db.orders and any(calls, c, c.tool == it) and x["a"].b > 1',
      [
        ['args', 'id', 0],
        ['db', 'orders', 11],
        ['calls', 29],
        ['it', 49],
        ['x', 'a', 'b', 57],
      ],
    ],
    [
      'args.id == last("find").id',
      [
        ['args', 'id', 0],
        ['calls', 11],
      ],
    ],
  ])('lists what it reads: %s', (text, expected) => {
    const parsed = parseExpression(text);
    const paths = 'expression' in parsed ? pathsIn(parsed.expression) : [];
    expect(paths.map(({ name, keys, at }) => [name, ...keys, at])).toEqual(expected);
  });
});
