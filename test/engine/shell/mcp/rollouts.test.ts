import { expect, onTestFinished, test } from 'vitest';
import type { Domain } from '../../../../src/engine/core/domain/domain.ts';
import type { Task } from '../../../../src/engine/core/domain/task.ts';
import type { RolloutEvent } from '../../../../src/engine/core/events/event.ts';
import { loadDomain } from '../../../../src/engine/shell/domain/loadDomain.ts';
import { RolloutTools } from '../../../../src/engine/shell/tools/rolloutTools.ts';
import { SharedTools } from '../../../../src/engine/shell/tools/sharedTools.ts';
import { approveDomain } from '../../../support/approval.ts';
import { mcpDomain } from '../../../support/mcpDomain.ts';
import { type RawServer, rawMcpServer, resultBody, textResult } from '../../../support/rawMcpServer.ts';
import { rehearse, replayed } from '../../../support/rehearsed.ts';
import { isFullSuite, sampled } from '../../../support/suite.ts';
import { temporaryFolder } from '../../../support/temporary.ts';
import { rehearsal } from '../../../support/terminal.ts';

const large = '9007199254740993';

/** Writes a domain with the tools of a raw server. Its task makes the calls, and an assertion decides its reward. */
const domainOf = ({ url }: RawServer, calls: readonly string[], that: string | null, more = '', actions = '') =>
  mcpDomain(
    'raw',
    `  raw: { type: http, url: "${url}", writes: [write], reader: { tool: state }${more} }`,
    `user: { goal: You want it done. }
script:
${calls.map((call) => `  - [${call}]`).join('\n')}
  - Done.
assertions: [{ in: raw, ${that === null ? 'sameAs: gold' : `that: '${that}'`} }]
evaluate: [assertions]
train: [assertions]
${actions}`,
  );

/** Starts a server with an account for each session, whose id is the last one written. The first `look` is an error. */
async function accounts(session?: string) {
  const first = '1';
  const all = new Map<string, string>();
  let looks = 0;
  const tools = ['look', 'write', 'state', 'restore'].map((name) => ({
    name,
    inputSchema: { type: 'object', properties: { id: { type: 'integer' } } },
  }));
  const server = await rawMcpServer({
    ...(session === undefined ? {} : { session }),
    reply: ({ id, method, params, headers, text }, { sessions }) => {
      if (method === 'tools/list') return { body: resultBody(id, JSON.stringify({ tools })) };
      if (method !== 'tools/call') return undefined;
      const owner = String(headers['mcp-session-id']);
      if (params.name === 'write' || params.name === 'restore')
        all.set(owner, /"id":(\d{2,}|"\d+")/.exec(text)?.[1] ?? '');
      if (params.name !== 'look') return { body: resultBody(id, textResult(`{"id": ${all.get(owner) ?? first}}`)) };
      looks += 1;
      if (looks > 1) return undefined;
      sessions.clear();
      return { body: `{"jsonrpc":"2.0","id":${id},"error":{"code":-32603,"message":"boom"}}` };
    },
  });
  return server;
}

test('a rollout with an error of its server and an expired session is scored, and leaves no session', async () => {
  const server = await accounts();
  const folder = domainOf(server, ['{ tool: look }', '{ tool: look }'], 'state.id == 1');
  const [played] = await rehearse(folder, ['a']);
  expect(played).toMatchObject({ reward: 1, results: ['Error: MCP error -32603: boom', 'look'] });
  if (played) expect(replayed(folder, played).problems).toBe(0);
  expect(server.sessions.size).toBe(0);
});

const rollouts = isFullSuite ? 1000 : 20;

test(`${rollouts} rollouts leave no session on a server`, async ({ annotate }) => {
  const server = await accounts();
  const folder = approveDomain(domainOf(server, ['{ tool: write, arguments: { id: 70 } }'], 'state.id == 70'));
  const run = temporaryFolder('sessions');
  const flags = ['--trials', String(rollouts), '--concurrency', '8', '--out', run];
  const { out } = await rehearsal('eval', folder, '--agent', 'scripted', ...flags);
  expect(out).toContain(`${rollouts} scored of ${rollouts}, mean reward 1.000`);
  const { opened, ended } = server.counts;
  await annotate(`${opened} sessions opened, ${ended} ended by DELETE, ${server.sessions.size} left`);
  expect(server.sessions.size).toBe(0);
  expect(opened).toBeGreaterThanOrEqual(rollouts);
  expect(ended).toBe(opened);
  expect(await rehearsal('verify', run)).toMatchObject({ code: 0 });
}, 600_000);

