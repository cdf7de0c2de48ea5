import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../../support/temporary.ts';
import { lineOf, sharedSession as session, text } from './harness.ts';

const domain = join(temporaryFolder('rehearsal'), 'help-line');
cpSync('domains/help-line', domain, { recursive: true });
const tools = join(domain, 'tools.ts');
const atRestart = lineOf(tools, 'export const restart_router');

test("the debugger stops on the user's call, and shows both databases and what sync changed", async () => {
  const run = session();
  const { stop } = await run.begin({ domain, task: 'surge-L2001' }, { breakpoints: { [tools]: atRestart } });
  expect(stop.body).toMatchObject({ reason: 'breakpoint', text: 'tool restart_router is called' });
  expect(await run.top()).toBe(`tools.ts:${atRestart} restart_router is called by the user`);
  expect(await run.value("User's database", 'router', 'connected')).toBe('false');
  expect(await run.value('Database', 'lines', 'L2001', 'port')).toBe('"open"');
  expect((await run.variables('Changed in this step')).found).toEqual([]);
  const named = async () => (await run.variables('Changed in this step')).found.map(({ name }) => name);
  await run.step('stepIn');
  expect(await named()).toContain('user: router.connected');
  await run.step('stepIn');
  const { found } = await run.variables('Messages');
  expect(found.at(-1)).toMatchObject({ name: "18 user's tool", value: 'restart_router: {"internet":"green"}' });
  expect(await run.value('Rollout', 'next')).toBe('both sides of the world are brought into step');
  await run.step('stepIn');
  expect(await run.top()).toBe(`tools.ts:${lineOf(tools, 'export function sync')} both sides are brought into step`);
  expect(await named()).toEqual(['lines.L2001.seen.connected']);
  expect(await run.type('calls[-1].by')).toBe('"user"');
  expect(await run.type('user.router.connected')).toBe('true');
});

test("the user's database is edited, and a typed call of the user's continues in a fork", async () => {
  const run = session();
  await run.begin({ domain, task: 'surge-L2001' }, { breakpoints: { [tools]: atRestart } });
  await run.step('stepBack');
  await run.step('stepBack');
  expect(await run.value('Rollout', 'next')).toBe('the user speaks');
  const called = await run.client.stop(() => run.type('/call run_speed_test {}'));
  expect(text(called)).toBe('forked: continues from the typed turn');
  expect(await run.top()).toMatch(/user calls run_speed_test$/);
  expect(await run.finish()).toMatch(/^reward 1/);
  for (let at = 0; at < 200 && !(await run.top()).includes('restart_router is called'); at++)
    await run.step('stepBack');
  expect(await run.set(["User's database", 'router', 'login'], 'heron-0')).toBe(
    'forked: continues from the edited value',
  );
  expect(await run.finish()).toMatch(/^reward 0: database/);
});

test('a person in the user seat speaks and calls its own tools', async () => {
  const run = session();
  await run.open({ domain, task: 'surge-L2001', agent: 'gold', user: 'human' });
  await run.client.request('configurationDone');
  await run.shows(/your turn as the user: type what you say, or \/call TOOL/);
  expect(await run.type('/call check_lights nonsense')).toMatch(/^refused: the arguments of check_lights/);
  expect(await run.type('/call check_lights {}')).toBe('');
  await run.shows('user: power: "green", internet: "red"');
  while (run.client.output.split('your turn as the user').length <= 2)
    await run.client.event('output', run.client.events.length);
  expect(await run.type('My name is Carla Abbott, PIN 5300, and the internet light is red.')).toBe('');
  await run.shows(/find_customer\(name: "Carla Abbott", pin: "5300"\)/);
});
