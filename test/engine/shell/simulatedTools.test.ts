import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { loadDomain } from '../../../src/engine/shell/domain/loadDomain.ts';
import { keptSecret } from '../../../src/engine/shell/keys/secrets.ts';
import { sidecarPath } from '../../../src/engine/shell/records/recording.ts';
import { modelServer } from '../../support/modelServer.ts';
import { rehearse, replayed } from '../../support/rehearsed.ts';
import type { ModelRequest } from '../../support/scriptedModel.ts';
import { inFullSuite } from '../../support/suite.ts';
import { folderOf } from './load/domainFolder.ts';

const task = `id: ship
persona: a
user: { goal: You want W1 shipped., known: { order_id: W1 } }
script:
  - - { tool: ship, arguments: { order_id: W1 } }
  - Done.
assertions:
  - { path: orders.W1.status, equals: shipped }
evaluate: [assertions]
train: [assertions]
`;

function folder(url: string, files: Record<string, string> = {}): string {
  return folderOf({
    'domain.yaml': `name: shipping\nsimulator: openai:m@${url}\n`,
    'policy.md': '# Shipping\n',
    'database.json':
      '{"orders": {"W1": {"status": "packed", "customer": "C1"}, "W2": {"status": "packed"}}, "secret": {"x": 1}}',
    'personas/a.persona.yaml': 'id: a\ndescription: Someone.\n',
    'tools/ship.tool.yaml': `name: ship
description: Ship an order.
effect: write
timeoutMs: 1500
parameters:
  type: object
  properties: { order_id: { type: string } }
  required: [order_id]
  additionalProperties: false
result:
  type: object
  properties: { tracking: { type: string } }
  required: [tracking]
  additionalProperties: false
behaviour: An order that is packed becomes shipped. Any other is refused.
reads: ["orders.{order_id}"]
writes: ["orders.{order_id}.status"]
`,
    'tasks/ship.task.yaml': task,
    ...files,
  });
}

const good = JSON.stringify({
  result: { tracking: 'T1' },
  writes: [{ op: 'replace', path: '/orders/W1/status', value: 'shipped' }],
});
const asked = ({ messages }: ModelRequest) => messages.at(-1)?.content ?? '';

test('a key that is cut off is not in the correction that the model gets', async () => {
  const key = keptSecret('KEY', 'key-0123456789abcdef');
  const { url, requests } = await modelServer(({ messages }) =>
    /could not be used/.test(messages.at(-1)?.content ?? '') ? good : `${'x'.repeat(190)}${key}`,
  );
  await rehearse(folder(url), ['ship']);
  expect(asked(requests.at(-1) as ModelRequest)).toContain('xx[KEY]. Answer again');
});

test('the answer is the result, its writes are patches, and a replay needs no model', async () => {
  const { url, requests } = await modelServer(() => good);
  const domain = folder(url);
  const [closed] = await rehearse(domain, ['ship']);
  expect(closed).toMatchObject({ reward: 1, results: ['{"tracking":"T1"}'] });
  expect(closed?.events.find(({ type }) => type === 'databaseWritten')).toMatchObject({
    writes: [{ side: 'agent', patches: [{ op: 'replace', path: ['orders', 'W1', 'status'], old: 'packed' }] }],
  });
  expect(requests).toHaveLength(1);
  expect(requests[0]).toMatchObject({
    response_format: {
      json_schema: {
        strict: false,
        schema: { properties: { result: { required: ['tracking'] }, writes: { type: 'array' } } },
      },
    },
  });
  // llama.cpp accepts only patterns that match a whole text.
  expect(JSON.stringify(requests[0])).not.toContain('pattern');
  const shown = asked(requests[0] ?? { messages: [] });
  expect(shown).toContain('"orders.W1"');
  expect(shown).not.toMatch(/W2|secret/);
  if (!closed) return;
  expect(replayed(domain, closed).problems).toBe(0);
  expect(requests).toHaveLength(1);
  expect(readFileSync(sidecarPath(closed.recording), 'utf8')).toContain('You simulate the tool ship');
});

