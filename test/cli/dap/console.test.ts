import type { DebugProtocol } from '@vscode/debugprotocol';
import { expect, test } from 'vitest';
import { Narrator } from '../../../src/cli/dap/narrator.ts';
import { lineOf, policy, reason, ruleLine, sharedSession as session, text } from './harness.ts';

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
  expect(await run.type('launch()')).toMatch(/refused: "launch\(\)" is not an expression/);
  expect(await run.type('/why')).toBe('no reward yet: the rollout has not ended\n  turn 4 of at most 30');
  await run.shows(/violated {2}rule confirm-before-write.*as it was at the start/s);
  expect(await run.type('/help')).toMatch(/\/say TEXT[\s\S]*\/back /);
  expect(await run.type('/fly')).toMatch(/refused: there is no command \/fly/);
  expect(await run.type('/stop')).toMatch(/refused: only a user that you play/);
  const here = await run.top();
  await run.client.stop(() => run.type('/back'));
  expect(await run.top()).not.toBe(here);
});

test('each line about a rule leads to that rule', async () => {
  const run = session();
  await run.begin({ task: 'lamp-variant' }, atRule());
  const lineIn = (pattern: RegExp) =>
    run.client.events.flatMap(({ event, body }) => {
      const { output, line } = (body ?? {}) as Partial<DebugProtocol.OutputEvent['body']>;
      return event === 'output' && pattern.test(output ?? '') ? [line] : [];
    })[0];
  await run.shows(/change-once/);
  const places = {
    confirm: [lineIn(/confirm-before-write/), ruleLine()],
    once: [lineIn(/change-once/), lineOf(policy, 'The items of an order can be changed only once')],
    held: [lineIn(/authenticate, own-data/), lineOf(policy, 'Authenticate the customer before')],
  };
  for (const [found, wanted] of Object.values(places)) expect(found).toBe(wanted);
});

