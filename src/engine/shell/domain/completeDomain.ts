import { describeSimulated } from '../../core/domain/simulatedTool.ts';
import { isLeftOut, nameOnServer, serverOf, type Tool } from '../../core/domain/tool.ts';
import { checkServerTools } from '../checks/checkServerTools.ts';
import { placeOfTool } from '../checks/checkSources.ts';
import { atOnce, checkSoundness, crossCheck, type Steps } from '../checks/crossCheck.ts';
import { type Diagnostic, sortDiagnostics } from '../files/diagnostic.ts';
import { withDraftsNamed } from '../load/drafts.ts';
import { withoutFixesOfImports } from '../load/imported.ts';
import { hasExternalTools, type LoadedDomain } from '../load/loadedDomain.ts';
import { declaredTools } from '../source/note.ts';

/**
 * The domain with its tools, and every check that needs them.
 * @param codeTools as a worker described them
 * @param externalTools as Python, environments and servers described them; null where they were not asked, and names
 *   are then not judged
 * @param options `soundness` as in `LoadOptions`
 */
export function completeDomain(
  loaded: LoadedDomain,
  codeTools: readonly Tool[],
  externalTools: readonly Tool[] | null = [],
  options: { readonly soundness?: boolean } = {},
): LoadedDomain {
  return atOnce(completeDomainInSteps(loaded, codeTools, externalTools, options));
}

/** Does the same in steps. */
export function* completeDomainInSteps(
  loaded: LoadedDomain,
  codeTools: readonly Tool[],
  externalTools: readonly Tool[] | null,
  { soundness = true }: { readonly soundness?: boolean } = {},
): Steps<LoadedDomain> {
  const usable = (externalTools ?? []).filter((tool) => !isLeftOut(tool));
  const all = describedTools(loaded, codeTools, usable);
  const tools = toolsByName(all);
  const complete = externalTools !== null || !hasExternalTools(loaded);
  const { parts, world, folder } = loaded;
  const known = {
    names: new Set([...tools.keys(), ...parts.unreadTools]),
    complete,
    tools,
    declared: declaredTools(parts.scan.declared, tools),
  };
  const found = [...parts.diagnostics, ...(yield* crossCheck(parts, world, known, folder))];
  const unsound = soundness ? yield* checkSoundness(parts, world, known, found) : [];
  const everything = [
    ...found,
    ...unsound,
    ...duplicateNames(loaded, all, tools),
    ...checkServerTools(loaded.parts, externalTools ?? []),
  ];
  const diagnostics = sortDiagnostics(withDraftsNamed(everything, parts));
  return {
    ...loaded,
    domain: { ...loaded.domain, tools: [...tools.values()] },
    diagnostics: withoutFixesOfImports(diagnostics, parts),
    leftOut: (externalTools ?? []).filter(isLeftOut),
  };
}

/** Tools of the code in the order of the source, then simulated ones, then those from outside. */
function describedTools(
  loaded: LoadedDomain,
  codeTools: readonly Tool[],
  externalTools: readonly Tool[],
): readonly Tool[] {
  const order = new Map(loaded.toolNames.map((name, index) => [name, index]));
  const inOrder = codeTools.toSorted((a, b) => (order.get(a.name) ?? order.size) - (order.get(b.name) ?? order.size));
  return [...inOrder, ...loaded.parts.simulated.map(({ value }) => describeSimulated(value)), ...externalTools];
}

/** Of two tools with one name the first. */
function toolsByName(all: readonly Tool[]): ReadonlyMap<string, Tool> {
  const tools = new Map<string, Tool>();
  for (const tool of all) if (!tools.has(tool.name)) tools.set(tool.name, tool);
  return tools;
}

function duplicateNames(
  { parts }: LoadedDomain,
  all: readonly Tool[],
  kept: ReadonlyMap<string, Tool>,
): readonly Diagnostic[] {
  const repeated = all.filter((tool) => kept.get(tool.name) !== tool);
  return repeated.map((tool) => {
    const server = serverOf(tool);
    return {
      ...placeOfTool(parts, tool),
      code: 'tool/duplicate-name',
      severity: 'error',
      message: `Two tools are named ${tool.name}.`,
      hint:
        server !== null
          ? `Write rename: { ${JSON.stringify(nameOnServer(tool))}: NAME } or prefix: under mcpServers.${server} in domain.yaml.`
          : 'Rename one of them.',
    };
  });
}
