import type { DebugProtocol } from '@vscode/debugprotocol';
import { expect, test } from 'vitest';
import { policy, reason, ruleLine, session, text } from './harness.ts';

const atRule = () => ({ breakpoints: { [policy]: ruleLine() } });

test('the console answers paths, /why and /help, and refuses the rest in words', async () => {
  const run = session();
  await run.begin({ task: 'lamp-variant' }, atRule());
  expect(await run.type('db.orders.W1138.status')).toBe('"pending"');
  expect(await run.type('orders["W1138"].items[0].variant')).toBe('"black"');
  expect(await run.type('turn')).toBe('4');
  expect(await run.type('messages[0].role')).toBe('"user"');
  expect(await run.type("count(messages, it.role == 'user') > 0")).toBe('true');
  expect(await run.type('db.orders.W9.status')).toMatch(/refused: there is no db\.orders\.W9\.status at step/);
  expect(await run.type('launch()')).toMatch(/refused: "launch\(\)" is no expression/);
  expect(await run.type('/why')).toMatch(
    /no reward yet.*violated {2}rule confirm-before-write.*as it was at the start/s,
  );
  expect(await run.type('/help')).toMatch(/\/say TEXT/);
  expect(await run.type('/fly')).toMatch(/refused: there is no command \/fly/);
  expect(await run.type('/stop')).toMatch(/refused: only a user that you play/);
});

test('the console completes paths and commands', async () => {
  const run = session();
  await run.begin({ task: 'lamp-variant' }, atRule());
  const complete = async (typed: string) => {
    const args = { text: typed, column: typed.length + 1 };
    type Targets = DebugProtocol.CompletionsResponse['body'];
    return (await run.client.request<Targets>('completions', args)).body.targets.map(({ label }) => label);
  };
  expect(await complete('db.orders.W1138.st')).toEqual(['status']);
  expect(await complete('/w')).toEqual(['/why']);
  expect(await complete('me')).toEqual(['messages']);
});

test('a line of the console leads to its rule or tool, and opens into the whole event', async () => {
  const run = session();
  await run.begin({ task: 'lamp-variant' }, atRule());
  type Output = DebugProtocol.OutputEvent['body'];
  const lines = run.client.events.filter(({ event }) => event === 'output').map(({ body }) => body as Output);
  const result = lines.find(({ output }) => output.startsWith('result') && output.includes('"power bank"'));
  expect(result?.output.length).toBeLessThan(260);
  expect(result?.source?.name).toBe('tools.ts');
  const [whole] = await run.children(result?.variablesReference ?? 0);
  const parts = await run.children(whole?.variablesReference ?? 0);
  const content = parts.find(({ name }) => name === 'content');
  const order = await run.children(content?.variablesReference ?? 0);
  expect(order.map(({ name }) => name)).toContain('payments');
  const violated = lines.find(({ output }) => output.startsWith('VIOLATED'));
  expect(violated).toMatchObject({ source: { name: 'policy.md' }, line: ruleLine() });
  // A row that is opened later still shows what it had.
  await run.step('continue');
  expect((await run.children(result?.variablesReference ?? 0))[0]?.value).toBe(whole?.value);
});

test('a person takes the user seat', async () => {
  const run = session();
  const { opening } = await run.open({ task: 'lamp-variant', agent: 'gold', user: 'human' });
  await run.client.request('configurationDone');
  await opening;
  await run.shows('your turn as the user');
  expect(await run.type('/call get_order {}')).toBe('refused: the user makes no calls: type what the user says');
  expect(await run.type('Hello, my email is hugo.okafor@example.com')).toBe('');
  await run.shows(/find_customer_by_email\(email: "hugo.okafor@example.com"\)/);
  for (let asked = 2; run.client.output.split('your turn as the user').length <= asked; )
    await run.client.event('output', run.client.events.length);
  const stop = await run.client.stop(() => run.type('/stop'));
  expect(text(stop)).toMatch(/^reward 0/);
});

test('while a person is waited for, the rollout pauses, goes back and comes forth again', async () => {
  const run = session();
  await run.open({ task: 'lamp-variant', agent: 'gold', user: 'human' });
  await run.client.request('configurationDone');
  await run.shows('your turn as the user');
  const { success, body } = await run.client.request<{ error: { format: string } }>('next', { threadId: 1 });
  expect([success, body.error.format]).toEqual([false, 'the rollout is running: pause it first']);
  const paused = await run.client.stop(() => run.client.request('pause', { threadId: 1 }));
  expect(paused.body).toMatchObject({ reason: 'pause', text: 'paused in the turn of the user' });
  const here = await run.top();
  await run.step('stepBack');
  expect(await run.top()).not.toBe(here);
  await run.step('stepIn');
  expect(await run.top()).toBe(here);
  const waiting = run.client.stop(() => run.client.request('stepIn', { threadId: 1 }));
  await run.type('/say Hello, who is there?');
  expect(text(await waiting)).toBe('userReplied');
  expect(await run.type('messages[0].content')).toBe('"Hello, who is there?"');
});

test('a person in the agent seat speaks and calls tools', async () => {
  const run = session();
  await run.open({ task: 'lamp-variant', agent: 'human' });
  await run.client.request('configurationDone');
  await run.shows('your turn as the agent');
  expect(await run.type('/call get_order W1138')).toMatch(/refused: the arguments of get_order are no JSON object/);
  expect(await run.type('/call find_customer_by_email {"email": "hugo.okafor@example.com"}')).toBe('');
  await run.shows(/result {4}.*Hugo Okafor/);
});

test('/say takes over the seat that is next, in a fork', async () => {
  const run = session();
  await run.begin({ task: 'lamp-variant', stopOnEntry: true });
  expect(await run.type('/say hello')).toMatch(/refused: nobody is to speak here/);
  await run.step('next');
  await run.step('stepOut');
  expect(await run.value('Rollout', 'next')).toBe('the agent responds');
  const said = await run.client.stop(() => run.type('/say What is your favourite colour?'));
  expect(text(said)).toBe('forked: goes on from the typed turn');
  expect(await run.top()).toMatch(/agent: What is your favourite colour\?$/);
  await run.step('stepIn');
  const called = await run.client.stop(() => run.type('/call get_order {"order_id": "W1138"}'));
  expect(text(called)).toBe('forked: goes on from the typed turn');
  expect(await run.top()).toMatch(/agent calls get_order$/);
  expect(reason(await run.step('continue'))).toBe('exit');
});
