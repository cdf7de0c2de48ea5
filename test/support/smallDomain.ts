import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { temporaryFolder } from './temporary.ts';

/** A tool of a small domain: its effect, and the body of its function, without arguments. */
export type SmallTool = { readonly effect: 'read' | 'write'; readonly run: string };

/** Writes a domain with these tools and tasks (YAML of `one.task.yaml`) to a new folder. Returns its path. */
export function smallDomain(tools: Readonly<Record<string, SmallTool>>, tasks: string, more = ''): string {
  const folder = temporaryFolder('small-domain');
  const declared = Object.entries(tools).map(
    ([name, { effect, run }]) =>
      `export const ${name} = tool({ description: '${name}', effect: '${effect}', input: z.object({}), run: () => { ${run} } });\n`,
  );
  const files: Readonly<Record<string, string>> = {
    'domain.yaml': `name: hall\nturnCap: 6\n${more}`,
    'database.json': '{}\n',
    'policy.md': '- Be kind.\n',
    'tools.ts': `import { defineTools } from 'rehearsal';\nimport * as z from 'zod';\nconst { tool } = defineTools<{ agent: object }>();\n${declared.join('')}`,
    'personas/plain.persona.yaml': 'id: plain\ndescription: Plain.\n',
    'tasks/one.task.yaml': tasks,
  };
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), content);
  }
  return folder;
}