test.each(
  sampled(
    [
      { that: `state.id == "${large}"`, reward: 1 },
      { that: 'state.id == 9007199254740992', reward: 0 },
    ],
    2,
  ),
)('a large id is read with all its digits: $that gives reward $reward', async ({ that, reward }) => {
  const server = await accounts();
  const write = `{ tool: write, arguments: { id: "${large}" } }`;
  const folder = domainOf(
    server,
    [write, '{ tool: state }'],
    that,
    ', state: snapshot, snapshot: { tool: state }, restore: { tool: restore, argument: saved }',
  );
  const [parent] = await rehearse(folder, ['a']);
  expect(parent).toMatchObject({ reward, results: [`{"id": ${large}}`, expect.anything()] });
  const events = parent?.events ?? [];
  const saved = events.findIndex(({ type }) => type === 'sourceSaved');
  expect(events[saved]).toMatchObject({ snapshot: `{"id": ${large}}` });
  const [fork] = await rehearse(folder, ['a'], { from: events.slice(0, saved + 1) });
  expect(fork).toMatchObject({ reward });
  if (parent) expect(replayed(folder, parent).problems).toBe(0);
});

test('a number that is too large stays one, and a text of digits a text: in the call, the recording and a fork', async () => {
  const sent: string[] = [];
  const server = await rawMcpServer({
    reply: ({ id, method, text }) => {
      if (method === 'tools/list')
        return { body: resultBody(id, '{"tools":[{"name":"write","inputSchema":{"type":"object"}}]}') };
      if (method === 'tools/call') sent.push(/"arguments":(\{.*?\})[,}]/.exec(text)?.[1] ?? text);
      return undefined;
    },
  });
  const write = `{ tool: write, arguments: { id: "${large}", code: "${large}" }, integers: [/id] }`;
  const folder = mcpDomain(
    'bank',
    `  bank: { type: http, url: "${server.url}", writes: [write], state: replay }`,
    `user: { goal: Go., known: {} }
script: [[${write}], Done.]
evaluate: [communicate]
train: [communicate]
communicate: [Done]
`,
  );
  const [parent] = await rehearse(folder, ['a']);
  const events = parent?.events ?? [];
  const returned = events.findIndex(({ type }) => type === 'toolReturned');
  expect(events.find(({ type }) => type === 'toolCalled')).toMatchObject({
    call: { arguments: { id: large, code: large }, integers: ['/id'] },
  });
  await rehearse(folder, ['a'], { from: events.slice(0, returned + 1) });
  const exact = `{"id":${large},"code":"${large}"}`;
  expect(sent).toEqual([exact, exact]);
  if (parent) expect(replayed(folder, parent).problems).toBe(0);
});

test('a rollout that closes while its server starts leaves no session', async () => {
  const asked = Promise.withResolvers<void>();
  const server = await rawMcpServer({
    reply: ({ method }) => (method === 'tools/list' ? () => asked.resolve() : undefined),
  });
  const loaded = loadDomain(approveDomain(domainOf(server, ['{ tool: look }'], 'state.id == 1')));
  const rollout = new RolloutTools(new SharedTools(loaded, () => undefined));
  const opened = rollout.open(loaded.domain.tasks[0] as Task);
  const end = expect(opened).rejects.toMatchObject({ reason: 'cancelled' });
  await asked.promise;
  await rollout.close();
  expect(server.sessions.size).toBe(0);
  await end;
});

