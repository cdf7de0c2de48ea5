import { readFileSync } from 'node:fs';
import type { DebugProtocol } from '@vscode/debugprotocol';
import { describe, expect, test } from 'vitest';
import { modelServer } from '../../support/modelServer.ts';
import { calling } from '../../support/scriptedModel.ts';
import {
  lineOf,
  policy,
  reason,
  ruleLine,
  type Session,
  sharedSession as session,
  tasks,
  text,
  tools,
} from './harness.ts';

type Targets = DebugProtocol.GotoTargetsResponse['body'];

const targets = async (run: Session, path: string, line: number) =>
  (await run.client.request<Targets>('gotoTargets', { source: { path }, line })).body.targets;
const refusal = async (run: Session, name: string, args: object) => {
  const { success, body } = await run.client.request<{ error?: DebugProtocol.Message }>(name, args);
  return success ? 'done' : body.error?.format;
};
const go = (run: Session, name: string, args: object) => run.client.stop(() => run.client.request(name, args));
const started = (path: string) => JSON.parse(readFileSync(path, 'utf8').split('\n')[0] ?? '').event;

describe('to go to', () => {
  test('a recorded turn costs nothing, and to a later one the rollout runs on', async () => {
    const run = session();
    await run.begin({ task: 'lamp-variant', stopOnEntry: true });
    expect(text(await run.client.stop(() => run.type('/turn 3')))).toBe('turn 3');
    expect(await run.top()).toMatch(/agent calls list_variants$/);
    expect(await run.type('turn')).toBe('3');
    const [recording = ''] = run.recordings();
    const length = readFileSync(recording, 'utf8').length;
    const back = await run.client.stop(() => run.type('/turn 1'));
    expect([reason(back), text(back)]).toEqual(['goto', 'turn 1']);
    expect(await run.top()).toMatch(/agent calls find_customer_by_email$/);
    expect(readFileSync(recording, 'utf8')).toHaveLength(length);
    // Nothing is printed twice, and going to a turn that never comes goes to the end.
    expect(run.client.output.match(/list_variants/g)).toBeNull();
    expect(text(await run.client.stop(() => run.type('/turn 40')))).toMatch(/^reward 0/);
    expect(await run.type('/turn 40')).toMatch(/^refused: there is no turn 40: the rollout has turns 1 to \d$/);
    expect(await run.type('/turn x')).toBe('refused: name a turn by its number, from 1: /turn 3');
    expect(await run.type('/turn')).toMatch(/^refused: name a turn/);
  });

  test('a breakpoint on the way to a turn that is not recorded stops before it', async () => {
    const run = session();
    await run.begin({ task: 'lamp-variant', stopOnEntry: true }, { breakpoints: { [policy]: ruleLine() } });
    expect(text(await run.client.stop(() => run.type('/turn 6')))).toMatch(/^rule confirm-before-write violated/);
  });

  test('the calls of a tool and the checks of a rule are places to go to', async () => {
    const run = session();
    await run.begin({ task: 'lamp-variant', stopOnEntry: true });
    const line = lineOf(tools, 'export const change_item') + 2;
    expect(await targets(run, tools, line)).toEqual([]);
    await run.finish();
    const calls = await targets(run, tools, line);
    expect(calls.map(({ label }) => label)).toEqual([
      expect.stringMatching(/^turn 4, step \d+: change_item is called$/),
      expect.stringMatching(/^turn \d, step \d+: change_item is called$/),
    ]);
    const stop = await go(run, 'goto', { threadId: 1, targetId: calls[0]?.id });
    expect(stop.body).toMatchObject({ reason: 'goto', text: expect.stringMatching(/^step \d+$/) });
    expect(await run.top()).toMatch(/change_item is called$/);
    const checks = await targets(run, policy, ruleLine());
    expect(checks.map(({ label }) => label)).toContainEqual(
      expect.stringMatching(/^turn 4, step \d+: before change_item: confirm-before-write, change-once violated$/),
    );
    expect(await targets(run, '/nowhere.md', 1)).toEqual([]);
  });

  test('the turns of a task are at its first line, including the next one, and its verdicts at its criteria', async () => {
    const run = session();
    await run.begin({ task: 'lamp-variant', stopOnEntry: true });
    await run.client.stop(() => run.type('/turn 2'));
    const turns = await targets(run, tasks, 4);
    expect(turns.map(({ label }) => label)).toEqual([
      'step 0: lamp-variant begins',
      expect.stringMatching(/^turn 1, step \d+: agent calls find_customer_by_email$/),
      expect.stringMatching(/^turn 2, step \d+: agent calls get_order$/),
      'turn 3: not played yet',
    ]);
    expect(text(await go(run, 'goto', { threadId: 1, targetId: turns[3]?.id }))).toBe('turn 3');
    await run.finish();
    const verdicts = await targets(run, tasks, lineOf(tasks, 'actions:') + 1);
    expect(verdicts.map(({ label }) => label)).toEqual([expect.stringMatching(/: database violated$/)]);
    expect((await targets(run, tasks, 4)).map(({ label }) => label)).not.toContain('turn 7: not played yet');
  });

  test('a target that was offered before a fork is no longer valid', async () => {
    const run = session();
    await run.begin({ task: 'lamp-variant' }, { breakpoints: { [policy]: ruleLine() } });
    const [target] = await targets(run, tools, lineOf(tools, 'export const get_order'));
    await run.step('stepBack');
    await run.rewrite('Shall I do that?');
    expect(await refusal(run, 'goto', { threadId: 1, targetId: target?.id })).toMatch(/destination is no longer valid/);
    expect(await refusal(run, 'goto', { threadId: 1 })).toMatch(/destination is no longer valid/);
    expect(await refusal(run, 'stepIn', { threadId: 1, targetId: 99 })).toMatch(/destination is no longer valid/);
  });
});

