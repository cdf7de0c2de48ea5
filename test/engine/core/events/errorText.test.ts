import { expect, test } from 'vitest';
import { readsAsError } from '../../../../src/engine/core/events/errorText.ts';

test.each([
  'Order W9 not found',
  'No such loan: L9',
  'There is no such loan.',
  'Cannot renew this loan: it is overdue.',
  'Error: timeout',
  'An error occurred while renewing.',
  'Invalid argument: day',
  'The member does not exist.',
  'You are not logged in: permission denied',
  '{"error": "no such loan"}',
  '{"success": false}',
  '{"status": "error", "detail": "x"}',
  '"Loan L9 not found"',
])('%s is an error', (content) => {
  expect(readsAsError(content)).toBe(true);
});

test.each([
  'Renewed until 2026-12-01.',
  '{"status": "pending", "error": null}',
  '[]',
  '12.5',
  '',
  'The book was found on shelf 4.',
  '{"title": "Error handling"}',
  `Not found in this list are: ${'a long text about books, '.repeat(20)}`,
])('%s is a result', (content) => {
  expect(readsAsError(content)).toBe(false);
});
