import type { DomainFile } from './domain.ts';
import { comparisonOf, type FieldComparison } from './fieldComparison.ts';
import { externalSource, type Tool } from './tool.ts';

/** Fields with special comparison between rollouts: those that differ each time, and those not compared exactly. */
export type ComparedFields = { readonly volatile: readonly string[]; readonly compare: FieldComparison };

/** Returns the fields that the domain declares, with those that the server of a tool, or every server, declares as volatile. */
export function comparedFields(file: DomainFile, tool?: Tool): ComparedFields {
  const source = tool && externalSource(tool);
  const volatile = Object.entries(file.mcpServers).flatMap(([name, server]) =>
    tool === undefined || name === source ? (server.volatile ?? []) : [],
  );
  return { volatile, compare: comparisonOf(file) };
}
