import { expect, it } from 'vitest';
import { describedDomain } from '../../../../src/engine/shell/describe.ts';
import { loadDomain } from '../../../../src/engine/shell/domain/loadDomain.ts';
import { approveDomain } from '../../../support/approval.ts';
import { mcpDomain } from '../../../support/mcpDomain.ts';
import { rehearse, replayed } from '../../../support/rehearsed.ts';
import { scriptedMcpServer } from '../../../support/scriptedMcpServer.ts';

const tools = [
  {
    name: 'search',
    description: 'Searches.',
    inputSchema: { type: 'object', properties: { q: { $ref: '#/$defs/none' } } },
  },
  {
    name: 'pick.one',
    description: 'Picks.',
    inputSchema: {
      type: 'object',
      properties: { at: { type: 'array', items: [{ type: 'number' }, { type: 'string', pattern: '^a\\Z' }] } },
    },
  },
  { name: null },
  // Clash with the tools above, which have other arguments.
  { name: 'search', inputSchema: { type: 'object', properties: {} } },
  { name: 'pick/one', inputSchema: { type: 'object', properties: {} } },
];

/** A domain with two servers that list the same tools. */
async function market(script: string, first = 'prefix: shop_', second = 'rename: { search: find_member }') {
  const answer = { content: [{ type: 'text', text: 'found' }] };
  const shop = await scriptedMcpServer({ list: { tools }, call: () => answer });
  const club = await scriptedMcpServer({ list: { tools: tools.slice(0, 1) }, call: () => answer });
  const folder = mcpDomain(
    'market',
    `  shop: { type: http, url: "${shop.url}", ${first} }
  club: { type: http, url: "${club.url}", ${second}, writes: [find_member] }`,
    `user: { goal: You want it found., known: { by: 1 } }
script: ${script}
actions: [{ tool: find_member }]
receipts: [{ tool: find_member }]
evaluate: [receipts]
train: [receipts]
`,
    {
      'policy.md': '# Market\n\n- Ask for a yes before any change. {#confirm}\n',
      'rules.yaml': '- { rule: confirm, check: confirmed, tools: [find_member] }\n',
    },
  );
  approveDomain(folder);
  return { folder, shop, club };
}

const diagnosed = async (folder: string) =>
  (await describedDomain(loadDomain(folder, { soundness: false }))).diagnostics;

const found = async (folder: string) =>
  (await diagnosed(folder))
    .filter(({ code }) => /^(?:tool|domain)\//.test(code))
    .map(({ severity, code }) => `${severity} ${code}`);

it('two servers with the same tools make one domain, whatever their schemas are', async () => {
  const script = `
  - - { tool: shop_search, arguments: { q: 1 } }
  - - { tool: find_member }
  - - { tool: shop_pick_one, arguments: { at: [1, b] } }
  - - { tool: shop_pick_one, arguments: { at: [b, 1] } }
  - Done.`;
  const { folder, shop, club } = await market(script);
  const [rollout] = await rehearse(folder, ['a']);
  if (!rollout) throw new Error('no rollout');
  const misfit =
    'Error: the arguments of shop_pick_one do not fit: at.0 must be of type number. at.1 must be of type string.';
  expect(rollout).toMatchObject({ reward: 1, results: ['found', 'found', 'found', misfit] });
  expect(shop.calls.map(({ name }) => name)).toEqual(['search', 'pick.one']);
  expect(club.calls.map(({ name }) => name)).toEqual(['search']);
  expect(
    rollout.events.some((event) => event.type === 'rulesChecked' && event.verdicts[0]?.verdict === 'violated'),
  ).toBe(true);
  expect(replayed(folder, rollout).problems).toBe(0);
  expect(await found(folder)).toEqual(
    expect.arrayContaining([
      'info tool/renamed',
      'warning tool/left-out',
      'warning tool/unchecked-schema',
      'warning tool/unsupported-pattern',
    ]),
  );
});

it.each([
  ['timeoutMs: 20000', 'timeoutMs: 20000', 'error tool/duplicate-name'],
  ['rename: { sarch: find }', 'prefix: club_', 'warning domain/unknown-tool'],
])('%s and %s: %s', async (first, second, finding) => {
  const { folder } = await market('[Done.]', first, second);
  expect(await found(folder)).toContain(finding);
});

it.each([
  ['prefix: shop_, writes: [search]', 'Write shop_search, its name in this domain.', 'shop_search'],
  ['tools: { pick.one: { timeoutMs: 20000 } }', 'Write pick_one, its name in this domain.', 'pick_one'],
  ['idempotent: [serch]', 'Did you mean "search"?', 'search'],
  ['writes: [buy]', 'Its tools are search, pick_one', undefined],
])('%s names a tool that its server lacks', async (first, hint, fixed) => {
  const { folder } = await market('[Done.]', first);
  expect((await diagnosed(folder)).filter(({ code }) => code === 'domain/unknown-tool')).toMatchObject([
    {
      severity: 'error',
      file: expect.stringContaining('domain.yaml'),
      line: 3,
      hint: expect.stringContaining(hint),
      ...(fixed === undefined ? {} : { fix: { edits: [{ text: fixed }] } }),
    },
  ]);
});
