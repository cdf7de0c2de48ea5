import { expect, test } from 'vitest';
import type { Tool } from '../../../src/engine/core/tool.ts';
import { Fault } from '../../../src/engine/shell/fault.ts';
import { ToolCalls } from '../../../src/engine/shell/toolCalls.ts';

const tool = (more: Partial<Tool> = {}): Tool => ({
  name: 'pay',
  description: 'Pays.',
  parameters: { type: 'object' },
  effect: 'write',
  owner: 'agent',
  source: { type: 'mcp', server: 'bank' },
  timeoutMs: 1000,
  idempotent: false,
  ...more,
});
const never = new AbortController().signal;
const failing = (times: number, code = 'mcp/died') => {
  let made = 0;
  return async () => {
    made += 1;
    if (made <= times) throw new Fault({ who: 'environment', code, message: `failure ${made}` });
    return made;
  };
};

test.each([
  { name: 'idempotent, and it works in the end', more: { idempotent: true, retries: 2 }, fails: 2, attempts: 3 },
  { name: 'not idempotent', more: { retries: 2 }, fails: 1, attempts: null },
  { name: 'idempotent without retries', more: { idempotent: true }, fails: 1, attempts: null },
  { name: 'more failures than retries', more: { idempotent: true, retries: 1 }, fails: 2, attempts: null },
  {
    name: 'a failure that stays',
    more: { idempotent: true, retries: 2 },
    fails: 1,
    code: 'mcp/refused',
    attempts: null,
  },
])('retries: $name', async ({ more, fails, code, attempts }) => {
  const made = new ToolCalls().make(tool(more), never, failing(fails, code));
  if (attempts === null) await expect(made).rejects.toThrow(/failure/);
  else expect(await made).toEqual({ result: attempts, attempts });
});

test('a rate limit holds over everything that calls at once, in the order of asking', async () => {
  const calls = new ToolCalls();
  const limited = tool({ rateLimit: { calls: 2, perMs: 200 } });
  const times: number[] = [];
  const order: number[] = [];
  const begin = performance.now();
  await Promise.all(
    Array.from({ length: 6 }, (_, index) =>
      calls.make(limited, never, async () => {
        times.push(performance.now() - begin);
        order.push(index);
      }),
    ),
  );
  expect(order).toEqual([0, 1, 2, 3, 4, 5]);
  // Timers may be late, never early: in no 200 ms do more than two calls begin.
  for (let index = 2; index < times.length; index++)
    expect((times[index] ?? 0) - (times[index - 2] ?? 0)).toBeGreaterThan(150);
  expect(times.at(-1)).toBeGreaterThan(395);
});

test('another tool does not wait for it, and a cancelled rollout stops waiting', async () => {
  const calls = new ToolCalls();
  const limited = tool({ rateLimit: { calls: 1, perMs: 60_000 } });
  await calls.make(limited, never, async () => 1);
  expect((await calls.make(tool({ name: 'other' }), never, async () => 2)).result).toBe(2);
  const abort = new AbortController();
  const waits = calls.make(limited, abort.signal, async () => 3);
  abort.abort();
  await expect(waits).rejects.toThrow(/abort/);
});
