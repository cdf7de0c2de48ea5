import { mkdirSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { expect } from 'vitest';
import { readSelection } from '../../src/synthesis/synthesisFolder.ts';
import { approveDomain } from '../support/approval.ts';
import { modelServer } from '../support/modelServer.ts';
import { inFullSuite } from '../support/suite.ts';
import { temporaryFolder } from '../support/temporary.ts';
import { rehearsal } from '../support/terminal.ts';

const scratch = temporaryFolder('rehearsal-synth-tools');

function domain(name: string, files: Readonly<Record<string, string>>): string {
  const shared = { 'personas/plain.persona.yaml': 'id: plain\ndescription: A person with a request.\n' };
  for (const [file, text] of Object.entries({ ...shared, ...files })) {
    const path = join(scratch, name, file);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  }
  return approveDomain(join(scratch, name));
}

/** A published MCP server that keeps a graph in a file; every rollout has its own. */
const server = join(
  dirname(createRequire(import.meta.url).resolve('@modelcontextprotocol/server-memory/package.json')),
  'dist',
  'index.js',
);
const memory = domain('memory-desk', {
  'domain.yaml': `name: memory-desk
mcpServers:
  memory:
    command: ${JSON.stringify(process.execPath)}
    args: [${JSON.stringify(server)}]
    env: { MEMORY_FILE_PATH: "\${instanceFolder}/memory.json" }
    state: replay
    reader: { tool: read_graph }
    writes: [delete_entities, create_entities]
`,
  'database.json': '{}',
  'policy.md': '- Ask before you forget somebody. {#ask-first}\n',
  'rules.yaml': 'rules:\n  - { rule: ask-first, check: confirmed, tools: [delete_entities], gate: true }\n',
  'tasks/forget.task.yaml': `id: forget
persona: plain
user:
  goal: The desk should forget Ann.
  opening: Please forget the entry of Ann.
  known: { entityNames: Ann }
actions: [{ tool: delete_entities, arguments: { entityNames: [Ann] } }]
receipts: [{ tool: delete_entities }]
evaluate: [receipts]
train: [receipts]
`,
});

const simulated = (url: string) =>
  domain('shipping', {
    'domain.yaml': `name: shipping\nsimulator: openai:m@${url}\n`,
    'database.json': '{"orders": {"W1": {"status": "packed"}}}',
    'policy.md': '- Ask before you ship. {#ask-first}\n',
    'rules.yaml': 'rules:\n  - { rule: ask-first, check: confirmed, tools: [ship], gate: true }\n',
    'tools/ship.tool.yaml': `name: ship
description: Ship an order.
effect: write
parameters:
  type: object
  properties: { order_id: { type: string } }
  required: [order_id]
  additionalProperties: false
result: { type: object, properties: { tracking: { type: string } }, required: [tracking], additionalProperties: false }
behaviour: An order that is packed becomes shipped.
reads: ["orders.{order_id}"]
writes: ["orders.{order_id}.status"]
`,
    'tasks/ship.task.yaml': `id: ship
persona: plain
user: { goal: You want W1 shipped., opening: Please ship W1., known: { order_id: W1 } }
actions: [{ tool: ship, arguments: { order_id: W1 } }]
assertions: [{ path: orders.W1.status, equals: shipped }]
evaluate: [assertions]
train: [assertions]
`,
  });

inFullSuite('a real MCP server and a simulated tool give successes and near-misses alike', async () => {
  const { url } = await modelServer(() =>
    JSON.stringify({
      result: { tracking: 'T1' },
      writes: [{ op: 'replace', path: '/orders/W1/status', value: 'shipped' }],
    }),
  );
  const out = join(scratch, 'out');
  const { code, err } = await rehearsal(
    'synth',
    memory,
    simulated(url),
    ...['--count', '4', '--near-misses', '0.5', '--concurrency', '2', '--out', out],
  );
  expect([code, err.match(/\d of 4 could.*/)?.[0]]).toEqual([0, undefined]);
  const accepted = readSelection(out).filter((row) => row.accepted);
  expect(accepted.map(({ domain: name, outcome, miss }) => [name, outcome, miss]).toSorted()).toEqual([
    ['memory-desk', 'nearMiss', 'broke ask-first'],
    ['memory-desk', 'success', null],
    ['shipping', 'nearMiss', 'broke ask-first'],
    ['shipping', 'success', null],
  ]);
});