test('whole numbers beyond 2^53 keep their digits in the request, the result and the database', async () => {
  const large = '9007199254740993';
  const { url, requests } = await modelServer(
    () => `{"result": {"to": ${large}}, "writes": [{"op": "replace", "path": "/orders/W1/status", "value": ${large}}]}`,
  );
  const given = folder(url);
  const tool = readFileSync(join(given, 'tools/ship.tool.yaml'), 'utf8')
    .replace('order_id: { type: string } }', 'order_id: { type: string }, to: { type: integer } }')
    .replace('tracking: { type: string } }', `to: { type: integer, minimum: 9007199254740992 } }`)
    .replace('[tracking]', '[to]');
  const asking = task
    .replace('arguments: { order_id: W1 } }', `arguments: { order_id: W1, to: "${large}" } }`)
    .replace('shipped }\nev', `"${large}" }\nev`);
  const domain = folder(url, { 'tools/ship.tool.yaml': tool, 'tasks/ship.task.yaml': asking });
  const [closed] = await rehearse(domain, ['ship']);
  expect(closed).toMatchObject({ reward: 1, results: [`{"to":${large}}`] });
  expect(asked(requests[0] as ModelRequest)).toMatch(new RegExp(`"to": ${large}\\b`));
  if (!closed) return;
  expect(replayed(domain, closed).problems).toBe(0);
  const last = closed.events.findLastIndex(({ type }) => type === 'agentReplied');
  const [fork] = await rehearse(domain, ['ship'], { from: closed.events.slice(0, last) });
  expect(fork).toMatchObject({ reward: 1, results: [`{"to":${large}}`] });
});

test('a result that the schema refuses by its last digit is asked for again', async () => {
  const { url, requests } = await modelServer((_, nth) => `{"result": {"to": 900719925474099${nth === 1 ? 3 : 1}}}`);
  const tool = readFileSync(join(folder(url), 'tools/ship.tool.yaml'), 'utf8')
    .replace('tracking: { type: string } }', 'to: { type: integer, maximum: 9007199254740992 } }')
    .replace('[tracking]', '[to]');
  const [closed] = await rehearse(folder(url, { 'tools/ship.tool.yaml': tool }), ['ship']);
  expect(closed).toMatchObject({ results: ['{"to":9007199254740991}'] });
  expect(asked(requests[1] as ModelRequest)).toContain('/result/to must be <= 9007199254740992');
});

test('a schema of a result that cannot be compiled is found before a rollout', () => {
  const given = folder('http://127.0.0.1:1/v1');
  const tool = readFileSync(join(given, 'tools/ship.tool.yaml'), 'utf8').replace(
    'tracking: { type: string }',
    'tracking: { type: text }',
  );
  const found = loadDomain(folder('http://127.0.0.1:1/v1', { 'tools/ship.tool.yaml': tool })).diagnostics;
  expect(found.filter(({ severity }) => severity === 'error')).toMatchObject([
    { code: 'tool/bad-schema', line: 11, message: expect.stringContaining('the result of ship') },
  ]);
});

const refusals: readonly { readonly name: string; readonly answer: string; readonly told: RegExp }[] = [
  { name: 'text that is not JSON', answer: 'Sure! It is shipped.', told: /it is not JSON: Sure! It is shipped/ },
  { name: 'broken JSON', answer: '{"result": {"tracking": ', told: /it is not JSON/ },
  {
    name: 'a result that does not fit',
    answer: '{"result": {"number": 7}}',
    told: /\/result must have required property 'tracking'/,
  },
  {
    name: 'a write beyond what is declared',
    answer:
      '{"result": {"tracking": "T1"}, "writes": [{"op": "replace", "path": "/orders/W2/status", "value": "lost"}]}',
    told: /ship may not write orders.W2.status; it may write orders.\{order_id\}.status/,
  },
  {
    name: 'a write that does not fit the database',
    answer: '{"result": {"tracking": "T1"}, "writes": [{"op": "add", "path": "/orders/W1/status", "value": "x"}]}',
    told: /does not fit this database: add at orders.W1.status/,
  },
  {
    name: 'an unknown operation',
    answer: '{"result": {"tracking": "T1"}, "writes": [{"op": "copy", "path": "/orders/W1/status"}]}',
    told: /\/writes\/0\/op must be equal to one of the allowed values/,
  },
];

