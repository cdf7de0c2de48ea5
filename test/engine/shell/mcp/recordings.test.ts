import { readFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { RolloutEvent } from '../../../../src/engine/core/events/event.ts';
import { readRecording, sidecarPath } from '../../../../src/engine/shell/records/recording.ts';
import { approveDomain } from '../../../support/approval.ts';
import { mcpDomain } from '../../../support/mcpDomain.ts';
import {
  type RawReply,
  type RawRequest,
  type RawServer,
  rawMcpServer,
  resultBody,
  textResult,
} from '../../../support/rawMcpServer.ts';
import { rehearse, replayed } from '../../../support/rehearsed.ts';
import { inFullSuite, sampled } from '../../../support/suite.ts';
import { temporaryFolder } from '../../../support/temporary.ts';
import { rehearsal } from '../../../support/terminal.ts';

const large = '9007199254740993';
const link = { type: 'resource_link', uri: 'a:c', name: 'c' };
const png = { mimeType: 'image/png', data: 'iVBORw0KGgo=' };

type Behaviour = {
  readonly name: string;
  /** Returns the body of the answer to a call, or what the server does instead. */
  readonly reply: (id: number, request: RawRequest) => RawReply;
  /** The result that the agent reads. */
  readonly seen: unknown;
  /** Fields of the tool in the list. */
  readonly listed?: object;
  /** The arguments of the call in the script. */
  readonly args?: string;
  /** Additional fields of the event of the result. */
  readonly event?: object;
  /** The note on the call in the sidecar. */
  readonly note?: string;
};

const streamed =
  (...events: readonly string[]) =>
  (response: ServerResponse) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.end(events.map((event) => `data: ${event}\n\n`).join(''));
  };
const notification = (method: string, params: object = {}) => JSON.stringify({ jsonrpc: '2.0', method, params });
const error = (id: number | null, rest: string) => `{"jsonrpc":"2.0","id":${id},"error":{${rest}}}`;
const content = (id: number, ...parts: readonly object[]) => ({
  body: resultBody(id, JSON.stringify({ content: parts })),
});
const result = (id: number, text: string) => ({ body: resultBody(id, text) });
const done = (id: number) => resultBody(id, textResult('done'));
const counted = { type: 'object', properties: { count: { type: 'number' } }, required: ['count'] };

