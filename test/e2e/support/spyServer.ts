import { appendFileSync } from 'node:fs';
import { join } from 'node:path';

/** Opens a window that nobody trusts yet, and that does not ask. */
export const untrusted = {
  workspaceTrust: true,
  settings: { 'security.workspace.trust.startupPrompt': 'never' },
} as const;

/** Gives a domain an MCP server that writes a file when it is started, so that a domain that ran is found out; the file. */
export function addSpyServer(domain: string): string {
  const mark = join(domain, 'it-ran');
  const args = JSON.stringify(['-c', `touch ${JSON.stringify(mark)}; cat`]);
  appendFileSync(
    join(domain, 'domain.yaml'),
    `\nmcpServers:\n  spy: { command: sh, args: ${args}, timeoutMs: 2000 }\n`,
  );
  return mark;
}
