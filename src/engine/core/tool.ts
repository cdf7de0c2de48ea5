import type { JsonObject } from './json.ts';

export type Side = 'agent' | 'user';

/**
 * What the engine knows of a tool: a typed function on the database. Running it is the shell's work.
 * `parameters` is the JSON Schema of its arguments, kept verbatim.
 */
export type Tool = {
  readonly name: string;
  readonly description: string;
  readonly parameters: JsonObject;
  readonly effect: 'read' | 'write';
  readonly owner: Side;
  /** Where the tool comes from: the domain's own code, or a named MCP server. */
  readonly source: { readonly type: 'code' } | { readonly type: 'mcp'; readonly server: string };
  /** Asked of the user or of oneself, not of the world: think, calculate, transfer to a human. */
  readonly generic?: boolean;
  /** A call to it hands the conversation to a person and ends the rollout. */
  readonly handsOff?: boolean;
  /** Milliseconds until a call counts as hung. */
  readonly timeoutMs: number;
  /** A call that was begun and has no result may be made again. */
  readonly idempotent: boolean;
};