const recorded = [
  { type: 'toolCalled', call: { name: 'write', arguments: {} } },
  { type: 'toolReturned', content: 'write', isError: false },
] as unknown as readonly RolloutEvent[];
test.each<[string, (rollout: RolloutTools, domain: Domain) => Promise<unknown>]>([
  ['a gold action', (rollout) => rollout.read('raw after the gold actions')],
  ['a call that a fork makes again', (rollout, domain) => rollout.restore(domain, recorded)],
])('%s is made again as its tool declares', async (_, make) => {
  let writes = 0;
  const server = await rawMcpServer({
    reply: ({ id, method, params }) => {
      if (method === 'tools/list')
        return { body: resultBody(id, '{"tools":[{"name":"write"},{"name":"state","inputSchema":{}}]}') };
      if (method !== 'tools/call' || params.name !== 'write') return undefined;
      writes += 1;
      return writes === 1 ? { status: 503, body: 'busy' } : undefined;
    },
  });
  const more = ', state: replay, tools: { write: { idempotent: true, retries: 1 } }';
  const folder = approveDomain(domainOf(server, [], null, more, 'actions: [{ tool: write }]\n'));
  const loaded = loadDomain(folder);
  const shared = new SharedTools(loaded, () => undefined);
  const rollout = new RolloutTools(shared);
  onTestFinished(() => rollout.close());
  await rollout.open(loaded.domain.tasks[0] as Task);
  await make(rollout, { ...loaded.domain, tools: await shared.describe() });
  expect(writes).toBe(2);
});

test.each<[string, (rollout: RolloutTools, domain: Domain) => Promise<unknown>, file: RegExp, message: RegExp]>([
  [
    'an unknown source',
    (rollout) => rollout.read('nowhere'),
    /a\.task\.yaml$/,
    /"nowhere" is not a tool source\. Name one of raw$/,
  ],
  [
    'an assertion of a server',
    (rollout) => rollout.read('raw:is_open'),
    /a\.task\.yaml$/,
    /"raw" is not an environment, so it has no assertion is_open\. Check its state/,
  ],
  [
    'a write that cannot be made again',
    (rollout, domain) => rollout.restore(domain, recorded),
    /domain\.yaml$/,
    /"raw" declares state: none, and write changed it\. Declare state: replay/,
  ],
])('the fault of %s has its place and what to do', async (_, act, file, message) => {
  const loaded = loadDomain(approveDomain(domainOf(await rawMcpServer(), [], 'state == 1')));
  const shared = new SharedTools(loaded, () => undefined);
  const rollout = new RolloutTools(shared);
  onTestFinished(() => rollout.close());
  await rollout.open(loaded.domain.tasks[0] as Task);
  const acted = Promise.resolve().then(async () => act(rollout, { ...loaded.domain, tools: await shared.describe() }));
  await expect(acted).rejects.toMatchObject({
    failure: { file: expect.stringMatching(file), line: expect.any(Number), message: expect.stringMatching(message) },
  });
});

test('rollouts at once are not scored on a session that they share, and one at a time they are', async () => {
  const server = await accounts('only');
  const folder = approveDomain(domainOf(server, ['{ tool: write, arguments: { id: 70 } }'], 'state.id == 70'));
  const run = temporaryFolder('shared-session');
  const evaluated = (at: string) =>
    rehearsal('eval', folder, '--agent', 'scripted', '--trials', '6', '--concurrency', at, '--out', run);
  const atOnce = await evaluated('3');
  expect(atOnce.out).toMatch(/a session that another rollout has/);
  expect(atOnce.out).not.toContain('6 scored of 6');
  expect((await evaluated('1')).out).toContain('6 scored of 6, mean reward 1.000');
});

test('a server with one session for all clients cannot be compared with the state after the gold actions', async () => {
  const server = await accounts('only');
  const folder = domainOf(server, ['{ tool: write, arguments: { id: 70 } }'], null);
  const [played] = await rehearse(folder, ['a']);
  expect(played?.events.at(-1)).toMatchObject({
    type: 'rewarded',
    reward: null,
    reason: expect.stringMatching(/sameAs: gold needs a second session .* "raw" gives every client the same one/),
  });
});

const noted = (own: string) => textResult(`{"id": ${own}, "note": "milk"}`);
const withId = (made: number) => noted(`"note-${made}"`);
const picture = (made: number) =>
  JSON.stringify({
    content: [{ type: 'image', mimeType: 'image/png', data: `${'A'.repeat(100)}${made === 1 ? 'AAAA' : 'BBBB'}` }],
  });
