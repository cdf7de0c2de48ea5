import { expect, test } from 'vitest';
import { comparisonOrder, olderFirst } from '../../../src/extension/views/recordingOrder.ts';

const [early, late] = ['/runs/20260101-100000-lamp/', '/runs/20260102-090000-lamp/'];

test.each([
  ['a fork and its origin', `${early}a.0.fork-1.traj.jsonl`, `${early}a.0.traj.jsonl`, 'swapped'],
  ['an origin and its fork', `${early}a.0.traj.jsonl`, `${early}a.0.fork-1.traj.jsonl`, 'kept'],
  ['the tenth fork and the second', `${early}a.0.fork-10.traj.jsonl`, `${early}a.0.fork-2.traj.jsonl`, 'swapped'],
  ['a later run and an earlier one', `${late}a.0.traj.jsonl`, `${early}a.0.fork-1.traj.jsonl`, 'swapped'],
  ['two runs that a person named', '/runs/before/a.0.traj.jsonl', '/runs/after/a.0.traj.jsonl', 'kept'],
  ['two tasks of a run', `${early}b.0.traj.jsonl`, `${early}a.0.traj.jsonl`, 'kept'],
])('%s are compared from the older to the newer', (_, first, second, order) => {
  expect(olderFirst([first, second])).toEqual(order === 'kept' ? [first, second] : [second, first]);
});

test.each([
  ['a fork and then its original', `${early}a.0.fork-1.traj.jsonl`, `${early}a.0.traj.jsonl`, 'swapped'],
  ['a later run and then an earlier one', `${late}a.0.traj.jsonl`, `${early}a.0.traj.jsonl`, 'kept'],
])('%s, chosen one after the other, are compared with the original first', (_, first, second, order) => {
  const compared = comparisonOrder([first, second], { areTogether: false });
  expect(compared).toEqual(order === 'kept' ? [first, second] : [second, first]);
});
