import { expect, onTestFinished, test } from 'vitest';
import type { Task } from '../../../../src/engine/core/domain/task.ts';
import { audit } from '../../../../src/engine/shell/audit/audit.ts';
import { findSharedServers } from '../../../../src/engine/shell/audit/sharedState.ts';
import { loadDomain } from '../../../../src/engine/shell/domain/loadDomain.ts';
import { RolloutTools } from '../../../../src/engine/shell/tools/rolloutTools.ts';
import { SharedTools } from '../../../../src/engine/shell/tools/sharedTools.ts';
import { approveDomain } from '../../../support/approval.ts';
import { mcpDomain } from '../../../support/mcpDomain.ts';
import { rawMcpServer, resultBody, textResult } from '../../../support/rawMcpServer.ts';
import { rehearse, replayed } from '../../../support/rehearsed.ts';
import { sampled } from '../../../support/suite.ts';
import { temporaryFolder } from '../../../support/temporary.ts';
import { rehearsal } from '../../../support/terminal.ts';
import { checkWithKnownTools } from '../audit/findings.ts';

const tools = ['add', 'clear', 'list'].map((name) => ({
  name,
  inputSchema: { type: 'object', properties: { item: { type: 'string' } } },
}));

/** A server with one list for all clients or one for each session. `add` answers with an increasing number. */
async function lists(isShared: boolean) {
  let calls = 0;
  const all = new Map<string, string[]>();
  return rawMcpServer({
    reply: ({ id, method, params, headers, text }) => {
      if (method === 'tools/list') return { body: resultBody(id, JSON.stringify({ tools })) };
      if (method !== 'tools/call') return undefined;
      const owner = isShared ? 'everybody' : String(headers['mcp-session-id']);
      if (params.name === 'clear') all.set(owner, []);
      const list = all.get(owner) ?? [];
      if (params.name === 'add') list.push(/"item":"(.*?)"/.exec(text)?.[1] ?? '');
      all.set(owner, list);
      calls += 1;
      return { body: resultBody(id, textResult(params.name === 'add' ? `call ${calls}` : JSON.stringify(list))) };
    },
  });
}

const desk = (url: string, more: string, setUp: string) =>
  approveDomain(
    mcpDomain(
      'lists',
      `  lists: { type: http, url: "${url}", writes: [add, clear], reader: { tool: list }, state: replay, volatile: [add]${more} }`,
      `split: test
user: { goal: You want milk on the list. }
actions: [{ tool: add, arguments: { item: milk } }]
assertions: [{ in: lists, that: 'count(state) == 1' }]
evaluate: [assertions]
train: [assertions]
${setUp}`,
    ),
  );
const reset = 'setUp: { lists: { calls: [{ tool: clear }] } }\n';
const look = checkWithKnownTools();

async function auditOf(folder: string): Promise<readonly string[]> {
  const { loaded } = await look(folder);
  const { diagnostics } = await audit(loaded, { signal: new AbortController().signal });
  return diagnostics.map(({ code }) => code).filter((code) => code !== 'tool/unused');
}

const audited: readonly {
  readonly name: string;
  readonly isShared: boolean;
  readonly more: string;
  readonly setUp: string;
  readonly codes: readonly string[];
}[] = [
  { name: 'separate sessions', isShared: false, more: '', setUp: '', codes: [] },
  { name: 'one list, as domain.yaml says', isShared: true, more: ', sharedState: true', setUp: reset, codes: [] },
  { name: 'one list', isShared: true, more: '', setUp: reset, codes: ['domain/shared-state'] },
];
test.each(sampled(audited, 2))('the audit of a server with $name', async ({ isShared, more, setUp, codes }) => {
  const { url } = await lists(isShared);
  expect(await auditOf(desk(url, more, setUp))).toEqual(codes);
});

test('rollouts use a server with shared state one at a time, so each has the reward of its own work', async () => {
  const { url } = await lists(true);
  const folder = desk(url, ', sharedState: true', reset);
  const flags = ['--trials', '12', '--concurrency', '6', '--out', temporaryFolder('shared-state')];
  const { out } = await rehearsal('eval', folder, '--agent', 'gold', ...flags);
  expect(out).toContain('12 scored of 12, mean reward 1.000');
});

test('the gold actions on one server leave the shared state of another one as it is', async () => {
  const [own, shared] = [await lists(false), await lists(true)];
  const folder = mcpDomain(
    'two',
    `  own: { type: http, url: "${own.url}", prefix: own_, writes: [own_add], reader: { tool: own_list } }
  shared: { type: http, url: "${shared.url}", writes: [add, clear], reader: { tool: list }, sharedState: true }`,
    `user: { goal: You want milk on both lists. }
actions: [{ tool: own_add, arguments: { item: milk } }, { tool: add, arguments: { item: milk } }]
assertions: [{ in: own, sameAs: gold }]
evaluate: [assertions]
train: [assertions]
setUp: { shared: { calls: [{ tool: clear }] } }
`,
  );
  const loaded = loadDomain(approveDomain(folder));
  const rollout = new RolloutTools(new SharedTools(loaded, () => undefined));
  onTestFinished(() => rollout.close());
  await rollout.open(loaded.domain.tasks[0] as Task);
  expect(await rollout.read('own after the gold actions')).toEqual(['milk']);
  expect(shared.calls).toEqual(['clear']);
});