describe('step-in targets', () => {
  const two = calling(
    ['get_order', { order_id: 'W1138' }],
    ['list_variants', { product: 'desk lamp' }],
    ['get_order', { order_id: 'W1101' }],
  );

  test('name the calls of a message that are still to come', async () => {
    const { url } = await modelServer((_, nth) => (nth === 1 ? two : 'Anything else?'));
    const run = session();
    await run.begin({ task: 'lamp-variant', agent: `openai:m@${url}`, stopOnEntry: true });
    const ahead = async (frameId?: number) => {
      const { body } = await run.client.request<DebugProtocol.StepInTargetsResponse['body']>('stepInTargets', {
        frameId,
      });
      return body.targets;
    };
    expect(await ahead()).toEqual([]);
    await run.step('next');
    const calls = await ahead();
    expect(calls.map(({ label }) => label)).toEqual([
      'get_order(order_id: "W1138")',
      'list_variants(product: "desk lamp")',
      'get_order(order_id: "W1101")',
    ]);
    const stop = await go(run, 'stepIn', { threadId: 1, targetId: calls[1]?.id });
    expect(stop.body).toMatchObject({ reason: 'step', text: 'list_variants is called' });
    expect((await ahead()).map(({ label }) => label)).toEqual(['get_order(order_id: "W1101")']);
    expect(await ahead(1)).toEqual([]);
    // A step into a call that was passed does not go back to it: it continues to the next message.
    expect(text(await go(run, 'stepIn', { threadId: 1, targetId: calls[0]?.id }))).toBe('the call was not made');
    expect(await ahead()).toEqual([]);
  });

  test('are empty where a single call is made', async () => {
    const run = session();
    await run.begin({ task: 'lamp-variant', stopOnEntry: true });
    await run.step('next');
    const { body } = await run.client.request<DebugProtocol.StepInTargetsResponse['body']>('stepInTargets', {});
    expect(body.targets).toEqual([]);
  });
});

