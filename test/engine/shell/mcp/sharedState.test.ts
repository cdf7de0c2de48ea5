import { expect, onTestFinished, test } from 'vitest';
import type { Task } from '../../../../src/engine/core/domain/task.ts';
import { audit } from '../../../../src/engine/shell/audit/audit.ts';
import { loadDomain } from '../../../../src/engine/shell/domain/loadDomain.ts';
import { RolloutTools } from '../../../../src/engine/shell/tools/rolloutTools.ts';
import { SharedTools } from '../../../../src/engine/shell/tools/sharedTools.ts';
import { approveDomain } from '../../../support/approval.ts';
import { mcpDomain } from '../../../support/mcpDomain.ts';
import { rawMcpServer, resultBody, textResult } from '../../../support/rawMcpServer.ts';
import { sampled } from '../../../support/suite.ts';
import { temporaryFolder } from '../../../support/temporary.ts';
import { rehearsal } from '../../../support/terminal.ts';
import { checkWithKnownTools } from '../audit/findings.ts';

const tools = ['add', 'clear', 'list'].map((name) => ({
  name,
  inputSchema: { type: 'object', properties: { item: { type: 'string' } } },
}));

/** A server with a list: one for all clients, or one for each session. `add` answers with a number that counts up. */
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
  { name: 'sessions of their own', isShared: false, more: '', setUp: '', codes: [] },
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
