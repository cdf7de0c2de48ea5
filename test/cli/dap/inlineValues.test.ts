import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import {
  domain,
  lineOf,
  policy,
  ruleLine,
  type Session,
  sharedSession as session,
  tasks,
  text,
  tools,
} from './harness.ts';

type Shown = { readonly values: readonly { readonly line: number; readonly text: string }[] };

/** Starts a session that is stopped where a rule is violated: the agent is about to change an item without consent. */
async function atTheViolation(): Promise<Session> {
  const run = session();
  const { stop } = await run.begin({ task: 'lamp-variant' }, { filters: ['violation'] });
  expect(text(stop)).toMatch(/confirm-before-write/);
  return run;
}

async function beside(run: Session, file: string, frameId = 0): Promise<Readonly<Record<number, string>>> {
  const { body } = await run.client.request<Shown>('rehearsal/inlineValues', { frameId, file });
  return Object.fromEntries(body.values.map(({ line, text: shown }) => [line, shown]));
}

async function hover(run: Session, expression: string): Promise<string | undefined> {
  const args = { expression, context: 'hover', frameId: 0 };
  const { success, body } = await run.client.request<{ readonly result: string }>('evaluate', args);
  return success ? body.result : undefined;
}

test('a rule shows the verdict that decides it, in the policy and at its check', async () => {
  const run = await atTheViolation();
  const shown = (await beside(run, policy))[ruleLine()];
  expect(shown).toMatch(/^violated: change_item was called before anything was proposed/);
  const check = lineOf(join(domain, 'rules.yaml'), 'confirm-before-write');
  expect((await beside(run, join(domain, 'rules.yaml')))[check]).toBe(shown);
});

test('a rule that held shows only that, so that the line does not wrap', async () => {
  const held = Object.values(await beside(await atTheViolation(), policy)).filter((shown) => shown.startsWith('held'));
  expect(held).toContain('held');
  expect(held.filter((shown) => !/^held(?: \d+ times)?$/.test(shown))).toEqual([]);
});

test('a tool shows its last call and result', async () => {
  const run = await atTheViolation();
  const values = await beside(run, tools);
  expect(values[lineOf(tools, 'export const get_order')]).toMatch(/^\{"order_id":"W1138"\} gave \{"customer"/);
  expect(values[lineOf(tools, 'export const change_item')]).toBeUndefined();
  await run.step('stepIn');
  expect((await beside(run, tools))[lineOf(tools, 'export const change_item')]).toMatch(
    /^is called with \{"order_id":"W1138"/,
  );
  expect(Object.values(values).every((value) => value.length <= 140)).toBe(true);
});

test('the task shows the turn, later the reward, and its gold actions as they are made', async () => {
  const run = await atTheViolation();
  const [starts, first] = [lineOf(tasks, 'id: lamp-variant'), lineOf(tasks, 'actions:') + 1];
  const actions = { [first]: 'made', [first + 1]: 'made', [first + 2]: 'made', [first + 3]: 'not made so far' };
  expect(await beside(run, tasks)).toEqual({ [starts]: 'turn 4', ...actions });
  while (text(await run.step('continue')) === undefined || !(await beside(run, tasks))[starts]?.startsWith('reward'));
  const done = await beside(run, tasks);
  expect(done[starts]).toMatch(/^reward 0: rule confirm-before-write was violated/);
  expect(done[first + 3], 'the brass one was refused').toBe('not made so far');
});

test('an older frame shows what was known then', async () => {
  const run = await atTheViolation();
  expect(Object.keys(await beside(run, policy, 1))).toEqual([]);
});

test('a file that has no part of the domain has nothing', async () => {
  const run = await atTheViolation();
  expect(await beside(run, join(domain, 'database.json'))).toEqual({});
  expect(await beside(run, '/nowhere/policy.md')).toEqual({});
});

test('a hover shows what a word or a path means, and nothing where it means nothing', async () => {
  const run = await atTheViolation();
  const words = ['get_order', 'confirm-before-write', 'db.orders.W1138.status', 'orders.W1138.status', 'friendly'];
  const shown = await Promise.all(words.map((word) => hover(run, word)));
  expect(shown).toEqual([
    expect.stringMatching(/calls.*1/),
    expect.stringMatching(/violated/),
    '"pending"',
    '"pending"',
    undefined,
  ]);
});

test('a hover over a parameter of the tool that is called shows its argument', async () => {
  const run = await atTheViolation();
  await run.step('stepIn');
  expect(await hover(run, 'order_id')).toBe('"W1138"');
  expect(await hover(run, 'change_item')).toMatch(/W1138/);
});

test('a client that draws a box below a violation is stopped where the rule ends, and edits the reply where it begins', async () => {
  type Top = { readonly stackFrames: readonly { readonly line: number; readonly column: number }[] };
  const placeIn = async (client: object) => {
    const run = session();
    await run.begin({ task: 'lamp-variant' }, { filters: ['violation'], client });
    const { stackFrames } = (await run.client.request<Top>('stackTrace', { threadId: 1 })).body;
    const { body } = await run.client.request<{ reply: { line: number } }>('rehearsal/reply', { frameId: 0 });
    return { ...stackFrames[0], reply: body.reply.line };
  };
  const end = lineOf(policy, '{#confirm-before-write}');
  const column = (readFileSync(policy, 'utf8').split('\n')[end - 1] ?? '').length + 1;
  expect(end).toBe(ruleLine() + 2);
  expect(await placeIn({ clientID: 'vscode' })).toMatchObject({ line: end, column, reply: ruleLine() });
  expect(await placeIn({})).toMatchObject({ line: ruleLine(), column: 1, reply: ruleLine() });
});
