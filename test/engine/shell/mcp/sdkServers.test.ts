import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { mcpPython } from '../../../../scripts/mcpPython.ts';
import { mcpDomain } from '../../../support/mcpDomain.ts';
import { rehearse, replayed } from '../../../support/rehearsed.ts';
import { isFullSuite } from '../../../support/suite.ts';

const program = fileURLToPath(new URL('../fixtures/sdkServer.py', import.meta.url));
const first = String(2n ** 53n + 1n);

/** What an agent sends to the tools of the server, and what it gets. */
const calls: readonly (readonly [call: string, result: RegExp])[] = [
  [
    '{ tool: place_order, arguments: { items: [{ sku: A1, count: 2, parts: [{ sku: b2 }] }], priority: high, notes: { door: left } } }',
    new RegExp(`"id": ?${first},\\s*"status": ?"high:2:1"`),
  ],
  ['{ tool: place_order, arguments: { items: [{ sku: 7 }] } }', /^Error: .*sku/s],
  ['{ tool: place_order, arguments: { items: [], priority: urgent } }', /^Error: .*priority/s],
  [`{ tool: cancel_order, arguments: { id: "${first}" } }`, /^cancelled$/],
  ['{ tool: cancel_order, arguments: { id: 5 } }', /^Error executing tool cancel_order/],
  ['{ tool: photo }', /image\/png/],
  ['{ tool: count }', /^1$/],
  ['{ tool: ask }', /^Error: .*elicitation/is],
];

function domainOf(server: string): string {
  return mcpDomain(
    'shop',
    `  shop: { ${server}, writes: [place_order, cancel_order], reader: { tool: list_orders } }`,
    `user: { goal: You want an order. }
script:
${calls.map(([call]) => `  - [${call}]`).join('\n')}
  - Done.
assertions: [{ in: shop, that: 'any(state, it.id == "${first}" and it.status == "cancelled")' }]
evaluate: [assertions]
train: [assertions]
`,
  );
}

/** Starts the server on a free port of loopback. Returns how a domain names it. */
async function served(): Promise<string> {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address() as AddressInfo;
  probe.close();
  const server = spawn(mcpPython.path(), [program, String(port)], { stdio: ['ignore', 'ignore', 'pipe'] });
  onTestFinished(() => void server.kill());
  const url = `http://127.0.0.1:${port}/mcp`;
  await once(server.stderr, 'data');
  return `type: http, url: "${url}"`;
}

describe.runIf(isFullSuite)('a server of the official Python SDK', () => {
  beforeAll(() => mcpPython.setUp(), 600_000);

  test.each([
    ['stdio', async () => `command: ${JSON.stringify(mcpPython.path())}, args: [${JSON.stringify(program)}]`],
    ['HTTP', served],
  ])('over %s: every answer reaches the agent, and the reward comes from its state', async (_, start) => {
    const folder = domainOf(await start());
    const [played] = await rehearse(folder, ['a']);
    expect(played).toMatchObject({ reward: 1, results: calls.map(([, result]) => expect.stringMatching(result)) });
    if (played) expect(replayed(folder, played).problems).toBe(0);
  });
});
