import * as z from 'zod';
import { type Json, type JsonObject, type Path, showPath } from '../values/json.ts';
import { type Database, getAt, keysAt, type Patch } from '../world/database.ts';
import type { Simulation } from './sources/sourceKind.ts';
import { sourceOf } from './sources/sources.ts';
import { callLimitsSchema, declaredLimits, type Tool } from './tool.ts';

/** A model takes its time. */
const timeoutMs = 60_000;

/** Rows that a `*` shows at most. */
const shownRows = 100;

const paths = z.array(z.string().regex(/^[^.\s]+(?:\.[^.\s]+)*$/, 'a path is keys with dots between them'));

/** `tools/*.tool.yaml`: a tool for which a model answers. */
export const simulatedToolSchema = z.strictObject({
  name: z
    .string()
    .regex(/^[A-Za-z0-9_-]{1,64}$/, 'a tool is at most 64 letters, digits, dashes and underscores')
    .describe('Name of the tool, by which models call it.'),
  description: z.string().describe('What the tool does, for the model that calls it.'),
  effect: z.enum(['read', 'write']).default('read').describe('`write` if a call may change the database.'),
  owner: z.enum(['agent', 'user']).default('agent').describe('The seat that may call it.'),
  parameters: z
    .record(z.string(), z.json())
    .default({ type: 'object', properties: {}, additionalProperties: false })
    .describe('JSON Schema of the arguments.'),
  result: z.record(z.string(), z.json()).default({}).describe('JSON Schema of the result, which an answer must match.'),
  behaviour: z.string().describe('Instructions for the model that simulates the tool.'),
  reads: paths
    .default([])
    .describe(
      'The parts of the database that the simulator sees, such as orders.{order_id} or customers.*; {name} is an argument.',
    ),
  writes: paths.default([]).describe('The parts that it may change, in the same syntax.'),
  ...callLimitsSchema.omit({ idempotencyKey: true }).shape,
});
export type SimulatedTool = z.infer<typeof simulatedToolSchema>;

/** Returns what the engine knows of a simulated tool. */
export function describeSimulated(declared: SimulatedTool): Tool {
  const { name, description, parameters, effect, owner, behaviour, result, reads, writes } = declared;
  return {
    name,
    description,
    parameters: parameters as JsonObject,
    effect,
    owner,
    source: { type: 'simulated', behaviour, result: result as Json, reads, writes },
    timeoutMs: declared.timeoutMs ?? timeoutMs,
    idempotent: declared.idempotent ?? effect === 'read',
    ...declaredLimits(declared),
  };
}

/** Returns the declaration by which a model answers for a tool. Throws for a tool without one. */
export function simulationOf(tool: Tool): Simulation {
  const { simulation } = sourceOf(tool);
  if (!simulation) throw new Error(`${tool.name} is not simulated`);
  return simulation;
}

/** The fields of a tool's result with their schemas; null where they are not known, as for tools of code. */
export function resultFields(tool: Tool): Readonly<Record<string, Json>> | null {
  const { simulation } = sourceOf(tool);
  if (!simulation) return null;
  const { properties } = (simulation.result ?? {}) as { readonly properties?: Readonly<Record<string, Json>> };
  return properties ?? null;
}

/** Returns where the part of a database that a simulator sees is. */
export function pathsVisible({ reads }: Pick<Simulation, 'reads'>, args: JsonObject, db: Database): readonly Path[] {
  return reads.flatMap((pattern) => expanded(db, filled(pattern, args)));
}

/** Returns what a simulator sees of a database, by path. */
export function visibleTo({ reads }: Simulation, args: JsonObject, db: Database): JsonObject {
  return Object.fromEntries(pathsVisible({ reads }, args, db).map((path) => [path.join('.'), getAt(db, path) ?? null]));
}

/** Why a write of a simulator is refused, or null. It may change what a declared path names, and all below that. */
export function writeProblem(tool: Tool, { writes }: Simulation, args: JsonObject, { path }: Patch): string | null {
  if (tool.effect === 'read') return `${tool.name} is declared as a read, so it may write nothing`;
  const allowed = writes.map((pattern) => filled(pattern, args));
  const isAllowed = allowed.some(
    (pattern) =>
      pattern.length <= path.length && pattern.every((part, depth) => part === '*' || part === String(path[depth])),
  );
  if (isAllowed) return null;
  return `${tool.name} may not write ${showPath(path)}; it may write ${writes.join(', ') || 'nothing'}`;
}

function filled(pattern: string, args: JsonObject): readonly string[] {
  return pattern.split('.').map((part) =>
    part.replace(/\{([^}]+)\}/g, (whole, name: string) => {
      const value = args[name];
      return typeof value === 'string' || typeof value === 'number' ? String(value) : whole;
    }),
  );
}

function expanded(db: Database, pattern: readonly string[]): readonly Path[] {
  return pattern.reduce<readonly Path[]>(
    (found, part) =>
      found.flatMap((path): readonly Path[] => {
        if (part === '*') return keysAt(db, path, { limit: shownRows }).keys.map((key) => [...path, key]);
        return getAt(db, [...path, part]) === undefined ? [] : [[...path, part]];
      }),
    [[]],
  );
}
