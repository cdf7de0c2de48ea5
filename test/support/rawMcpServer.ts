import { onTestFinished } from 'vitest';
import type { HttpServer } from '../../src/engine/core/domain/domain.ts';
import { startMcpServer } from '../../src/engine/shell/tools/mcp.ts';
import type { ToolSource } from '../../src/engine/shell/tools/toolSource.ts';
import { listenRawMcp, type Raw, type RawServer } from './rawMcpListener.ts';

export { type Raw, type RawReply, type RawRequest, type RawServer, resultBody, textResult } from './rawMcpListener.ts';

/** Starts a raw MCP server that ends with the test. */
export async function rawMcpServer(raw: Raw = {}): Promise<RawServer> {
  const server = await listenRawMcp(raw);
  onTestFinished(server.close);
  return server;
}

/** Returns the declaration of an HTTP server, as domain.yaml would have it. */
export const declaredHttp = (url: string, more: Partial<HttpServer> = {}): HttpServer => ({
  type: 'http',
  url,
  headers: {},
  state: 'none',
  writes: ['write'],
  idempotent: [],
  timeoutMs: 120_000,
  tools: {},
  ...more,
});

/** Connects to a server as one rollout does, until the test has ended. */
export async function connectTo(
  url: string,
  more: Partial<HttpServer> = {},
  environment: NodeJS.ProcessEnv = {},
): Promise<ToolSource> {
  const source = await startMcpServer('raw', declaredHttp(url, more), process.cwd(), { environment });
  onTestFinished(() => source.close());
  return source;
}