describe('Re-sample', () => {
  test('asks the model again, in a fork that is named after it', async () => {
    const answers = ['Hello.', 'What is your email?', 'Good day.', 'Who is there?'];
    const { url, bodies } = await modelServer((_, nth) => answers[nth - 1] ?? 'Anything else?');
    const run = session();
    await run.begin({ task: 'lamp-variant', agent: `openai:m@${url}`, stopOnEntry: true });
    await run.client.stop(() => run.type('/turn 2'));
    expect(await run.type('messages[-1].content')).toBe('"What is your email?"');
    type Trace = DebugProtocol.StackTraceResponse['body'];
    const { body } = await run.client.request<Trace>('stackTrace', { threadId: 1 });
    expect(body.stackFrames.map(({ name, canRestart }) => [name, canRestart])).toEqual([
      ['agent: What is your email?', true],
      ['turn 1: agent: Hello.', true],
    ]);
    const said = run.client.output;
    const stop = await go(run, 'restartFrame', { frameId: body.stackFrames[1]?.id });
    expect(stop.body).toMatchObject({ reason: 'restart', text: 're-sampled: agent: Good day.' });
    expect(await run.type('messages[-1].content')).toBe('"Good day."');
    expect(await run.type('turn')).toBe('1');
    expect(run.client.output.slice(said.length)).toMatch(
      /^--- fork: the agent's message 2 \(step 3\) was re-sampled\. .*---\nagent {5}Good day\.\n$/,
    );
    // The same conversation was sent, byte for byte.
    expect(bodies[2]).toBe(bodies[0]);
    const [first = '', fork = ''] = run.recordings();
    expect(started(fork).parent).toMatchObject({
      event: 2,
      sample: 1,
      edit: "the agent's message 2 (step 3) was re-sampled",
    });
    expect(readFileSync(first, 'utf8')).toContain('What is your email?');
    const again = await run.client.stop(() => run.type('/resample'));
    expect(text(again)).toMatch(/^re-sampled: agent: /);
    expect(started(run.recordings()[2] ?? '').parent).toMatchObject({ event: 2, sample: 2 });
    expect(await run.type('messages[-1].content')).toBe('"Who is there?"');
  });

  test('draws other numbers in the seats without a model, the same ones for the same sample', async () => {
    const samples = async () => {
      const run = session();
      await run.begin({ task: 'lamp-variant', agent: 'gold', stopOnEntry: true });
      await run.finish();
      const answers: string[] = [(await run.type('messages[7].content')) ?? ''];
      for (let n = 0; n < 6; n += 1) {
        const step = Number(await run.type('messages[7].step'));
        await go(run, 'restartFrame', { frameId: step + 1 });
        answers.push((await run.type('messages[-1].content')) ?? '');
      }
      return answers;
    };
    const [one, other] = await Promise.all([samples(), samples()]);
    expect(one).toEqual(other);
    expect(new Set(one).size).toBeGreaterThan(1);
  });

  test('resamples the user where the user answered, and is refused where there is no answer', async () => {
    const run = session();
    await run.begin({ task: 'lamp-variant', stopOnEntry: true });
    expect(await run.type('/resample')).toMatch(/^refused: no seat has answered yet/);
    expect(await refusal(run, 'restartFrame', { frameId: 1 })).toMatch(/^no seat has answered yet/);
    await run.step('stepIn');
    await run.step('stepIn');
    const stop = await run.client.stop(() => run.type('/resample'));
    expect(text(stop)).toMatch(/^re-sampled: user: Hello, I'm Hugo/);
    expect(run.client.output).toContain("the user's message 1 (step 2) was re-sampled");
  });
});

describe('an expression is given another value', () => {
  const assign = async (run: Session, expression: string, value: string, frameId?: number) => {
    const after = run.client.events.length;
    const refused = await refusal(run, 'setExpression', { expression, value, frameId });
    return refused === 'done' ? text(await run.client.event('stopped', after)) : `refused: ${refused}`;
  };

  test('a value of the database, in a watch and in the Debug Console', async () => {
    const run = session();
    await run.begin({ task: 'lamp-variant' }, { breakpoints: { [policy]: ruleLine() } });
    expect(await assign(run, 'db.orders.W1138.status', 'shipped')).toBe('forked: continues from the edited value');
    expect(await run.type('orders.W1138.status')).toBe('"shipped"');
    const stop = await run.client.stop(() => run.type('db.orders.W1138.items[product=desk lamp].price = 12.5'));
    expect(text(stop)).toBe('forked: continues from the edited value');
    expect(await run.type('db.orders.W1138.items[0].price')).toBe('12.5');
    expect(run.recordings()).toHaveLength(3);
    expect(await run.type('db.orders.W1138.status == "shipped"')).toBe('true');
    expect(run.recordings()).toHaveLength(3);
  });

  test('a whole row of the database, as JSON', async () => {
    const run = session();
    await run.begin({ task: 'lamp-variant' }, { breakpoints: { [policy]: ruleLine() } });
    expect(await assign(run, 'db.orders.W1138.items[0]', '{"product": ')).toMatch(/^refused: 0 is not JSON: /);
    expect(await assign(run, 'db.orders.W1138.items[0]', '{"product": "hat"}')).toMatch(/^forked: /);
    expect(await run.type('db.orders.W1138.items[0]')).toBe('{"product":"hat"}');
  });

  test('a message, and an argument of a call', async () => {
    const run = session();
    await run.begin({ task: 'lamp-variant' }, { breakpoints: { [policy]: ruleLine() } });
    expect(await assign(run, 'messages[-1].toolCalls[0].arguments.variant', '"brass"')).toBe(
      'forked: continues from the edited call',
    );
    expect(await run.type('messages[-1].toolCalls[0].arguments.variant')).toBe('"brass"');
    expect(await assign(run, 'messages[-1].content', 'Shall I do that?')).toBe(
      'forked: continues from the edited message',
    );
    expect(await run.type('messages[-1].content')).toBe('"Shall I do that?"');
  });

  const refused: readonly (readonly [string, string, RegExp])[] = [
    ['db.orders.W9.status', 'x', /^refused: there is no db\.orders\.W9\.status at step/],
    ['db.orders.W1138', '{', /^refused: W1138 is not JSON: /],
    ['db.orders.W1138.items[0].price', 'cheap', /^refused: price is a number: type a number/],
    ['messages[2].content', 'ok', /^refused: messages\[2\]\.content can't be edited/],
    ['turn', '3', /^refused: turn can't be edited/],
    ['1 + 1', '3', /^refused: "1 \+ 1" names no place/],
    ['turn +', '3', /^refused: "turn \+" is not an expression/],
    ['rules[0].verdict', 'held', /^refused: rules\[0\]\.verdict can't be edited/],
  ];

  test('what can not be given another value says so, and makes no fork', async () => {
    const run = session();
    await run.begin({ task: 'lamp-variant' }, { breakpoints: { [policy]: ruleLine() } });
    for (const [expression, value, message] of refused) expect(await assign(run, expression, value)).toMatch(message);
    expect(run.recordings()).toHaveLength(1);
  });

  test('the database can be edited only at the current step, a message wherever it is looked at', async () => {
    const run = session();
    await run.begin({ task: 'lamp-variant' }, { breakpoints: { [policy]: ruleLine() } });
    expect(await assign(run, 'db.orders.W1138.status', 'shipped', 4)).toMatch(/can be edited only at the current step/);
    expect(await assign(run, 'messages[0].content', 'Good day.', 4)).toBe('forked: continues from the edited message');
  });
});
