import * as z from 'zod';
import type { JsonObject } from '../values/json.ts';
import { timeLimitSchema } from '../values/timeLimit.ts';
import { sourceOf, type ToolOrigin } from './sources/sources.ts';

export type Side = 'agent' | 'user';

/** The settings for calls of a tool; part of its declaration. */
export const callLimitsSchema = z.strictObject({
  timeoutMs: timeLimitSchema.optional().describe('Milliseconds after which a call times out.'),
  rateLimit: z
    .strictObject({
      calls: z.int().positive().describe('Number of calls.'),
      perMs: timeLimitSchema.default(1000).describe('Period in milliseconds.'),
    })
    .optional()
    .describe('Maximum number of calls in a period of time, over all concurrent rollouts.'),
  idempotent: z.boolean().optional().describe('Whether a call that started and has no result can be made again.'),
  idempotencyKey: z
    .string()
    .optional()
    .describe('The argument that carries a key for each call. The engine fills it, and models do not see it.'),
  cache: z.boolean().optional().describe('Identical reads in one rollout are made only once, until the next write.'),
  retries: z.int().min(0).max(10).optional().describe('How often a failed call is repeated; idempotent tools only.'),
});
export type CallLimits = z.infer<typeof callLimitsSchema>;

/** Whether providers of models take a tool under this name. */
export const isToolName = (name: string): boolean => /^[A-Za-z0-9_-]{1,64}$/.test(name);

/** Returns whether a tool of a server is left out of its domain. The author of a domain cannot change a server. */
export const isLeftOut = ({ leftOut }: Pick<Tool, 'leftOut'>): boolean => leftOut !== undefined;

export const nameOnServer = (tool: Pick<Tool, 'name' | 'source'>): string => sourceOf(tool).nameThere ?? tool.name;

/**
 * Describes a tool, a typed function on the database, to the engine. The shell runs it. `parameters` is the JSON Schema
 * of its arguments, kept verbatim.
 */
export type Tool = {
  readonly name: string;
  readonly description: string;
  readonly parameters: JsonObject;
  /** The JSON Schema that an MCP server declares for the tool's results; nothing is refused by it. */
  readonly outputSchema?: JsonObject;
  readonly effect: 'read' | 'write';
  readonly owner: Side;
  readonly source: ToolOrigin;
  /** Asked of the user or of oneself, not of the world: think, calculate, transfer to a human. */
  readonly generic?: boolean;
  /** A call to it hands the conversation to a person and ends the rollout. */
  readonly handsOff?: boolean;
  /** Milliseconds after which a call times out. */
  readonly timeoutMs: number;
  /** Whether a call that started and has no result can be made again. */
  readonly idempotent: boolean;
  readonly rateLimit?: { readonly calls: number; readonly perMs: number };
  readonly idempotencyKey?: string;
  readonly cache?: boolean;
  readonly retries?: number;
  /** Why no seat is offered the tool, such as a description by its server that cannot be read, and what to do. */
  readonly leftOut?: { readonly reason: string; readonly hint: string; readonly what?: string };
};

/** A tool as a seat is shown it. */
export type Offered = Readonly<Pick<Tool, 'name' | 'description' | 'parameters'>>;

export function offeredAs({ name, description, parameters }: Tool): Offered {
  return { name, description, parameters };
}

/** Whether a call of the tool changes something of the world; to hand over changes nothing in it. */
export function isWrite({ effect, handsOff }: Pick<Tool, 'effect' | 'handsOff'>): boolean {
  return effect === 'write' && !handsOff;
}

/** Returns whether the worker itself runs a tool, which is code of the domain. */
export const runsInWorker = (tool: Pick<Tool, 'source'>): boolean => sourceOf(tool).runs === 'inWorker';

/** Returns whether a tool is a function of its arguments and the engine's databases: neither a model nor a server answers. */
export const worksOnDatabase = (tool: Pick<Tool, 'source'>): boolean =>
  ['inWorker', 'inPython'].includes(sourceOf(tool).runs);

/** Name of the source that holds the state a tool works on, or null when that is the engine's database. */
export const externalSource = (tool: Pick<Tool, 'source'>): string | null => sourceOf(tool).state;

/** Returns the name of the MCP server that lists a tool; null for other tools. */
export function serverOf(tool: Pick<Tool, 'source'>): string | null {
  const [key, name] = sourceOf(tool).declaredAt ?? [];
  return key === 'mcpServers' ? (name ?? null) : null;
}

/** A tool that an environment has not: it is asked all the same, since its answer is part of what it is. */
export function strangeTool(environment: string, name: string, owner: Side): Tool {
  const source = { type: 'python' as const, environment };
  const base = { name, description: '', parameters: { type: 'object' }, effect: 'write' as const };
  return { ...base, owner, source, timeoutMs: 30_000, idempotent: false };
}

/** The limits that a declaration names, without those that it leaves out. */
export function declaredLimits(limits: CallLimits): Pick<Tool, 'rateLimit' | 'idempotencyKey' | 'cache' | 'retries'> {
  const { rateLimit, idempotencyKey, cache, retries } = limits;
  return {
    ...(rateLimit ? { rateLimit } : {}),
    ...(idempotencyKey === undefined ? {} : { idempotencyKey }),
    ...(cache ? { cache } : {}),
    ...(retries ? { retries } : {}),
  };
}

/** Returns the names of the arguments that every call of a tool has. */
export const requiredIn = (parameters: Tool['parameters']): readonly string[] =>
  (parameters['required'] ?? []) as readonly string[];
