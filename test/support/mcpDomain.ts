import { type Files, folderOf } from '../engine/shell/load/domainFolder.ts';

/**
 * Writes a domain of MCP servers with the persona and the task `a`, and returns its folder.
 * @param servers the lines below `mcpServers:`
 * @param task the task without `id` and `persona`
 * @param files further files, or others in place of these
 */
export const mcpDomain = (name: string, servers: string, task: string, files: Files = {}): string =>
  folderOf({
    'domain.yaml': `name: ${name}\nmcpServers:\n${servers.trimEnd()}\n`,
    'policy.md': `# ${name}\n`,
    'database.json': '{}',
    'personas/a.persona.yaml': 'id: a\ndescription: Someone.\n',
    'tasks/a.task.yaml': `id: a\npersona: a\n${task}`,
    ...files,
  });
