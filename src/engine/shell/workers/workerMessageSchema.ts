import * as z from 'zod';
import { callLimitsSchema } from '../../core/domain/tool.ts';
import { failureSchema, writesSchema } from '../../core/events/event.ts';
import { jsonObjectSchema } from '../../core/values/jsonObjectSchema.ts';
import type { ExitCause, FromWorker } from './workerMessage.ts';

/**
 * Schemas of the messages of a worker other than events. The domain's code can write to the same channel, so every
 * message is checked once, here.
 */

const rollout = z.int().positive();
const record = z.record(z.string(), z.json());
const side = z.enum(['agent', 'user']);
const changes = z.array(z.strictObject({ side, path: z.array(z.string()), value: z.json().optional() }));

const questionSchema = z.discriminatedUnion('type', [
  z.strictObject({ type: z.enum(['agent', 'user', 'judge', 'tool', 'simulated']) }),
  z.strictObject({
    type: z.literal('python'),
    isFresh: z.boolean(),
    changes,
    step: z.int().min(0),
    filled: jsonObjectSchema.optional(),
  }),
  z.strictObject({
    type: z.literal('hosted'),
    environment: z.string(),
    method: z.enum(['call', 'set_up', 'sync', 'ask']),
    params: jsonObjectSchema,
    instance: z.literal('gold').optional(),
    isFresh: z.boolean(),
    changes,
    timeoutMs: z.number().positive().optional(),
  }),
  z.strictObject({ type: z.literal('source'), source: z.string() }),
]);

const toolSchema = z.strictObject({
  name: z.string(),
  description: z.string(),
  parameters: record,
  effect: z.enum(['read', 'write']),
  owner: side,
  source: z.strictObject({ type: z.literal('code') }),
  generic: z.boolean().optional(),
  handsOff: z.boolean().optional(),
  ...callLimitsSchema.shape,
  timeoutMs: z.number().positive(),
  idempotent: z.boolean(),
});

const readTree: z.ZodType = z.lazy(() =>
  z.union([z.literal(true), z.tuple([readTree]), z.record(z.string(), readTree)]),
);

const customResult = z.strictObject({
  name: z.string(),
  held: z.boolean(),
  detail: z.string(),
  share: z.number().min(0).max(1).optional(),
});

/** A debugger of this machine connects to it, so it leads to no other one. */
const inspectorUrl = z.string().regex(/^ws:\/\/127\.0\.0\.1:\d{1,5}\/[\w-]+$/);

const messageSchema = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('described'), tools: z.array(toolSchema), sync: z.boolean() }),
  z.strictObject({ type: z.literal('notDescribed'), failure: failureSchema }),
  z.strictObject({ type: z.literal('prepared') }),
  z.strictObject({ type: z.literal('inspected'), url: inspectorUrl.nullable(), problem: z.string().optional() }),
  z.strictObject({ type: z.literal('attached') }),
  z.strictObject({
    type: z.literal('reads'),
    rollout,
    n: z.int(),
    reads: z.strictObject({ agent: readTree.optional(), user: readTree.optional() }),
  }),
  z.strictObject({ type: z.literal('question'), question: z.int(), rollout, about: questionSchema }),
  z.strictObject({
    type: z.literal('closed'),
    rollout,
    evidence: z.strictObject({
      gold: z
        .strictObject({
          id: z.int(),
          actions: z.array(z.strictObject({ turn: z.int(), content: z.string(), writes: writesSchema })).optional(),
          failed: z.string().optional(),
        })
        .nullable(),
      custom: z.array(customResult),
    }),
  }),
  z.strictObject({ type: z.literal('crashed'), rollout, message: z.string() }),
  z.strictObject({ type: z.literal('log'), rollout: rollout.nullable(), text: z.string() }),
]);

const exitCauseSchema = z.strictObject({
  message: z.string(),
  file: z.string().optional(),
  line: z.int().optional(),
});

/** Parses a message of a worker that is not an event. Throws if it has another shape. */
export function workerMessageIn(value: unknown): Exclude<FromWorker, { readonly type: 'events' }> {
  return messageSchema.parse(value) as Exclude<FromWorker, { readonly type: 'events' }>;
}

/** Parses why a worker ends. Throws if it has another shape. */
export function exitCauseIn(value: unknown): ExitCause {
  return exitCauseSchema.parse(value) as ExitCause;
}
