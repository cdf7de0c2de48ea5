import type { Tool } from '../../core/tool.ts';
import { type Diagnostic, sortDiagnostics, startOf } from '../diagnostic.ts';
import { crossCheck } from './crossCheck.ts';
import type { LoadedDomain } from './loadedDomain.ts';

/**
 * The domain with its tools, and every check that needs them.
 * @param codeTools as a lane described them
 * @param mcpTools as the servers described them; null where they were not asked, and names are then not judged
 */
export function completeDomain(
  loaded: LoadedDomain,
  codeTools: readonly Tool[],
  mcpTools: readonly Tool[] | null = [],
): LoadedDomain {
  const order = new Map(loaded.toolNames.map((name, index) => [name, index]));
  const inOrder = codeTools.toSorted((a, b) => (order.get(a.name) ?? order.size) - (order.get(b.name) ?? order.size));
  const all = [...inOrder, ...(mcpTools ?? [])];
  const tools = new Map(all.toReversed().map((tool) => [tool.name, tool] as const));
  const complete = mcpTools !== null || Object.keys(loaded.domain.file.mcpServers).length === 0;
  const checks = crossCheck(loaded.parts, loaded.world, {
    names: new Set(all.map(({ name }) => name)),
    complete,
    tools,
  });
  return {
    ...loaded,
    domain: {
      ...loaded.domain,
      tools: [...new Set(all.map(({ name }) => name))].flatMap((name) => tools.get(name) ?? []),
    },
    diagnostics: sortDiagnostics([...loaded.parts.diagnostics, ...checks, ...duplicateNames(loaded, all)]),
  };
}

function duplicateNames({ parts }: LoadedDomain, tools: readonly Tool[]): readonly Diagnostic[] {
  const repeated = tools.filter(({ name }, index) => tools.findIndex((each) => each.name === name) < index);
  return repeated.map(({ name, source }) => ({
    ...(source.type === 'mcp' ? parts.file.places.key(['mcpServers', source.server]) : startOf(parts.file.file)),
    code: 'tool/duplicate-name',
    severity: 'error',
    message: `Two tools are named ${name}.`,
    hint: 'Rename one of them.',
  }));
}
