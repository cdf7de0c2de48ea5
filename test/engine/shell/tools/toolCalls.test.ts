import { expect, test } from 'vitest';
import type { Tool } from '../../../../src/engine/core/domain/tool.ts';
import { Fault } from '../../../../src/engine/shell/files/fault.ts';
import type { Clock } from '../../../../src/engine/shell/processes/clock.ts';
import { ToolCalls } from '../../../../src/engine/shell/tools/toolCalls.ts';

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
/** A clock that jumps to the end of the shortest wait when nothing else is left to do. */
const jumpingClock = (): Clock & { readonly waits: readonly number[] } => {
  let now = 0;
  const waits: number[] = [];
  const ends: { readonly at: number; readonly end: () => void }[] = [];
  const jump = () => {
    const next = ends.sort((a, b) => a.at - b.at).shift();
    if (!next) return;
    now = next.at;
    next.end();
  };
  const sleep = (ms: number) =>
    new Promise<void>((end) => {
      waits.push(ms);
      ends.push({ at: now + ms, end });
      setImmediate(jump);
    });
  return { now: () => now, sleep, waits };
};
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
  { name: 'a redirect', more: { idempotent: true, retries: 2 }, fails: 1, code: 'mcp/error', attempts: null },
])('retries: $name', async ({ more, fails, code, attempts }) => {
  const clock = jumpingClock();
  const made = new ToolCalls(clock).make(tool(more), never, failing(fails, code));
  if (attempts === null) await expect(made).rejects.toThrow(/failure/);
  else expect(await made).toEqual({ result: attempts, attempts });
  expect(clock.waits).toEqual([100, 200].slice(0, attempts === null ? Math.min(fails - 1, more.retries ?? 0) : fails));
});

test.each([
  { retries: 2, attempts: 3, isError: false },
  { retries: 1, attempts: 2, isError: true },
])('a result of a busy server is taken $attempts times', async ({ retries, attempts, isError }) => {
  const clock = jumpingClock();
  let made = 0;
  const attempt = async () => {
    made += 1;
    return made < 3 ? { isError: true, isTemporary: true } : { isError: false };
  };
  const { result, ...rest } = await new ToolCalls(clock).make(tool({ idempotent: true, retries }), never, attempt);
  expect([rest.attempts, result.isError]).toEqual([attempts, isError]);
});

test('a rate limit holds for all concurrent calls, in the order of their requests', async () => {
  const clock = jumpingClock();
  const calls = new ToolCalls(clock);
  const limited = tool({ rateLimit: { calls: 2, perMs: 200 } });
  const begun: [index: number, at: number][] = [];
  await Promise.all(
    Array.from({ length: 6 }, (_, index) => calls.make(limited, never, async () => begun.push([index, clock.now()]))),
  );
  expect(begun).toEqual([0, 0, 200, 200, 400, 400].map((at, index) => [index, at]));
});

test('a rate limit takes memory for the calls that are made, not for those that it allows', async () => {
  const limited = tool({ rateLimit: { calls: Number.MAX_SAFE_INTEGER, perMs: 200 } });
  expect((await new ToolCalls().make(limited, never, async () => 1)).result).toBe(1);
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
