import { expect, test } from 'vitest';
import { evaluate } from '../../domains/order-desk/arithmetic.ts';

test.each([
  ['1+2*3', 7],
  ['(49.9 - 34.5) * 2', 30.8],
  ['8/4/2', 1],
  ['10-3-2', 5],
  ['-(2+3)/5', -1],
  ['2--3', 5],
])('%s is %d', (expression, value) => expect(evaluate(expression)).toBeCloseTo(value));

test.each([
  ['1/0', 'nothing can be divided by 0'],
  ['2 3', '"3" does not belong there'],
  ['(1', 'a closing parenthesis is missing'],
  ['', 'the expression ends too early'],
  ['process.exit()', '"p" does not belong there'],
])('%s is refused', (expression, message) => expect(() => evaluate(expression)).toThrow(message));
