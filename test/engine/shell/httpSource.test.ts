import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { sidecarPath } from '../../../src/engine/shell/records/recording.ts';
import { httpMcpServer } from '../../support/httpMcpServer.ts';
import { rehearse, replayed } from '../../support/rehearsed.ts';
import { inFullSuite, sampled } from '../../support/suite.ts';
import { folderOf } from './load/domainFolder.ts';

/** A domain whose tools are those of an HTTP server; `more` are further keys of the server. */
function folder(url: string, more: string, calls: readonly string[], task = ''): string {
  return folderOf({
    'domain.yaml': `name: counter\nmcpServers:\n  counter:\n    type: http\n    url: ${url}\n    writes: [add, pay]\n${more}`,
    'policy.md': '# Counter\n',
    'database.json': '{}',
    'personas/a.persona.yaml': 'id: a\ndescription: Someone.\n',
    'tasks/a.task.yaml': `id: a
persona: a
user: { goal: You want it counted., known: { by: 1 } }
script:
${calls.map((call) => `  - - ${call}`).join('\n')}
  - Done.
evaluate: [communicate]
train: [communicate]
communicate: [Done]
${task}`,
  });
}

const add = (by: number) => `{ tool: add, arguments: { by: ${by} } }`;
const state = '{ tool: state }';
const snapshot = `    state: snapshot
    snapshot: { tool: state }
    restore: { tool: put_back, argument: saved }
`;

test.each(
  sampled(
    [
      ['snapshot', snapshot],
      ['replay', '    state: replay\n'],
    ] as const,
    2,
  ),
)('a fork continues in its own session (%s)', async (kind, more) => {
  const { url } = await httpMcpServer();
  const domain = folder(url, more, [add(2), add(3), state]);
  const [parent] = await rehearse(domain, ['a']);
  expect(parent?.results).toEqual(['{"count":2}', '{"count":5}', '{"count":5}']);
  const events = parent?.events ?? [];
  expect(events.filter(({ type }) => type === 'sourceSaved')).toHaveLength(kind === 'snapshot' ? 2 : 0);
  const first = events.findIndex(({ type }) => type === 'toolReturned');
  const [fork] = await rehearse(domain, ['a'], { from: events.slice(0, first + 1) });
  expect(fork?.results).toEqual(parent?.results);
  if (parent) expect(replayed(domain, parent).problems).toBe(0);
});

inFullSuite('state: none refuses to fork after a write', async () => {
  const { url } = await httpMcpServer();
  const domain = folder(url, '', [add(2), state]);
  const [parent] = await rehearse(domain, ['a']);
  const events = parent?.events ?? [];
  const first = events.findIndex(({ type }) => type === 'toolReturned');
  await expect(rehearse(domain, ['a'], { from: events.slice(0, first + 1) })).rejects.toThrow(
    /cannot continue from here: "counter" declares state: none, and add changed it/,
  );
});

inFullSuite('a call that a seeded outage kept from the server is not made again for a fork', async () => {
  const { url } = await httpMcpServer();
  const faults = 'faults: [{ type: outage, tool: add, calls: [1] }]\n';
  const domain = folder(url, '    state: replay\n', [add(2), add(3), state], faults);
  const [parent] = await rehearse(domain, ['a']);
  expect(parent?.results).toEqual([
    'Error: add is not available at the moment; try again later',
    '{"count":3}',
    '{"count":3}',
  ]);
  const events = parent?.events ?? [];
  const last = events.findLastIndex(({ type }) => type === 'toolReturned');
  const [fork] = await rehearse(domain, ['a'], { from: events.slice(0, last) });
  expect(fork?.results).toEqual(parent?.results);
});

test('an idempotent call is repeated after a broken connection, and the sidecar reports it', async () => {
  const { url } = await httpMcpServer('json');
  const more = '    state: replay\n    tools: { fail: { idempotent: true, retries: 3 } }\n';
  const [closed] = await rehearse(folder(url, more, ['{ tool: fail, arguments: { times: 2 } }']), ['a']);
  expect(closed?.results).toEqual(['worked at attempt 3']);
  expect(readFileSync(sidecarPath(closed?.recording ?? ''), 'utf8')).toMatch(/"retries":2/);
});

inFullSuite('without retries the same ends the rollout in words', async () => {
  const { url } = await httpMcpServer('json');
  const [closed] = await rehearse(folder(url, '', ['{ tool: fail, arguments: { times: 1 } }']), ['a']);
  expect(closed).toMatchObject({ endReason: 'infrastructureFailed', reward: null, failure: { code: 'mcp/died' } });
});

inFullSuite('every call has a unique key, across rollouts too', async () => {
  const { url } = await httpMcpServer();
  const pay = '{ tool: pay, arguments: { sum: 3 } }';
  const domain = folder(url, '    tools: { pay: { idempotencyKey: request } }\n', [pay, pay]);
  const all = await rehearse(domain, ['a', 'a']);
  const keys = all.flatMap(({ results }) => results.map((text) => (JSON.parse(text) as { request: string }).request));
  expect(new Set(keys).size).toBe(4);
});
