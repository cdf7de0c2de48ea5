import { code } from './code.ts';
import { environment } from './environment.ts';
import { mcp } from './mcp.ts';
import { python } from './python.ts';
import { simulated } from './simulated.ts';
import type { SourceFacts, SourceKind } from './sourceKind.ts';

/** The registration of the kinds of tool sources, each under its type. */
const sourceKinds = { code, python, mcp, environment, simulated };

type OriginOf<Kind> = Kind extends SourceKind<infer Origin> ? Origin : never;

/** The origin of a tool. */
export type ToolOrigin = OriginOf<(typeof sourceKinds)[keyof typeof sourceKinds]>;

/** Returns the facts about the source of a tool. */
export function sourceOf({ source }: { readonly source: ToolOrigin }): SourceFacts {
  return (sourceKinds[source.type] as SourceKind<ToolOrigin>)(source);
}
