import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { DebugProtocol } from '@vscode/debugprotocol';
import { afterEach, expect, test } from 'vitest';
import { domain, lineOf, policy, ruleLine, type Session, session, tasks, text, tools } from './harness.ts';

const rules = join(domain, 'rules.yaml');
const files = [policy, rules, tools, tasks];
const originals = new Map(files.map((file) => [file, readFileSync(file, 'utf8')]));
afterEach(() => {
  for (const [file, original] of originals) writeFileSync(file, original);
});

type Shown = { readonly values: readonly { readonly line: number; readonly text: string }[] };
type Set = DebugProtocol.SetBreakpointsResponse['body'];

const original = (file: string) => originals.get(file) ?? '';
const atRule = () => ({ breakpoints: { [policy]: ruleLine() } });
/** Inserts lines before the first line that has a text. */
const moveDown = (file: string, before: string, added = '\n\n\n') =>
  writeFileSync(file, original(file).replace(before, `${added}${before}`));
const moveRule = () => moveDown(policy, '- Before any call that changes something');

async function beside(run: Session, file: string, unsaved?: string): Promise<Readonly<Record<number, string>>> {
  const args = { frameId: 0, file, ...(unsaved === undefined ? {} : { text: unsaved }) };
  const { body } = await run.client.request<Shown>('rehearsal/inlineValues', args);
  return Object.fromEntries(body.values.map(({ line, text: shown }) => [line, shown]));
}

const set = async (run: Session, path: string, line: number) => {
  const args = { source: { path }, breakpoints: [{ line }], sourceModified: true };
  const { body } = await run.client.request<Set>('setBreakpoints', args);
  return body.breakpoints[0];
};

/** Returns the last breakpoint that the adapter reported to a client in an event. */
const toldOf = (run: Session) =>
  run.client.events.flatMap(({ event, body }) =>
    event === 'breakpoint' ? [(body as DebugProtocol.BreakpointEvent['body']).breakpoint] : [],
  );

test('verdicts, frames and breakpoints follow their rule when the policy is edited while the rollout is paused', async () => {
  const run = session();
  const { breakpoints } = await run.begin({ task: 'lamp-variant' }, atRule());
  const former = ruleLine();
  expect((await beside(run, policy))[former]).toMatch(/^violated: change_item was called/);
  moveRule();
  expect(ruleLine()).toBe(former + 3);
  await run.client.request('rehearsal/changes');
  const values = await beside(run, policy);
  expect(values[former + 3]).toMatch(/^violated: change_item was called/);
  expect(values[former]).toBeUndefined();
  expect(await run.top()).toMatch(`policy.md:${former + 3} `);
  expect(toldOf(run)).toMatchObject([{ id: breakpoints[0]?.id, verified: true, line: former + 3 }]);
  expect(await set(run, policy, former + 3)).toMatchObject({ verified: true, line: former + 3 });
  expect(text(await run.step('continue'))).toMatch(/^rule confirm-before-write violated/);
});

test('verdicts are on the lines of a text that is not saved', async () => {
  const run = session();
  await run.begin({ task: 'lamp-variant' }, atRule());
  const unsaved = original(policy).replace('- Before any call', '\n\n- Before any call');
  const values = await beside(run, policy, unsaved);
  expect(values[ruleLine() + 2]).toMatch(/^violated: change_item was called/);
  expect(values[ruleLine()]).toBeUndefined();
});

test('a breakpoint on a rule that was added is grey until a fork begins with it, and one on a rule that is gone says so', async () => {
  const run = session();
  await run.begin({ task: 'lamp-variant', stopOnEntry: true });
  appendFileSync(policy, '\n- Say hello first. {#say-hello}\n');
  appendFileSync(rules, '\n- rule: say-hello\n  check: onlyIf\n  tools: [change_item]\n  condition: turn > 0\n');
  const line = lineOf(policy, 'say-hello');
  expect(await set(run, policy, line)).toMatchObject({
    verified: false,
    line,
    message:
      'rule say-hello was added after this rollout began, so nothing can stop here. Use "Fork with Changed Files" (/swap)',
  });
  await run.client.stop(() => run.type('/swap'));
  expect(toldOf(run).at(-1)).toMatchObject({ verified: true, line });
  expect(text(await run.step('continue'))).toMatch(/^rule say-hello held/);
  writeFileSync(policy, original(policy));
  await run.client.request('rehearsal/changes');
  expect(toldOf(run).at(-1)).toMatchObject({
    verified: false,
    message: 'rule say-hello is no longer in the files of the domain',
  });
});

test('values and breakpoints follow tools and the parts of a task', async () => {
  const run = session();
  const declared = lineOf(tools, 'export const change_item');
  await run.begin({ task: 'lamp-variant' }, { breakpoints: { [tools]: declared } });
  moveDown(tools, 'export const change_item', '// It changes an item.\n');
  moveDown(tasks, 'actions:', '# What a right agent calls.\n');
  await run.client.request('rehearsal/changes');
  expect(toldOf(run)).toMatchObject([{ verified: true, line: declared + 1 }]);
  expect((await beside(run, tools))[declared + 1]).toMatch(/^is called with /);
  const first = lineOf(tasks, 'tool: change_item');
  expect((await beside(run, tasks))[first]).toBe('not made so far');
  expect(await run.top()).toMatch(`tools.ts:${declared + 1} `);
});
