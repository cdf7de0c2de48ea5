import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';

const fixture = fileURLToPath(new URL('../engine/shell/fixtures/httpMcpServer.mjs', import.meta.url));

/** Starts an MCP server made with the SDK in a separate process on loopback. It ends with the test. */
export async function httpMcpServer(
  mode: 'good' | 'json' | 'calm' = 'good',
  token = '',
): Promise<{ readonly url: string; readonly child: ChildProcess }> {
  const child = spawn(process.execPath, [fixture, mode, token], { stdio: ['ignore', 'pipe', 'inherit'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  const [line] = await Array.fromAsync(firstLine(child));
  return { ...(JSON.parse(line ?? '{}') as { url: string }), child };
}

async function* firstLine(child: ChildProcess): AsyncGenerator<string> {
  if (!child.stdout) return;
  for await (const line of createInterface({ input: child.stdout })) {
    yield line;
    return;
  }
}