const behaviours: readonly Behaviour[] = [
  { name: 'a text', reply: (id) => ({ body: done(id) }), seen: 'done' },
  {
    name: 'a JSON-RPC error',
    reply: (id) => ({ body: error(id, '"code":-32603,"message":"boom"') }),
    seen: 'Error: MCP error -32603: boom',
  },
  {
    name: 'a JSON-RPC error with data and the status 500',
    reply: (id) => ({ status: 500, body: error(id, `"code":7,"message":"no","data":{"id":${large}}`) }),
    seen: `Error: MCP error 7: no\n{"id":${large}}`,
  },
  {
    name: 'a JSON-RPC error without an id',
    reply: () => ({ body: error(null, '"code":-32000,"message":"try later"') }),
    seen: 'Error: MCP error -32000: try later',
  },
  {
    name: 'a refusal with status 403',
    reply: () => ({ status: 403, body: error(null, '"code":-32003,"message":"You may not"') }),
    seen: 'Error: MCP error -32003: You may not',
  },
  {
    name: 'a failed tool with a text',
    reply: (id) => result(id, '{"content":[{"type":"text","text":"no such order"}],"isError":true}'),
    seen: 'no such order',
  },
  {
    name: 'a result that does not match its outputSchema',
    listed: { outputSchema: counted },
    reply: (id) => result(id, '{"content":[{"type":"text","text":"kept"}],"structuredContent":{"count":"x"}}'),
    seen: 'kept',
    note: '/count must be number',
  },
  {
    name: 'structuredContent alone',
    listed: { outputSchema: counted },
    reply: (id) => result(id, '{"content":[],"structuredContent":{"count":1}}'),
    seen: '{"count":1}',
  },
  { name: 'a picture', reply: (id) => content(id, { type: 'image', ...png }), seen: '[image/png, 1 kB]' },
  {
    name: 'a sound, a file and a link',
    reply: (id) =>
      content(
        id,
        { type: 'audio', mimeType: 'audio/wav', data: 'UklGRg==' },
        { type: 'resource', resource: { uri: 'a:b', mimeType: 'application/pdf', blob: 'JVBERg==' } },
        { type: 'resource_link', uri: 'a:c', name: 'c' },
      ),
    seen: expect.stringMatching(/^\[audio\/wav, 1 kB\]\n\[application\/pdf, 1 kB\]\n.*a:c/),
  },
  {
    name: 'a text like a link, and that link',
    reply: (id) => content(id, { type: 'text', text: JSON.stringify(link) }, link),
    seen: `${JSON.stringify(link)}\n${JSON.stringify(link)}`,
    event: { resourceLines: [1] },
  },
  {
    name: 'several texts, one annotated, and structured content',
    reply: (id) =>
      result(
        id,
        `{"content":[{"type":"text","text":"a\\nb"},{"type":"text","text":"c","annotations":{"priority":1}}],"structuredContent":{"id":${large}}}`,
      ),
    seen: 'a\nb\nc',
    event: { textParts: [{ line: 0 }, { line: 2, annotations: { priority: 1 } }], structured: `{"id":${large}}` },
  },
  {
    name: 'a list with status 202',
    reply: (id) => ({ status: 202, body: `[${notification('notifications/message')},${done(id)}]` }),
    seen: 'done',
  },
  {
    name: 'a request of the server whose id is a large number',
    reply: (id) => streamed(`{"jsonrpc":"2.0","id":${large},"method":"ping"}`, done(id)),
    seen: 'done',
  },
  {
    name: 'an argument that only a condition makes a number',
    listed: {
      inputSchema: {
        type: 'object',
        if: { required: ['id'] },
        ...JSON.parse('{"then":{"properties":{"id":{"type":"integer"}}}}'),
      },
    },
    args: `{ id: "${large}" }`,
    reply: (id, { text }) => result(id, textResult(/"arguments":(\{[^}]*\})/.exec(text)?.[1] ?? text)),
    seen: `{"id":${large}}`,
  },
  {
    name: 'a large integer that its output schema does not take',
    listed: { outputSchema: { type: 'object', properties: { id: { maximum: 2 ** 53 } } } },
    reply: (id) => result(id, `{"structuredContent":{"id":${large}}}`),
    seen: `{"id":${large}}`,
    note: '/id must be <= 9007199254740992',
  },
  {
    name: 'a large integer',
    reply: (id) => result(id, `{"structuredContent":{"id":${large}}}`),
    seen: `{"id":${large}}`,
  },
  {
    name: 'a large integer as an argument',
    listed: { inputSchema: { type: 'object', properties: { id: { type: 'integer' } } } },
    args: `{ id: "${large}" }`,
    reply: (id, { text }) => result(id, textResult(/"arguments":(\{.*?\})/.exec(text)?.[1] ?? '')),
    seen: `{"id":${large}}`,
  },
  {
    name: 'a list of tools that changes',
    reply: (id) => streamed(notification('notifications/tools/list_changed'), done(id)),
    seen: 'done',
    note: '"changedTools":true',
  },
  {
    name: 'progress',
    reply: (id, { params }) => {
      const progressToken = params._meta?.progressToken;
      return streamed(
        ...[1, 2].map((progress) => notification('notifications/progress', { progressToken, progress, total: null })),
        done(id),
      );
    },
    seen: 'done',
  },
  {
    name: 'a request for sampling',
    reply: (id) => streamed('{"jsonrpc":"2.0","id":"q","method":"sampling/createMessage","params":{}}', done(id)),
    seen: 'done',
  },
  {
    name: 'null in place of each absent field',
    reply: (id) =>
      result(
        id,
        '{"content":[{"type":"text","text":"done","annotations":null}],"structuredContent":null,"isError":null,"_meta":null}',
      ),
    seen: 'done',
  },
  { name: 'a result that is null', reply: (id) => result(id, 'null'), seen: '' },
  { name: 'data in place of a result', reply: (id) => result(id, '{"temperature":20}'), seen: '{"temperature":20}' },
  {
    name: 'a task in place of a result',
    reply: (id) => result(id, '{"task":{"taskId":"t1","status":"working"}}'),
    seen: expect.stringContaining('started a task instead of returning a result'),
  },
  {
    name: 'half a character, and the end of a text',
    reply: (id) => result(id, '{"content":[{"type":"text","text":"a\\ud800b\\u0000c\\u2028d"}]}'),
    seen: 'a\ud800b\u0000c\u2028d',
  },
  {
    name: 'a result that is too long',
    reply: (id) => result(id, textResult('x'.repeat(2000))),
    seen: expect.stringContaining('Error: the result is longer than 1000 characters'),
  },
  {
    name: 'a result with thousands of levels',
    reply: (id) => result(id, `{"structuredContent":${'['.repeat(5000)}${']'.repeat(5000)}}`),
    seen: expect.stringContaining('more than 1000 levels deep'),
  },
  {
    name: 'several messages in one event',
    reply: (id) => streamed(`[${notification('notifications/message')},${done(id)}]`),
    seen: 'done',
  },
  {
    name: 'an answer on a stream that is opened again',
    reply: (id) => (response) =>
      void response.writeHead(200, { 'content-type': 'text/event-stream' }).end(`retry: 10\nid: ${id}\ndata:\n\n`),
    seen: 'resumed',
  },
];

