import fc from 'fast-check';
import { expect, test } from 'vitest';
import { factOfKind, pathFrom, pathText, typedFact } from '../../../src/webview/models/taskForm.ts';

test('a fact keeps its kind while what is typed is of it', () => {
  expect(typedFact('12', 1)).toBe(12);
  expect(typedFact('twelve', 1)).toBe('twelve');
  expect(typedFact('', 1)).toBe('');
  expect(typedFact('false', true)).toBe(false);
  expect(typedFact('55921', '1')).toBe('55921');
});

test.each([
  ['Hugo Okafor', 'number', null],
  ['12', 'number', 12],
  ['', 'number', 0],
  [true, 'number', null],
  ['maybe', 'boolean', null],
  ['true', 'boolean', true],
  [1, 'boolean', null],
  [12, 'string', '12'],
])('a fact becomes another kind only where its value means one: %j as %s', (value, kind, expected) => {
  expect(factOfKind(value, kind)).toBe(expected);
});

test('a path is keys with dots, or a list in JSON', () => {
  expect(pathFrom('orders.W1.status')).toEqual(['orders', 'W1', 'status']);
  expect(pathFrom('["a.b", 0]')).toEqual(['a.b', 0]);
  expect([pathFrom(''), pathFrom('a..b'), pathFrom('[1'), pathFrom('[]'), pathFrom('[{}]')]).toEqual(
    Array.from({ length: 5 }, () => null),
  );
});

test('every path can be written and read again', () => {
  const keys = fc.array(fc.oneof(fc.string({ minLength: 1 }), fc.nat()), { minLength: 1 });
  fc.assert(
    fc.property(keys, (path) => {
      expect(pathFrom(pathText(path))).toEqual(path);
    }),
  );
});
