import { expect, it } from 'vitest';
import type { Json } from '../../../../src/engine/core/values/json.ts';
import { comparable, differenceBetween } from '../../../../src/engine/core/verifiers/volatile.ts';

const record = (id: string, at: number, other = id): Json => ({
  content: JSON.stringify({ note: { id, at, title: 'Milk' }, links: [other] }),
  text: `created ${other}`,
});

it.each<[string, Json, Json, readonly string[], boolean]>([
  ['ids that a domain declares', record('a7f3', 1), record('99c0', 1), ['id'], true],
  ['a clock that a domain declares', record('a7f3', 1), record('a7f3', 2), ['note.at'], true],
  ['a clock that nothing declares', record('a7f3', 1), record('a7f3', 2), ['id'], false],
  ['a path of another object', record('a7f3', 1), record('a7f3', 2), ['link.at'], false],
  ['a path with any key in it', { notes: { n1: { at: 1 } } }, { notes: { n1: { at: 2 } } }, ['notes.*.at'], true],
  ['a reference to another id', record('a7f3', 1), record('99c0', 1, 'b111'), ['id'], false],
  ['ids that a tool makes by id()', record('N11111111', 1), record('N22222222', 1), [], true],
  ['an id of another kind', record('N11111111', 1), record('M22222222', 1), [], false],
  ['rows in another order', { rows: [{ a: 1 }, { a: 2 }] }, { rows: [{ a: 2 }, { a: 1 }] }, [], false],
  ['rows of a volatile list', { rows: [{ a: 1 }, { a: 2 }] }, { rows: [{ a: 2 }, { a: 1 }] }, ['rows'], true],
  ['other rows of a volatile list', { rows: [{ a: 1 }, { a: 2 }] }, { rows: [{ a: 2 }, { a: 3 }] }, ['rows'], false],
  ['ids in a text that differ beyond 2^53', '{"id":9007199254740992}', '{"id":9007199254740993}', [], false],
  [
    'two ids for one',
    [record('N11111111', 1), record('N11111111', 1)],
    [record('N22222222', 1), record('N33333333', 1)],
    [],
    false,
  ],
])('%s', (_, one, other, volatile, isSame) => {
  const [first, second] = [comparable([one], volatile), comparable([other], volatile)];
  expect(first.texts[0] === second.texts[0]).toBe(isSame);
});

const compare = { unordered: ['rows', 'orders.*.items'], tolerance: { amount: 0.5 } };
const written = (value: Json): Json => ({ patches: [{ op: 'add', path: ['orders', 'W1', 'items'], value }] });

it.each<[string, Json, Json, boolean]>([
  ['rows without an order', { rows: [1, 2] }, { rows: [2, 1] }, true],
  ['rows without an order in a text', { content: '{"rows":[1,2]}' }, { content: '{"rows":[2,1]}' }, true],
  ['numbers within their tolerance', { content: '{"amount":1}' }, { content: '{"amount":1.4}' }, true],
  ['numbers beyond their tolerance', { content: '{"amount":1}' }, { content: '{"amount":1.6}' }, false],
  ['what a patch writes to a list without an order', written(['a', 'b']), written(['b', 'a']), true],
  [
    'rows without an order that have new ids',
    {
      rows: [
        { id: 'N11111111', a: 1 },
        { id: 'N22222222', a: 2 },
      ],
    },
    {
      rows: [
        { id: 'N33333333', a: 2 },
        { id: 'N44444444', a: 1 },
      ],
    },
    true,
  ],
])('%s, as a domain declares them', (_, one, other, isSame) => {
  const [first, second] = [one, other].map((each) => comparable([each], [], compare).texts[0] ?? '');
  expect(differenceBetween(first ?? '', second ?? '', compare) === null).toBe(isSame);
});

it('the first difference is named with its path and both values', () => {
  const [one, other] = [
    comparable([{ state: '{"rows":[{"a":1},{"a":2}]}' }]),
    comparable([{ state: '{"rows":[{"a":1}]}' }]),
  ].map(({ texts }) => texts[0] ?? '');
  expect(differenceBetween(one ?? '', other ?? '')).toBe('state.rows.1 is {"a":2}, then missing');
  expect(differenceBetween(one ?? '', one ?? '')).toBe(null);
});

it('the difference of two long texts that begin alike is shown', () => {
  const [one, other] = ['milk', 'eggs'].map(
    (last) => comparable([{ text: `${'bread, '.repeat(20)}${last}` }]).texts[0] ?? '',
  );
  expect(differenceBetween(one ?? '', other ?? '')).toBe('text is ...d, bread, milk", then ...d, bread, eggs"');
});