const toolOf = (at: number) => `tool.${at}`;
const nameOf = (at: number) => `call_${at}`;
const expiring = 'expiring';

/** A server with a count for each session. Each tool adds 1 to it, and answers as one of the behaviours. */
async function counters() {
  const counts = new Map<string, number>();
  let expired = 0;
  const tools = [
    ...behaviours.map(({ listed }, at) => ({ name: toolOf(at), inputSchema: { type: 'object' }, ...listed })),
    { name: expiring },
    { name: 'state' },
    { name: 'restore', inputSchema: { type: 'object', properties: { to: { type: 'object' } } } },
  ];
  return rawMcpServer({
    get: (response) => {
      const id = response.req.headers['last-event-id'];
      if (id === undefined) response.writeHead(405).end();
      else streamed(resultBody(Number(id), textResult('resumed')))(response);
    },
    reply: (request, { sessions }) => {
      const { id, method, params, headers, text } = request;
      if (method === 'tools/list') return result(id, JSON.stringify({ tools }));
      if (method !== 'tools/call') return undefined;
      const session = String(headers['mcp-session-id']);
      if (params.name === expiring) {
        expired += 1;
        // Each first call comes to a session that is not known, and the one after it to another session.
        if (expired % 2 === 1) {
          sessions.delete(session);
          return { status: 404, body: 'no such session' };
        }
      }
      const count = counts.get(session) ?? 0;
      if (params.name === 'state') return result(id, textResult(JSON.stringify({ count })));
      if (params.name === 'restore') counts.set(session, Number(/"count":(\d+)/.exec(text)?.[1]));
      else counts.set(session, count + 1);
      const behaviour = behaviours.find((_, at) => toolOf(at) === params.name);
      return behaviour ? behaviour.reply(id, request) : { body: done(id) };
    },
  });
}

type Case = Behaviour & { readonly task: string; readonly tool: string };

const cases = sampled<Case>(
  [
    ...behaviours.map((behaviour, at) => ({ ...behaviour, task: `task-${at}`, tool: nameOf(at) })),
    { name: 'a session that expires', task: 'task-expiring', tool: expiring, reply: () => undefined, seen: 'done' },
  ],
  2,
);

const taskOf = (tool: string, args: string) => `user: { goal: You want it done. }
script:
  - [{ tool: ${tool}, arguments: ${args} }]
  - [{ tool: state }]
  - Done.
assertions: [{ in: raw, that: 'state.count == 1' }]
evaluate: [assertions]
train: [assertions]
`;

const states = {
  replay: 'state: replay',
  snapshot: 'state: snapshot, snapshot: { tool: state }, restore: { tool: restore, argument: to }',
};

