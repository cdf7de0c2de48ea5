import { describe, expect, it, test } from 'vitest';
import {
  type Activity,
  lineOf,
  nothingSpent,
  priceIn,
  spentAfter,
  spentText,
  statusOf,
} from '../../../src/extension/commandLine/activity.ts';

const activity = (part: Partial<Activity> = {}): Activity => ({
  type: 'evaluation',
  title: 'order-desk',
  detail: '',
  spent: nothingSpent,
  isStopping: false,
  ...part,
});

describe('the status bar', () => {
  it('shows nothing while nothing runs', () => {
    expect(statusOf([])).toBeNull();
  });

  it('says what runs, and its tokens and cost so far', () => {
    const running = activity({ detail: '3/12 mean reward 0.67', spent: { tokens: 12_345, money: 0.5 } });
    expect(statusOf([running])).toEqual({
      text: '$(sync~spin) order-desk · 12.3k tokens · cost 0.50',
      tooltip:
        'Evaluation: order-desk · 3/12 mean reward 0.67 · 12.3k tokens · cost 0.50\nSelect to stop or to open it.',
    });
    expect(statusOf([activity({ isStopping: true })])?.text).toBe('$(sync~spin) order-desk (stopping)');
  });

  it('adds up what runs at once', () => {
    const both = [
      activity({ spent: { tokens: 10, money: 0.25 } }),
      activity({ type: 'training', title: 'grpo', spent: { tokens: 20, money: null } }),
    ];
    expect(statusOf(both)?.text).toBe('$(sync~spin) 2 running · 30 tokens · cost 0.25');
    expect(statusOf(both)?.tooltip.split('\n')).toHaveLength(3);
  });
});

describe('what is spent', () => {
  it('is money where the engine or a person knows the price', () => {
    const price = { input: 1, output: 2 };
    const answer = { input: 1_000_000, output: 500_000, money: null };
    expect(spentAfter(nothingSpent, answer, null)).toEqual({ tokens: 1_500_000, money: null });
    const first = spentAfter(nothingSpent, answer, price);
    expect(first).toEqual({ tokens: 1_500_000, money: 2 });
    expect(spentAfter(first, { ...answer, money: 0.5 }, price)).toEqual({ tokens: 3_000_000, money: 2.5 });
  });

  test.each([
    [{ tokens: 0, money: null }, ''],
    [{ tokens: 999, money: null }, '999 tokens'],
    [{ tokens: 1000, money: 0.001 }, '1.0k tokens · cost 0.0010'],
    [{ tokens: 2_500_000, money: 3 }, '2.50M tokens · cost 3.00'],
  ])('%j: %s', (spent, text) => expect(spentText(spent)).toBe(text));

  test.each([
    ['0.5/1.5', { input: 0.5, output: 1.5 }],
    [' 2 / 3 ', { input: 2, output: 3 }],
    ['', null],
    ['1', null],
    ['-1/2', null],
    ['a/b', null],
  ])('the price %j', (text, price) => expect(priceIn(text)).toEqual(price));
});

test('a line of the list', () => {
  expect(lineOf(activity({ type: 'debugging', title: 'lamp-variant' }))).toBe('Debugging: lamp-variant');
});