test.each([true, false])('a server is tried next to one whose shared state is declared (%s)', async (isShared) => {
  const [own, shared] = [await lists(isShared), await lists(true)];
  const folder = mcpDomain(
    'two',
    `  own: { type: http, url: "${own.url}", prefix: own_, writes: [own_add], reader: { tool: own_list } }
  shared: { type: http, url: "${shared.url}", writes: [add, clear], reader: { tool: list }, sharedState: true }`,
    'user: { goal: You want milk on the list. }\nactions: [{ tool: own_add, arguments: { item: milk } }]\n',
  );
  const { loaded } = await look(approveDomain(folder));
  const found = await findSharedServers(loaded, loaded.parts.tasks, new AbortController().signal);
  expect(found.map(({ name }) => name)).toEqual(isShared ? ['own'] : []);
  expect(shared.calls).toEqual([]);
});

const sameAsGold = (url: string, more: string, items: readonly string[], task: string) =>
  mcpDomain(
    'lists',
    `  lists: { type: http, url: "${url}", writes: [add, clear], reader: { tool: list }, state: replay, volatile: [add], sharedState: true }${more}`,
    `user: { goal: You want milk on the list. }
script: [${items.map((item) => `[{ tool: add, arguments: { item: ${item} } }], `).join('')}Done.]
actions: [{ tool: add, arguments: { item: milk } }]
evaluate: [assertions]
train: [assertions]
${task}`,
  );
const gold = 'assertions: [{ in: lists, sameAs: gold }]\n';
const noReset = 'setUp: { lists: { calls: [{ tool: add, arguments: { item: tea } }] } }\n';

const goldRows: readonly (readonly [string, items: readonly string[], setUp: string, reward: 0 | 1 | null])[] = [
  ['the same work', ['milk'], reset, 1],
  ['other work', ['tea'], reset, 0],
  ['no work, and a setUp that resets nothing', [], noReset, null],
  ['the same work, and a setUp that resets nothing', ['milk'], noReset, null],
];
test.each(sampled(goldRows, 3))('sameAs: gold on a shared state, with %s', async (_, items, setUp, reward) => {
  const { url } = await lists(true);
  const folder = sameAsGold(url, '', items, `${gold}${setUp}`);
  const [played] = await rehearse(folder, ['a']);
  if (!played) throw new Error('no rollout');
  expect(played.reward).toBe(reward);
  const rewarded = JSON.stringify(played.events.at(-1));
  if (reward === null) expect(rewarded).toContain('the task does not reset \\"lists\\" to it (lists.');
  expect(replayed(folder, played).problems).toBe(0);
});

test('the gold actions are made after every state that the agent left is read', async () => {
  const { url } = await lists(true);
  const more = `\n  same: { type: http, url: "${url}", prefix: same_, reader: { tool: same_list }, sharedState: true }`;
  const asserted = "assertions: [{ in: lists, sameAs: gold }, { in: same, that: 'count(state) == 2' }]\n";
  const [played] = await rehearse(sameAsGold(url, more, ['milk', 'tea'], `${asserted}${reset}`), ['a']);
  const read = played?.events.flatMap((event) => (event.type === 'sourceRead' ? [[event.source, event.state]] : []));
  expect(read).toEqual([
    ['lists', ['milk', 'tea']],
    ['same', ['milk', 'tea']],
    ['lists after the gold actions', ['milk']],
  ]);
});

test.each([
  [reset, ['milk', 'tea']],
  ['', /"lists" has one state for all rollouts, and the task does not reset it/],
])('a fork repeats calls on a shared state that the task resets: %s', async (setUp, outcome) => {
  const { url } = await lists(true);
  const asserted = "assertions: [{ in: lists, that: 'count(state) == 2' }]\n";
  const folder = sameAsGold(url, '', ['milk', 'tea'], `${asserted}${setUp}`);
  const [first] = await rehearse(folder, ['a']);
  const events = first?.events ?? [];
  const from = events.slice(0, events.findIndex(({ type }) => type === 'toolReturned') + 1);
  const forked = rehearse(folder, ['a'], { from });
  if (outcome instanceof RegExp) return expect(forked).rejects.toThrow(outcome);
  const read = (await forked)[0]?.events.findLast((event) => event.type === 'sourceRead');
  expect(read?.type === 'sourceRead' ? read.state : undefined).toEqual(outcome);
});