describe.each(sampled(['replay', 'snapshot'] as const, 2))('with state: %s', (state) => {
  inFullSuite('recordings of every behaviour are verified, replayed and forked', async () => {
    const { url, sessions } = await counters();
    const writes = JSON.stringify([...cases.map(({ tool }) => tool), 'restore']);
    const rename = JSON.stringify(Object.fromEntries(behaviours.map((_, at) => [toolOf(at), nameOf(at)])));
    const files = Object.fromEntries(
      cases.map(({ task, tool, args = '{}' }) => [
        `tasks/${task}.task.yaml`,
        `id: ${task}\npersona: a\n${taskOf(tool, args)}`,
      ]),
    );
    const domain = approveDomain(
      mcpDomain(
        'raw',
        `  raw: { type: http, url: "${url}", writes: ${writes}, rename: ${rename}, reader: { tool: state }, maxResultLength: 1000, resetTimeoutOnProgress: true, ${states[state]} }`,
        taskOf('state', '{}').replace('count == 1', 'count == 0'),
        files,
      ),
    );
    const run = temporaryFolder('behaviours');
    const { out } = await rehearsal('eval', domain, '--agent', 'scripted', '--out', run);
    expect(out).toContain(`${cases.length + 1} scored of ${cases.length + 1}, mean reward 1.000`);
    expect(await rehearsal('verify', run)).toMatchObject({ code: 0 });
    const forked = new Map<string, readonly RolloutEvent[]>();
    for (const { name, task, seen, event, note } of cases) {
      const recording = join(run, `${task}.0.traj.jsonl`);
      const replay = await rehearsal('replay', recording, '--domain', domain, '--quiet');
      expect(replay, name).toMatchObject({ code: 0 });
      if (note !== undefined) expect(readFileSync(sidecarPath(recording), 'utf8'), name).toContain(note);
      const events = readRecording(recording).lines.map(({ event }) => event);
      const at = events.findIndex(({ type }) => type === 'toolReturned');
      expect(events[at], name).toMatchObject({ content: seen, ...event });
      const next = events.findIndex(({ type }, step) => step > at && type === 'agentReplied');
      forked.set(task, events.slice(0, next));
    }
    const from = (task: string) => forked.get(task) ?? [];
    const forks = await rehearse(
      domain,
      cases.map(({ task }) => task),
      { from },
    );
    for (const [at, { name, seen }] of cases.entries()) {
      const fork = forks[at];
      expect(fork, name).toMatchObject({ reward: 1, results: [seen, '{"count":1}'] });
      expect(await rehearsal('verify', fork?.recording ?? ''), name).toMatchObject({ code: 0 });
    }
    expect(sessions.size).toBe(0);
  });
});

const losses: readonly (readonly [name: string, reply: (server: RawServer) => RawReply, timeoutMs: number])[] = [
  [
    'an expired session after a write',
    ({ sessions }) => {
      sessions.clear();
      return { status: 404, body: 'no such session' };
    },
    60_000,
  ],
  ['a connection that ends', () => (response) => void response.destroy(), 60_000],
  ['a call without an answer', () => () => undefined, 1000],
];

test.each(sampled(losses, 2))('%s ends a rollout, and a fork before it is scored', async (_, reply, timeoutMs) => {
  let isBroken = true;
  const { url } = await rawMcpServer({
    reply: ({ method, params }, server) =>
      isBroken && method === 'tools/call' && params.name === 'login' ? reply(server) : undefined,
  });
  const domain = mcpDomain(
    'raw',
    `  raw: { type: http, url: "${url}", writes: [write], reader: { tool: look }, state: replay, tools: { login: { timeoutMs: ${timeoutMs} } } }`,
    `user: { goal: You want it done. }
script: [[{ tool: write }], [{ tool: login }], Done.]
assertions: [{ in: raw, that: 'state == "look"' }]
evaluate: [assertions]
train: [assertions]
`,
  );
  const [played] = await rehearse(domain, ['a']);
  if (!played) throw new Error('no rollout');
  expect(played).toMatchObject({ reward: null, results: ['write'] });
  expect(replayed(domain, played).problems).toBe(0);
  expect(await rehearsal('verify', played.recording)).toMatchObject({ code: 0 });
  isBroken = false;
  const next = played.events.findLastIndex(({ type }) => type === 'agentReplied');
  const [fork] = await rehearse(domain, ['a'], { from: played.events.slice(0, next) });
  expect(fork).toMatchObject({ reward: 1, results: ['write', 'login'] });
});
