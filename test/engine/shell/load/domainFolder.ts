import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { onTestFinished } from 'vitest';
import type { Tool } from '../../../../src/engine/core/domain/tool.ts';
import { completeDomain, type LoadedDomain, loadDomain } from '../../../../src/engine/shell/domain/loadDomain.ts';
import type { Diagnostic } from '../../../../src/engine/shell/files/diagnostic.ts';
import { temporaryFolder } from '../../../support/temporary.ts';

/** Files by path; null leaves a file of `desk` out. */
export type Files = Readonly<Record<string, string | Uint8Array | null>>;

/** A small domain without faults. */
export const desk: Files = {
  'domain.yaml': 'name: desk\n',
  'policy.md': '# Desk\n\n- Look the order up first. {#look-up}\n- Ask for a yes before any change. {#confirm}\n',
  'rules.yaml': '- { rule: confirm, check: confirmed, names: [order] }\n',
  'tools.ts': `import { defineTools } from 'rehearsal';
import * as z from 'zod';
const { tool } = defineTools<{ agent: object }>();
export const find_order = tool({ description: 'Find.', effect: 'read', input: z.object({ order: z.string() }), run: () => 1 });
export const cancel_order = tool({ description: 'Cancel.', effect: 'write', input: z.object({ order: z.string() }), run: () => 1 });
`,
  'personas/plain.persona.yaml': 'id: plain\ndescription: Someone.\n',
  'tasks/first.task.yaml': `id: cancel
persona: plain
user:
  goal: Cancel order W1.
  known: { order: W1 }
actions:
  - { tool: find_order, arguments: { order: W1 } }
  - { tool: cancel_order, arguments: { order: W1 } }
`,
  'database.json': '{"orders": {"W1": {"status": "pending"}, "W2": {"status": "done"}}}',
};

const tool = (name: string, effect: Tool['effect']): Tool => ({
  name,
  description: name,
  parameters: {
    type: 'object',
    properties: { order: { type: 'string' } },
    required: ['order'],
    additionalProperties: false,
  },
  effect,
  owner: 'agent',
  source: { type: 'code' },
  timeoutMs: 1000,
  idempotent: effect === 'read',
});

/** The tools of `desk`, as a worker would describe them. */
export const deskTools: readonly Tool[] = [tool('cancel_order', 'write'), tool('find_order', 'read')];

/** Writes files to a new folder that is removed after the test. */
export function folderOf(files: Files): string {
  const folder = temporaryFolder('rehearsal-load');
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  for (const [path, text] of Object.entries(files)) {
    if (text === null) continue;
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    if (path.endsWith('/')) mkdirSync(join(folder, path), { recursive: true });
    else writeFileSync(join(folder, path), text);
  }
  return folder;
}

/** The desk with some files changed, loaded; `tools` completes it. */
export function load(files: Files = {}, tools?: readonly Tool[]): LoadedDomain {
  const loaded = loadDomain(folderOf({ ...desk, ...files }));
  return tools ? completeDomain(loaded, tools) : loaded;
}

/** Formats a finding for tests: `file:line:column severity code`. */
export function shown(loaded: LoadedDomain, diagnostics: readonly Diagnostic[] = loaded.diagnostics): string[] {
  return diagnostics.map(
    ({ file, line, column, severity, code }) =>
      `${relative(loaded.folder, file)}:${line}:${column} ${severity} ${code}`,
  );
}

/** Returns the message and hint of the only finding. */
export function told(loaded: LoadedDomain): string {
  const [first] = loaded.diagnostics;
  return `${first?.message.replaceAll(`${loaded.folder}/`, '')} ${first?.hint}`;
}
