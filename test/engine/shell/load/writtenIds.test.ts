import { expect, test } from 'vitest';
import { writtenIds } from '../../../../src/engine/shell/load/writtenIds.ts';

test.each([
  ['id: Lamp Variant!', 'Lamp Variant!'],
  ['- id: "Lamp Variant!"', 'Lamp Variant!'],
  ["- { id: 'lamp it', split: test }", 'lamp it'],
  ['- {id: lamp}', 'lamp'],
  ['id: lamp # the lamp', 'lamp'],
  ['id: "lamp  ', 'lamp'],
])('the id of %s is whole', (row, id) => {
  expect(writtenIds(row)).toEqual([{ id, line: 1 }]);
});
