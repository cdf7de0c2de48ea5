import { expect, test } from 'vitest';
import { connectTo, type Raw, rawMcpServer, resultBody } from '../../../support/rawMcpServer.ts';

/** The versions that the client requested, and those that it sent in headers. */
type Seen = { readonly requested: unknown[]; readonly headers: unknown[] };

/** A server that answers `initialize` as given. */
async function versionedServer(start: (id: number, version: unknown) => string, more: Raw['reply'] = () => undefined) {
  const seen: Seen = { requested: [], headers: [] };
  const { url } = await rawMcpServer({
    reply: (request, server) => {
      const { id, method, text, headers } = request;
      if (method === 'tools/list') seen.headers.push(headers['mcp-protocol-version']);
      if (method !== 'initialize') return more(request, server);
      const { protocolVersion } = JSON.parse(text).params;
      seen.requested.push(protocolVersion);
      return { body: start(id, protocolVersion) };
    },
  });
  return { url, seen };
}

const started = (version: unknown) => (id: number) =>
  resultBody(id, JSON.stringify({ protocolVersion: version, capabilities: { tools: {} } }));

test.each([
  ['2099-01-01', '2099-01-01'],
  ['1.0', '1.0'],
  [2, '2'],
  [undefined, '2025-11-25'],
  [null, '2025-11-25'],
  ['a\nb', '2025-11-25'],
])('a server of the protocol version %j is spoken to', async (version, header) => {
  const { url, seen } = await versionedServer(started(version));
  expect(await (await connectTo(url)).call('look', {})).toEqual({ content: 'look', isError: false });
  expect(seen.headers).toEqual([header]);
});

const refusal = (id: number, supported: readonly string[]) =>
  JSON.stringify({
    jsonrpc: '2.0',
    id,
    error: { code: -32602, message: 'Unsupported protocol version', data: { supported } },
  });

test.each([
  [['2024-11-05'], '2024-11-05'],
  [['2099-01-01', '2025-03-26', '2025-06-18'], '2025-06-18'],
  [['2099-01-01'], '2099-01-01'],
])('a server that refuses the version and offers %j is asked for one of those', async (supported, version) => {
  const { url, seen } = await versionedServer((id, asked) =>
    supported.includes(String(asked)) ? started(asked)(id) : refusal(id, supported),
  );
  expect(await (await connectTo(url)).call('look', {})).toEqual({ content: 'look', isError: false });
  expect(seen.requested).toEqual(['2025-11-25', version]);
});

const named = /it speaks version 2099-01-01 of MCP, and Rehearsal speaks 2025-11-25, .*2024-11-05.*Use a release/s;

test('a server of an unknown version that is not understood is refused with the versions', async () => {
  const unlisted = await versionedServer(started('2099-01-01'), ({ id, method }) =>
    method === 'tools/list'
      ? { body: `{"jsonrpc":"2.0","id":${id},"error":{"code":-32601,"message":"Method not found"}}` }
      : undefined,
  );
  const refusing = await versionedServer((id) => refusal(id, ['2099-01-01']));
  for (const { url } of [unlisted, refusing])
    await expect(connectTo(url)).rejects.toMatchObject({
      failure: { code: 'mcp/version', message: expect.stringMatching(named) },
    });
});