test('the model gets the error of a wrong answer and may answer again', async () => {
  // Each call of the tool gets an answer that is refused, and then a good one.
  const { url, requests } = await modelServer((_, nth) =>
    nth % 2 === 1 ? (refusals[(nth - 1) / 2]?.answer ?? '') : good,
  );
  const call = '  - - { tool: ship, arguments: { order_id: W1 } }\n';
  const [closed] = await rehearse(
    folder(url, { 'tasks/ship.task.yaml': task.replace(call, call.repeat(refusals.length)) }),
    ['ship'],
  );
  expect(requests).toHaveLength(2 * refusals.length);
  for (const [at, { name, told }] of refusals.entries())
    expect(asked(requests[2 * at + 1] ?? { messages: [] }), name).toMatch(told);
  expect(closed).toMatchObject({ reward: 1, results: refusals.map(() => '{"tracking":"T1"}') });
});

test('a model that never gives a usable answer ends the rollout and writes nothing', async () => {
  const { url, requests } = await modelServer(() => refusals[3]?.answer ?? '');
  const [closed] = await rehearse(folder(url), ['ship']);
  expect(requests).toHaveLength(3);
  expect(closed).toMatchObject({
    endReason: 'environmentFailed',
    reward: null,
    failure: {
      code: 'simulated/broken',
      message: expect.stringMatching(
        /simulates ship gave no answer that can be used in 3 attempts.*may not write orders.W2/,
      ),
    },
  });
  expect(closed?.events.some(({ type }) => type === 'databaseWritten')).toBe(false);
});

test('a model that refuses the call gives an error that the agent sees', async () => {
  const { url } = await modelServer(() => '```json\n{"error": "W1 is not packed"}\n```');
  const [closed] = await rehearse(folder(url), ['ship']);
  expect(closed).toMatchObject({ reward: 0, results: ['Error: W1 is not packed'] });
});

inFullSuite('a model that never answers is an infrastructure failure without a reward', async () => {
  const { url } = await modelServer(() => null);
  const [closed] = await rehearse(folder(url), ['ship']);
  expect(closed).toMatchObject({
    endReason: 'infrastructureFailed',
    reward: null,
    failure: { code: 'model/timeout', message: expect.stringContaining('did not answer within 1.5 s') },
  });
});

test('a domain that names no model says so when the tool is called', async () => {
  const domain = folder('http://127.0.0.1:1/v1', { 'domain.yaml': 'name: shipping\n' });
  const found = loadDomain(domain).diagnostics.filter(({ severity }) => severity !== 'info');
  expect(found.map(({ severity, code }) => `${severity} ${code}`)).toEqual(['warning tool/no-simulator']);
  const [closed] = await rehearse(domain, ['ship']);
  expect(closed?.failure?.message).toMatch(/ship is simulated by a model, and domain.yaml names no model for it/);
});

test('database equality over simulated writes is refused', () => {
  const domain = folder('http://127.0.0.1:1/v1', {
    'tasks/ship.task.yaml': task.replace('evaluate: [assertions]', 'evaluate: [assertions, database]'),
  });
  const found = loadDomain(domain).diagnostics.map(
    ({ file, line, column, code }) => `${file.split('/').at(-1)}:${line}:${column} ${code}`,
  );
  expect(found).toEqual(['ship.task.yaml:9:24 task/simulated-writes']);
});
