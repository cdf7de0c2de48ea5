import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { check as checkDomain } from '../../engine/shell/check.ts';
import { describeCodeTools, describeOutsideTools } from '../../engine/shell/describe.ts';
import { formatDiagnostic } from '../../engine/shell/diagnostic.ts';
import { loadDomain } from '../../engine/shell/load/loadDomain.ts';
import type { Command } from '../command.ts';
import { UsageError } from '../io.ts';

export const check: Command = {
  name: 'check',
  summary: 'find what is wrong with a domain before a rollout does',
  help: 'rehearsal check DOMAIN [--static]\n\nReads every file of a domain and reports findings as file:line:column. Exit code 1 when one is an error, 2 when\nthere is no domain to check.\n\n  --static           run nothing of the domain: no tools, no MCP servers\n  --json             machine-readable output\n',
  options: { static: { type: 'boolean' } },
  run: async (given, io) => {
    if (!given.positionals[0]) throw new UsageError('name the folder of a domain (the one with domain.yaml)');
    const folder = resolve(io.cwd, given.positionals[0]);
    if (!existsSync(join(folder, 'domain.yaml')))
      throw new UsageError(`${folder}: there is no domain here (a folder with domain.yaml)`);
    const runs = given.values['static'] !== true;
    const describe = {
      describeTools: () => describeCodeTools(loadDomain(folder)),
      describeOutside: describeOutsideTools,
    };
    const { loaded, diagnostics, ok } = await checkDomain({ folder, ...(runs ? describe : {}) });
    if (given.values['json'] === true) {
      io.out(
        `${JSON.stringify({ name: loaded.domain.name, tasks: loaded.tasks.length, tools: loaded.toolNames, diagnostics })}\n`,
      );
    } else {
      for (const found of diagnostics) io.out(`${formatDiagnostic(found, io.cwd)}\n`);
      const { domain } = loaded;
      io.out(
        `${domain.name}: ${domain.tasks.length} tasks, ${domain.personas.length} personas, ${domain.policy.rules.length} rules, ${loaded.toolNames.length} code tools; ${diagnostics.length === 0 ? 'no findings' : `${diagnostics.length} findings`}\n`,
      );
    }
    return ok ? 0 : 1;
  },
};