test('a call comes before the verdicts on it, also after a stop at its rule and in a fork from there', async () => {
  const run = session();
  await run.begin({ task: 'lamp-variant' }, atRule());
  await run.shows(/change-once/);
  const call = 'change_item(order_id: "W1138"';
  expect(run.client.output).toMatch(
    /list_variants.*\n(?:.*\n)*call {6}change_item\(.*\nrule .*\nVIOLATED {2}confirm-before/,
  );
  await run.type('/fork');
  await run.step('next');
  expect(run.client.output.split(call)).toHaveLength(2);
});

type Item = DebugProtocol.CompletionItem;

test('the console completes paths, functions, commands and what follows them', async () => {
  const run = session();
  await run.begin({ task: 'lamp-variant' }, atRule());
  const items = async (typed: string): Promise<readonly Item[]> => {
    const args = { text: typed, column: typed.length + 1 };
    return (await run.client.request<{ targets: Item[] }>('completions', args)).body.targets;
  };
  const complete = async (typed: string) => (await items(typed)).map(({ label }) => label);
  expect(await complete('db.orders.W1138.st')).toEqual(['status']);
  expect(await complete('count(calls, it.failed) > orders.W1138.items_')).toEqual([]);
  expect(await complete('turn > 3 and orders.W1138.pl')).toEqual(['placed']);
  expect(await complete('/w')).toEqual(['/why']);
  expect(await complete('me')).toEqual(['messages', 'mentions']);
  expect(await complete('ord')).toEqual(['orders']);
  // A key that is not an identifier is completed in brackets, which replace the dot.
  expect(await items('db.products.desk')).toContainEqual({
    label: 'desk lamp',
    text: '["desk lamp"]',
    type: 'property',
    start: 11,
    length: 5,
  });
  expect(await complete('db.products["desk')).toContain('desk lamp');
  expect(await complete('/call get_')).toEqual(['get_customer', 'get_order']);
  expect(await complete('/call get_order ')).toEqual(['{"order_id": ""}']);
  expect(await items('/call change_item {"order_id": "W1", pro')).toMatchObject([
    { label: 'product', text: '"product": ' },
  ]);
  expect(await complete('/call nothing {"')).toEqual([]);
  expect(await complete('/turn ')).toEqual(['1', '2', '3', '4']);
  expect(await complete('/request ')).toEqual([]);
  expect(await complete('/why ')).toEqual([]);
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
  // A row that is opened later still shows its earlier values.
  await run.step('continue');
  expect((await run.children(result?.variablesReference ?? 0))[0]?.value).toBe(whole?.value);
});

test('a person takes the user seat', async () => {
  const run = session();
  const { opening } = await run.open({ task: 'lamp-variant', agent: 'gold', user: 'human' });
  await run.client.request('configurationDone');
  await opening;
  await run.shows('your turn as the user');
  expect(run.client.output).toMatch(/^you play the user, with this goal: \S.+$/m);
  expect(run.client.output).toContain(
    'you know:\n  email: hugo.okafor@example.com\n  name: Hugo Okafor\n  postcode: 94923\n  order_id: W1138\n',
  );
  expect(run.client.output).toMatch(/^after .*, you change your mind: \S.+\n {2}variant: brass$/m);
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
  type Refusal = { error: { format: string; showUser: boolean } };
  const { success, body } = await run.client.request<Refusal>('next', { threadId: 1 });
  // Not shown: a key that is held sends more steps than there are stops.
  expect([success, body.error]).toMatchObject([
    false,
    { format: 'the rollout is running: pause it first', showUser: false },
  ]);
  const paused = await run.client.stop(() => run.client.request('pause', { threadId: 1 }));
  expect(paused.body).toMatchObject({ reason: 'pause', text: 'paused in the turn of the user' });
  const here = await run.top();
  await run.step('stepBack');
  expect(await run.top()).not.toBe(here);
  await run.step('stepIn');
  expect(await run.top()).toBe(here);
  const waiting = run.client.stop(() => run.client.request('stepIn', { threadId: 1 }));
  await run.type('/say Hello, who is there?');
  expect(text(await waiting)).toBe('user: Hello, who is there?');
  expect(await run.type('messages[0].content')).toBe('"Hello, who is there?"');
  expect(await run.type('Sorry, I would rather have brass.')).toMatch(
    /^refused: it is not your turn\. If the rollout is paused, continue it \(F5\).*is not an expression/,
  );
  expect(await run.type('/stop')).toBe("refused: it is the agent's turn. Continue (F5), and type /stop in your turn");
});

test('a person in the agent seat speaks and calls tools', async () => {
  const run = session();
  await run.open({ task: 'lamp-variant', agent: 'human' });
  await run.client.request('configurationDone');
  await run.shows('your turn as the agent');
  expect(await run.type('/call get_order W1138')).toMatch(/refused: the arguments of get_order are not a JSON object/);
  expect(await run.type('/call get_ordr {}')).toBe(
    'refused: the agent has no tool "get_ordr". Did you mean "get_order"?',
  );
  expect(await run.type('/call find_customer_by_email {"email": "hugo.okafor@example.com"}')).toBe('');
  await run.shows(/result {4}.*Hugo Okafor/);
});

test('/say takes over the seat that is next, in a fork', async () => {
  const run = session();
  await run.begin({ task: 'lamp-variant', stopOnEntry: true });
  expect(await run.type('/say hello')).toMatch(/refused: no seat speaks next here/);
  await run.step('next');
  await run.step('stepOut');
  expect(await run.value('Rollout', 'next')).toBe('the agent responds');
  expect(await run.type('/call get_ordr {}')).toMatch(/^refused: the agent has no tool "get_ordr"/);
  const said = await run.client.stop(() => run.type('/say What is your favourite colour?'));
  expect(text(said)).toBe('forked: continues from the typed turn');
  expect(await run.top()).toMatch(/agent: What is your favourite colour\?$/);
  await run.step('stepIn');
  const called = await run.client.stop(() => run.type('/call get_order {"order_id": "W1138"}'));
  expect(text(called)).toBe('forked: continues from the typed turn');
  expect(await run.top()).toMatch(/agent calls get_order$/);
  expect(reason(await run.step('continue'))).toBe('exit');
});

test('a client that asks for what is behind a row at once is shown the stop first, and then the same rows', async () => {
  const asking = { client: { clientID: 'vscode' } };
  const run = session();
  await run.begin({ task: 'lamp-variant', stopOnEntry: true }, asking);
  await run.client.stop(() => run.client.request('stepIn', { threadId: 1 }));
  await run.client.request('scopes', { frameId: 0 });
  const from = run.client.received.length;
  expect(text(await run.client.stop(() => run.client.request('stepIn', { threadId: 1 })))).toMatch(
    /^user: Hello, I'm Hugo/,
  );
  await run.top();
  await run.client.request('scopes', { frameId: 0 });
  const since = run.client.received.slice(from);
  expect(since.indexOf('output')).toBeGreaterThan(since.indexOf('stopped'));
  expect(since.indexOf('scopes')).toBeGreaterThan(since.lastIndexOf('output'));

  const [plain, other] = [session(), session()];
  await plain.begin({ task: 'lamp-variant' }, atRule());
  await other.begin({ task: 'lamp-variant' }, { ...atRule(), ...asking });
  await other.client.request('scopes', { frameId: 0 });
  expect(other.client.output).toMatch(/VIOLATED/);
  expect(other.client.output).toBe(plain.client.output);
});

test('rows are not held longer than a moment, whatever the client asks for', async () => {
  const run = session();
  await run.begin({ task: 'lamp-variant' }, { ...atRule(), client: { clientID: 'vscode' } });
  await run.shows(/VIOLATED/);
  const ended = session();
  await ended.begin({ task: 'lamp-variant', noStopAtEnd: true }, { client: { clientID: 'vscode' } });
  const { received } = ended.client;
  expect(received.lastIndexOf('output')).toBeLessThan(received.indexOf('terminated'));
  expect(ended.client.output).toMatch(/REWARD 0/);
});

test('text of the domain does not steer the Debug Console', () => {
  const sent: string[] = [];
  const narrator = new Narrator(({ body }) => void sent.push(body.output), {} as never, {} as never);
  narrator.print('a rule says\u001b[2J \u001b]8;;http://a\u0007no\u001b]8;;\u0007\u202e');
  narrator.print('\u001b[32magent\u001b[0m yes');
  expect(sent).toEqual(['a rule says no\n', '\u001b[32magent\u001b[0m yes\n']);
});

test('no line is a warning: VS Code shows the category `console` in the colour of one', async () => {
  const run = session();
  await run.begin({ task: 'lamp-variant', noStopAtEnd: true }, {});
  const lines = run.client.events.flatMap(({ event, body }) => (event === 'output' ? [body] : []));
  expect(lines.find(({ output }) => output.includes('REWARD 0'))).toMatchObject({ category: 'stdout' });
  expect([...new Set(lines.map(({ category }) => category))]).toEqual(['stdout']);
});
