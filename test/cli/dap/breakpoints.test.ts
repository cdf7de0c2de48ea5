import { join } from 'node:path';
import type { DebugProtocol } from '@vscode/debugprotocol';
import { describe, expect, test } from 'vitest';
import { modelServer } from '../../support/modelServer.ts';
import { calling } from '../../support/scriptedModel.ts';
import { domain, lineOf, type Session, sharedSession as session, text } from './harness.ts';

/** As the adapter accepts it: in the protocol, only source breakpoints have log messages. */
type Asked = DebugProtocol.FunctionBreakpoint & { readonly logMessage?: string };
type Answer = DebugProtocol.SetFunctionBreakpointsResponse['body'];

/** Opens a task with these breakpoints and goes to the first stop. */
async function begun(breakpoints: readonly Asked[], given: { agent?: string; filters?: readonly string[] } = {}) {
  const run = session();
  const { filters = [], ...seats } = given;
  const { opening } = await run.open({ task: 'lamp-variant', ...seats }, { filters });
  const { body } = await run.client.request<Answer>('setFunctionBreakpoints', { breakpoints });
  const stop = await run.client.stop(() => run.client.request('configurationDone'));
  await opening;
  return { run, stop: text(stop), placed: body.breakpoints };
}

const next = async (run: Session) => text(await run.client.stop(() => run.client.request('continue', { threadId: 1 })));
const printed = (run: Session) =>
  run.client.events
    .flatMap(({ event, body }) => (event === 'output' ? [(body as { output: string }).output] : []))
    .join('');

describe('a breakpoint stops when its condition says so', () => {
  test.each<[Asked, string, string]>([
    [{ name: 'role:agent', condition: 'turn == 2' }, 'the agent speaks', '2'],
    [{ name: 'role:agent', hitCondition: '3' }, 'the agent speaks', '3'],
    [{ name: 'role:agent', hitCondition: '>= 4' }, 'the agent speaks', '4'],
    [{ name: 'role:agent', hitCondition: '%2', condition: 'turn > 2' }, 'the agent speaks', '4'],
    [
      { name: 'tool:get_order', condition: 'event.call.arguments.order_id == "W1138"' },
      'tool get_order is called',
      '2',
    ],
    [{ name: 'persona:changeable', hitCondition: '2' }, 'the user speaks as changeable', '5'],
  ])('%j', async (asked, words, turn) => {
    const { run, stop, placed } = await begun([asked]);
    expect(placed).toMatchObject([{ verified: true }]);
    expect(stop).toBe(words);
    expect(await run.type('turn')).toBe(turn);
  });

  test('hit counts are of the rollout, however one came there', async () => {
    const { run, stop } = await begun([{ name: 'role:agent', hitCondition: '2' }]);
    expect(stop).toBe('the agent speaks');
    await run.client.stop(() => run.client.request('reverseContinue', { threadId: 1 }));
    expect(await next(run)).toBe('the agent speaks');
    expect(await run.type('turn')).toBe('2');
    expect(await next(run)).toMatch(/^reward 0/);
  });

  test('a verdict of a verifier is a place to stop', async () => {
    const { stop } = await begun([{ name: 'verifier:database' }]);
    expect(stop).toMatch(/^verifier database: /);
  });

  test('a condition without a value stops, and says so', async () => {
    const { stop } = await begun([{ name: 'turn:1', condition: 'reward.value > 1' }]);
    expect(stop).toMatch(/^turn 1 begins; the condition there is no reward at step \d+$/);
  });

  test('a condition with an unknown name is refused when it is set', async () => {
    const { placed } = await begun([{ name: 'turn:1', condition: 'trun > 3' }]);
    expect(placed).toMatchObject([{ verified: false, message: '"trun" is unknown. Did you mean "turn"?' }]);
  });
});

