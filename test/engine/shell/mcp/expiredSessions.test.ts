import { expect, test } from 'vitest';
import { mcpDomain } from '../../../support/mcpDomain.ts';
import { rawMcpServer, resultBody, textResult } from '../../../support/rawMcpServer.ts';
import { rehearse, replayed } from '../../../support/rehearsed.ts';
import { sampled } from '../../../support/suite.ts';

const tools = [
  ...['write', 'look', 'state', 'save'].map((name) => ({ name })),
  { name: 'restore', inputSchema: { type: 'object', properties: { to: { type: 'object' } } } },
];

type Server = {
  /** The tool whose first call arrives in a session that the server no longer knows. */
  readonly lostAt: string;
  /** All sessions share one count. */
  readonly isShared?: boolean;
  /** `write` answers with the total number of its calls. */
  readonly isTold?: boolean;
};

/** A server that counts the calls of `write` in each session. */
async function counter({ lostAt, isShared, isTold }: Server) {
  const counts = new Map<string, number>();
  let isLost = false;
  let written = 0;
  return rawMcpServer({
    reply: ({ id, method, params, headers, text }, { sessions }) => {
      if (method === 'tools/list') return { body: resultBody(id, JSON.stringify({ tools })) };
      if (method !== 'tools/call') return undefined;
      const session = String(headers['mcp-session-id']);
      if (params.name === lostAt && !isLost) {
        isLost = true;
        sessions.delete(session);
        return { status: 404, body: 'no such session' };
      }
      const owner = isShared ? 'everybody' : session;
      const count = counts.get(owner) ?? 0;
      if (params.name === 'write') counts.set(owner, count + 1);
      if (params.name === 'restore') counts.set(owner, Number(/"count":(\d+)/.exec(text)?.[1]));
      if (params.name === 'write') written += 1;
      const said = params.name === 'write' ? `written${isTold ? ` ${written}` : ''}` : JSON.stringify({ count });
      return { body: resultBody(id, textResult(said)) };
    },
  });
}

const snapshot = 'state: snapshot, snapshot: { tool: save }, restore: { tool: restore, argument: to }';

type Row = Server & {
  readonly declared: string;
  /** The calls of the rollout, including the refused one. */
  readonly calls: string;
  /** The reason why the rollout ends without a reward. */
  readonly failure?: RegExp;
};

const rows: readonly Row[] = [
  { lostAt: 'look', declared: 'state: replay', calls: 'write look write look state' },
  { lostAt: 'state', declared: 'state: replay', calls: 'write look state write look state' },
  { lostAt: 'look', declared: snapshot, calls: 'write save look restore look state' },
  { lostAt: 'state', declared: snapshot, calls: 'write save look state restore state' },
  { lostAt: 'save', declared: snapshot, calls: 'write save', failure: /no longer knows this session/ },
  { lostAt: 'look', isShared: true, declared: 'state: none, sharedState: true', calls: 'write look look state' },
  { lostAt: 'state', isShared: true, declared: 'state: replay, sharedState: true', calls: 'write look state state' },
  { lostAt: 'look', declared: 'state: none', calls: 'write look', failure: /no longer knows this session/ },
  { lostAt: 'state', declared: 'state: none', calls: 'write look state', failure: /no longer knows this session/ },
  {
    lostAt: 'look',
    isTold: true,
    declared: 'state: replay',
    calls: 'write look write',
    failure: /In a new session, write answered differently when it was made again \(.*written 1.*written 2/,
  },
  { lostAt: 'look', isTold: true, declared: 'state: replay, volatile: [write]', calls: 'write look write look state' },
];

test.each(sampled(rows, 2))('$declared, and $lostAt comes to a session that is lost', async (row) => {
  const server = await counter(row);
  const domain = mcpDomain(
    'raw',
    `  raw: { type: http, url: "${server.url}", writes: [write, restore], reader: { tool: state }, ${row.declared} }`,
    `user: { goal: You want it done. }
script: [[{ tool: write }], [{ tool: look }], Done.]
assertions: [{ in: raw, that: 'state.count == 1' }]
evaluate: [assertions]
train: [assertions]
`,
  );
  const [played] = await rehearse(domain, ['a']);
  if (!played) throw new Error('no rollout');
  expect(server.calls.join(' ')).toBe(row.calls);
  if (row.failure) expect(JSON.stringify(played.events)).toMatch(row.failure);
  expect(played.reward).toBe(row.failure ? null : 1);
  expect(replayed(domain, played).problems).toBe(0);
  expect(server.sessions.size).toBe(0);
});
