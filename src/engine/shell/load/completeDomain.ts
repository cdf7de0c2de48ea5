import { describeSimulated } from '../../core/simulatedTool.ts';
import type { Tool } from '../../core/tool.ts';
import { type Diagnostic, sortDiagnostics } from '../diagnostic.ts';
import { placeOfTool } from './checkSources.ts';
import { crossCheck } from './crossCheck.ts';
import type { LoadedDomain } from './loadedDomain.ts';
import { declaredTools } from './note.ts';

/**
 * The domain with its tools, and every check that needs them.
 * @param codeTools as a lane described them
 * @param outsideTools as Python, environments and servers described them; null where they were not asked, and names
 *   are then not judged
 */
export function completeDomain(
  loaded: LoadedDomain,
  codeTools: readonly Tool[],
  outsideTools: readonly Tool[] | null = [],
): LoadedDomain {
  const order = new Map(loaded.toolNames.map((name, index) => [name, index]));
  const inOrder = codeTools.toSorted((a, b) => (order.get(a.name) ?? order.size) - (order.get(b.name) ?? order.size));
  const { mcpServers, environments } = loaded.domain.file;
  const simulated = loaded.parts.simulated.map(({ value }) => describeSimulated(value));
  const all = [...inOrder, ...simulated, ...(outsideTools ?? [])];
  const tools = new Map(all.toReversed().map((tool) => [tool.name, tool] as const));
  const hasOutside = [mcpServers, environments].some((sources) => Object.keys(sources).length > 0);
  const complete = outsideTools !== null || (!hasOutside && loaded.pythonFile === null);
  const checks = crossCheck(
    loaded.parts,
    loaded.world,
    {
      names: new Set(all.map(({ name }) => name)),
      complete,
      tools,
      declared: declaredTools(loaded.parts.scan.declared, tools),
    },
    loaded.folder,
  );
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
  return repeated.map((tool) => ({
    ...placeOfTool(parts, tool),
    code: 'tool/duplicate-name',
    severity: 'error',
    message: `Two tools are named ${tool.name}.`,
    hint: 'Rename one of them.',
  }));
}