type Repeated = {
  readonly differs: string;
  /** The result of a call, by the number of calls so far. */
  readonly resultOf: (made: number) => string;
  readonly more: string;
  /** The reason why the fork is refused. */
  readonly difference?: RegExp;
};
const repeatedCalls: readonly Repeated[] = [
  { differs: 'id', resultOf: withId, more: ', volatile: [id]' },
  { differs: 'id', resultOf: withId, more: ', volatile: [write]' },
  { differs: 'id', resultOf: withId, more: '', difference: /id is "\S+", then "\S+"/ },
  {
    differs: 'large id',
    resultOf: (made) => noted(String(9007199254740991n + BigInt(made))),
    more: '',
    difference: /id is "\S+", then "\S+"/,
  },
  {
    differs: 'isError',
    resultOf: (made) => JSON.stringify({ content: [{ type: 'text', text: 'same' }], isError: made > 1 }),
    more: '',
    difference: /isError is false, then true/,
  },
  {
    differs: 'picture',
    resultOf: picture,
    more: '',
    difference: /media\.0\.data is "SHA-256 5552\S+, then "SHA-256 bf0f\S+/,
  },
  { differs: 'picture', resultOf: picture, more: ', volatile: [data]' },
];

test.each(sampled(repeatedCalls, 3))(
  'a fork makes a call again that gives another $differs each time ($more)',
  async ({ resultOf, more, difference }) => {
    let made = 0;
    const server = await rawMcpServer({
      reply: ({ id, method, params }) => {
        if (method === 'tools/list') {
          const tools = ['write', 'look', 'state'].map((name) => ({ name, inputSchema: { type: 'object' } }));
          return { body: resultBody(id, JSON.stringify({ tools })) };
        }
        if (method !== 'tools/call' || params.name === 'look') return undefined;
        made += params.name === 'write' ? 1 : 0;
        return { body: resultBody(id, params.name === 'write' ? resultOf(made) : noted('1')) };
      },
    });
    const calls = ['{ tool: write }', '{ tool: look }'];
    const folder = domainOf(server, calls, 'state.note == "milk"', `, state: replay${more}`);
    const [parent] = await rehearse(folder, ['a']);
    const events = parent?.events ?? [];
    const last = events.findLastIndex(({ type }) => type === 'toolReturned');
    const forked = rehearse(folder, ['a'], { from: events.slice(0, last) });
    if (!difference) expect(await forked).toMatchObject([{ reward: 1, results: parent?.results }]);
    else
      await expect(forked).rejects.toThrow(
        new RegExp(`write of "raw" answered differently .*\\(${difference.source}\\)`),
      );
  },
);

test.each<[string, object | null, string | null]>([
  ['with its keys in another order', { properties: { at: { type: 'string' } }, type: 'object' }, null],
  [
    'with other annotations and its sets in another order',
    { type: 'object', title: '14:02', properties: { at: { type: 'string', enum: ['b', 'a'], default: 'b' } } },
    null,
  ],
  ['with other arguments', { type: 'object' }, 'its tool write has different arguments from when the run started'],
  ['no longer', null, 'it no longer lists its tool write'],
])('a rollout whose server lists a tool %s', async (_, inputSchema, problem) => {
  let lists = 0;
  const isSet = JSON.stringify(inputSchema).includes('enum');
  const server = await rawMcpServer({
    reply: ({ id, method }) => {
      if (method !== 'tools/list') return undefined;
      lists += 1;
      const at = { type: 'string', ...(isSet ? { enum: ['a', 'b'] } : {}) };
      const first = { type: 'object', properties: { at } };
      const schema = lists === 1 ? first : inputSchema;
      return {
        body: resultBody(id, JSON.stringify({ tools: schema ? [{ name: 'write', inputSchema: schema }] : [] })),
      };
    },
  });
  const loaded = loadDomain(approveDomain(domainOf(server, [], 'state == 1')));
  const shared = new SharedTools(loaded, () => undefined);
  await shared.describe();
  const rollout = new RolloutTools(shared);
  onTestFinished(() => rollout.close());
  const message = await rollout.open(loaded.domain.tasks[0] as Task).then(() => null, String);
  if (problem === null) expect(message).toBeNull();
  else expect(message).toMatch(new RegExp(`"raw": ${problem}, and .*\\. Run the command again$`));
});
