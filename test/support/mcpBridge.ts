import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { onTestFinished } from 'vitest';

/**
 * Serves a program that speaks MCP on its standard input and output at an address until the test ends. Each session
 * is a process of the program. It uses the transports of the official SDK and does not change messages.
 */
export async function bridgeMcp(command: string, args: readonly string[]): Promise<string> {
  const sessions = new Map<string, StreamableHTTPServerTransport>();

  async function opened(): Promise<StreamableHTTPServerTransport> {
    const program = new StdioClientTransport({ command, args: [...args], env: environment(), stderr: 'inherit' });
    const client = new StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => void sessions.set(id, client),
    });
    client.onmessage = (message) => void program.send(message);
    program.onmessage = (message) => void client.send(message);
    client.onclose = () => void program.close();
    await program.start();
    onTestFinished(() => program.close());
    return client;
  }

  const http = createServer(async (request, response) => {
    const session = sessions.get(String(request.headers['mcp-session-id'])) ?? (await opened());
    await session.handleRequest(request, response);
  });
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    http.closeAllConnections();
    http.close();
  });
  return `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`;
}

/** Returns the environment of this process. By default, the SDK passes on only a few variables. */
function environment(): Record<string, string> {
  return Object.fromEntries(
    Object.entries(process.env).filter((each): each is [string, string] => each[1] !== undefined),
  );
}