describe('a stop where several rules are decided', () => {
  const stopped = (run: Session) => run.client.events.findLast(({ event }) => event === 'stopped')?.body;
  const both = [
    /rule confirm-before-write violated: change_item was called before anything was proposed to the user/,
    /rule change-once violated: change_item was called before the agent said "only once"/,
  ];

  test('names every rule that is violated', async () => {
    const { run, stop } = await begun([], { filters: ['violation'] });
    for (const each of both) expect(stop).toMatch(each);
    expect(stopped(run)).toMatchObject({ reason: 'exception' });
  });

  test('is one at a violation, also where a breakpoint is on a rule that held', async () => {
    const { run, stop, placed } = await begun([{ name: 'rule:pending-only' }], { filters: ['violation'] });
    for (const each of [...both, /rule pending-only held: /]) expect(stop).toMatch(each);
    expect(stopped(run)).toMatchObject({ reason: 'exception', hitBreakpointIds: [placed[0]?.id] });
    const top = await run.top();
    expect(top).toMatch(`policy.md:${lineOf(join(domain, 'policy.md'), 'Before any call that changes something')} `);
  });

  test('is one at a breakpoint, where that is on a rule that is violated', async () => {
    const { run, stop } = await begun([{ name: 'rule:change-once' }], { filters: ['violation'] });
    for (const each of both) expect(stop).toMatch(each);
    expect(stopped(run)).toMatchObject({ reason: 'breakpoint' });
    const top = await run.top();
    expect(top).toMatch(`policy.md:${lineOf(join(domain, 'policy.md'), 'The items of an order can be changed only')} `);
  });
});

test('a log breakpoint prints, and stops nothing', async () => {
  const { run, stop } = await begun([
    { name: 'role:agent', logMessage: 'turn {turn} calls {event.toolCalls[0].name}, {x.y}' },
  ]);
  expect(stop).toMatch(/^reward 0/);
  expect(printed(run)).toMatch(/^turn 2 calls get_order, \{"x" is unknown; .*\}$/m);
});

test('a breakpoint in the file of a persona stops where the user speaks as it', async () => {
  const file = join(domain, 'personas', 'changeable.persona.yaml');
  const run = session();
  const line = lineOf(file, 'id: changeable');
  const { stop, breakpoints } = await run.begin({ task: 'lamp-variant' }, { breakpoints: { [file]: line } });
  expect(breakpoints).toMatchObject([{ verified: true, line }]);
  expect(text(stop)).toBe('the user speaks as changeable');
});

test.each<[Asked, RegExp]>([
  [{ name: 'turn:1', condition: 'turn ===' }, /^"turn ===" is not an expression: /],
  [{ name: 'turn:1', hitCondition: 'often' }, /^"often" is not a hit count: write a number/],
  [{ name: 'turn:1', hitCondition: '% 0' }, /^"% 0" is not a hit count/],
  [{ name: 'turn:1', logMessage: 'it is {turn +}' }, /^"turn \+" is not an expression/],
  [{ name: 'persona:unknown' }, /^there is no persona "unknown" in this domain/],
  [{ name: 'turn:0' }, /^"turn:0" is not a breakpoint/],
  [{ name: 'somewhere' }, /is not a breakpoint: expected tool:NAME, .* or verifier:NAME$/],
])('%j is refused in a sentence', async (asked, message) => {
  const { placed } = await begun([asked]);
  expect(placed).toMatchObject([{ verified: false, message: expect.stringMatching(message) }]);
});

describe('exception filters stop at', () => {
  const order = (order_id: string) => calling(['get_order', { order_id }]);

  test.each<[string, (nth: number) => object, RegExp, string]>([
    ['loop', () => order('W1138'), /^get_order is called 3 times in a row with the same arguments$/, 'loop'],
    [
      'invalidCall',
      () => calling(['get_weather', {}]),
      /^get_weather is called, which is not offered$/,
      'invalid call',
    ],
    ['toolError', (nth) => order(`W${nth}`), /./, 'tool error'],
    ['budget', (nth) => order(`W${nth}`), /^the limit of tool errors was reached$/, 'budget used up'],
  ])('%s', async (filter, answer, words, exceptionId) => {
    const { url } = await modelServer((_, nth) => answer(nth));
    const { stop, run } = await begun([], { agent: `openai:m@${url}`, filters: [filter] });
    expect(stop).toMatch(words);
    const stopped = run.client.events.findLast(({ event }) => event === 'stopped');
    expect(stopped?.body).toMatchObject({ reason: 'exception' });
    const { body } = await run.client.request('exceptionInfo', { threadId: 1 });
    expect(body).toMatchObject({ exceptionId, description: stop });
  });

  test('reward 0', async () => {
    const { run, stop } = await begun([], { filters: ['reward0'] });
    expect(stop).toMatch(/^reward 0: /);
    expect(run.client.events.findLast(({ event }) => event === 'stopped')?.body).toMatchObject({ reason: 'exception' });
  });

  test('none of them stops where nothing of the kind happens', async () => {
    const filters = ['loop', 'invalidCall', 'budget', 'protocol', 'simulator'];
    const { run } = await begun([], { filters });
    expect(run.client.events.findLast(({ event }) => event === 'stopped')?.body).toMatchObject({ reason: 'exit' });
  });
});
