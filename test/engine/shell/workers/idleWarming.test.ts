import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { warmDialogue } from '../../../../src/engine/core/dialogue/warm.ts';
import { warmWhileIdle } from '../../../../src/engine/shell/workers/idleWarming.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

test('a process warms nothing in its first moment, then step by step to the end', () => {
  const isWanted = vi.fn(() => true);
  warmWhileIdle(isWanted);
  vi.advanceTimersByTime(900);
  expect(isWanted).not.toHaveBeenCalled();
  vi.advanceTimersByTime(60_000);
  expect(isWanted).toHaveBeenCalledTimes([...warmDialogue()].length + 1);
});

test('a process that becomes busy is no longer warmed', () => {
  let asked = 0;
  warmWhileIdle(() => {
    asked += 1;
    return asked < 3;
  });
  vi.advanceTimersByTime(60_000);
  expect(asked).toBe(3);
});
