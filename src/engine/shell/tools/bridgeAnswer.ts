import * as z from 'zod';
import { isObject, type Json, type JsonObject } from '../../core/values/json.ts';
import { timeLimitSchema } from '../../core/values/timeLimit.ts';
import type { RowChange, SidedChange } from '../workers/rows.ts';

/** Values that were parsed from JSON, whatever they are. */
export const parsedSchema = z.custom<Json>(() => true);
const objectSchema = z.custom<JsonObject>((value) => isObject(value as Json), 'expected an object');

/** Code of the domain runs in the process that answers and can write to its output, so every answer is checked. */
export const bridgeAnswerSchema = z.object({
  id: z.int(),
  /** The first word of a process, before anything is asked. */
  python: z.literal(true).optional(),
  result: parsedSchema.optional(),
  error: z
    .object({ code: z.string(), message: z.string(), file: z.string().nullish(), line: z.int().nullish() })
    .optional(),
});
export type BridgeAnswer = z.infer<typeof bridgeAnswerSchema>;

const bridgeToolSchema = z.object({
  name: z.string(),
  description: z.string(),
  parameters: objectSchema,
  effect: z.enum(['read', 'write']),
  owner: z.enum(['agent', 'user']),
  generic: z.boolean(),
  handsOff: z.boolean(),
  timeoutMs: timeLimitSchema.nullable(),
  idempotent: z.boolean(),
  cache: z.boolean(),
  retries: z.int().min(0),
  rateLimit: z.tuple([z.int().positive(), timeLimitSchema]).nullable(),
  file: z.string().optional(),
  line: z.int().optional(),
});

/** A tool as its process describes it. */
export type BridgeTool = z.infer<typeof bridgeToolSchema>;

const prompts = { agent: z.string().exactOptional(), user: z.string().exactOptional() };

/** The answer of a process that is opened. */
export const openedSchema = z.object({
  tools: z.array(bridgeToolSchema),
  sync: z.boolean().default(false),
  goldSyncs: z.boolean().default(true),
  goldApart: z.boolean().default(false),
  prompts: z
    .object({
      ...prompts,
      kinds: z.record(z.string(), z.object(prompts)).exactOptional(),
      greeting: z.string().exactOptional(),
    })
    .default({}),
});

const changeSchema = z.custom<RowChange>(isChange, 'expected a changed row');
const sidedSchema = z.custom<SidedChange>(
  (value) => isChange(value) && ['agent', 'user'].includes((value as SidedChange).side),
  'expected a changed row of a side',
);
const staleSchema = z.object({ stale: z.literal(true) });
const result = { content: z.string(), isError: z.boolean() };

/** The answer of `tools.py` to a call. */
export const pythonCallSchema = z.union([staleSchema, z.object({ ...result, rows: z.array(changeSchema) })]);

/** The answer to a call of an environment that keeps its own state. */
export const environmentCallSchema = z.union([
  staleSchema,
  z.object({ ...result, snapshot: parsedSchema.exactOptional() }),
]);

/** The answer of an environment on the domain's database. */
export const hostedSchema = z.union([
  staleSchema,
  z.object({
    content: result.content.exactOptional(),
    isError: result.isError.exactOptional(),
    rows: z.array(sidedSchema),
    synced: z.array(sidedSchema).exactOptional(),
    said: parsedSchema.exactOptional(),
  }),
]);

function isChange(value: unknown): boolean {
  const path = isObject(value as Json) ? (value as JsonObject)['path'] : undefined;
  return Array.isArray(path) && path.every((part) => typeof part === 'string');
}
