import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { RequestId } from '@modelcontextprotocol/sdk/types.js';
import type { HttpServer } from '../../core/domain/domain.ts';
import type { McpConnection } from './connection.ts';
import type { Declared } from './declared.ts';
import { Disconnected, failedAnswer } from './errors.ts';
import { mcpFetch } from './httpFetch.ts';
import { resumption } from './resumption.ts';

/** The address of an HTTP server, with the keys that are sent there. */
export type Address = { readonly url: URL; readonly headers: Readonly<Record<string, string>> };

/** Returns the address of a server with its placeholders filled in. */
export function addressOf(server: HttpServer, { name, at, filled: { fill, fillUrl }, faultOf }: Declared): Address {
  const place = at ? `${at.file}:${at.line}` : 'domain.yaml';
  const sentIn = (part: string) => ({ url: server.url, namedBy: `${place}: ${part} of the MCP server "${name}"` });
  const url = new URL(fillUrl(server.url, sentIn('the url')));
  if (url.username !== '' || url.password !== '')
    throw faultOf(
      'mcp/url',
      'its url has a user name or a password, which cannot be sent. Write headers: { Authorization: "Basic ${env:NAME}" } in domain.yaml, where NAME holds both in base64',
    );
  const headers = Object.entries(server.headers).map(([key, value]) => [key, fill(value, sentIn('a header'))]);
  return { url, headers: Object.fromEntries(headers) };
}

/** Makes the transport to a server over HTTP. What breaks the stream of a request ends that request. */
export function httpTransport(
  { url, headers }: Address,
  connection: McpConnection,
  maxMessageSize: number | undefined,
): Transport {
  const onSession = (id: string) => void connection.sessions.add(id);
  const onCut = (request: RequestId, error: Error = new Disconnected('the connection broke before the answer')) =>
    (transport as Transport).onmessage?.(failedAnswer(request, error));
  const fetch = mcpFetch({ onSession, onCut }, maxMessageSize);
  const options = { requestInit: { headers }, fetch, reconnectionOptions: resumption };
  const transport = new StreamableHTTPClientTransport(url, options);
  connection.sessions.end = async (id) => {
    const version = transport.protocolVersion;
    const named = { 'mcp-session-id': id, ...(version === undefined ? {} : { 'mcp-protocol-version': version }) };
    const response = await fetch(url, { method: 'DELETE', headers: { ...named, ...headers }, redirect: 'manual' });
    await response.body?.cancel();
  };
  return transport as Transport;
}

/**
 * Returns an address as it is recorded, with its placeholders. A query or a password may hold a key that was written there.
 */
export function withoutQuery(url: string): string {
  const shown = new URL(url);
  return `${shown.origin}${shown.pathname.replaceAll(/\$%7B([\w:]+)%7D/gi, '${$1}')}`;
}
