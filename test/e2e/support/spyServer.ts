import { appendFileSync } from 'node:fs';
import { join } from 'node:path';

/** Opens a window that is not trusted, without asking for trust. */
export const untrusted = {
  workspaceTrust: true,
  settings: { 'security.workspace.trust.startupPrompt': 'never' },
} as const;

/**
 * Adds an MCP server to a domain that writes a file when it starts, as a sign that the domain ran. Returns the file.
 */
export function addSpyServer(domain: string): string {
  const mark = join(domain, 'it-ran');
  const args = JSON.stringify(['-c', `touch ${JSON.stringify(mark)}; cat`]);
  appendFileSync(
    join(domain, 'domain.yaml'),
    `\nmcpServers:\n  spy: { command: sh, args: ${args}, timeoutMs: 2000 }\n`,
  );
  return mark;
}
