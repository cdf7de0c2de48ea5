import * as z from 'zod';
import type { Json } from '../values/json.ts';

const when = {
  tool: z.string().describe('The tool that fails.'),
  calls: z.array(z.int().positive()).min(1).optional().describe('Which calls of the tool, from 1; all by default.'),
  chance: z
    .number()
    .min(0)
    .max(1)
    .default(1)
    .describe('The probability that such a call has the fault, drawn by seed.'),
  times: z.int().positive().optional().describe('The largest number of calls of a rollout that have the fault.'),
};

/** A fault that a task seeds into the calls of a tool. */
export const seededFaultSchema = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('latency').describe('The answer comes late.'),
    ...when,
    ms: z.int().positive().describe('Delay of the answer. If it exceeds the timeout of the tool, the call fails.'),
  }),
  z.strictObject({
    type: z.literal('outage').describe('The tool is out of order.'),
    ...when,
    message: z.string().optional().describe('What the call returns instead of a result.'),
  }),
  z.strictObject({
    type: z.literal('permissionDenied').describe('The tool refuses the call.'),
    ...when,
    message: z.string().optional().describe('What the call returns instead of a result.'),
  }),
  z
    .strictObject({
      type: z.literal('changedSchema').describe('Arguments or keys of the result have other names.'),
      ...when,
      arguments: z.record(z.string(), z.string()).default({}).describe('New names of arguments, by their old ones.'),
      result: z
        .record(z.string(), z.string().nullable())
        .default({})
        .describe('New names of keys of the result, by their old ones; null removes one.'),
    })
    .refine((fault) => Object.keys({ ...fault.arguments, ...fault.result }).length > 0, {
      error: 'a changed schema has arguments: or result: with a name that changes',
    }),
  z.strictObject({
    type: z.literal('undocumentedResult').describe('The result is undocumented.'),
    ...when,
    result: z.json().describe('What the call returns in place of its result.'),
  }),
]);
export type SeededFault = z.infer<typeof seededFaultSchema>;

/** The value with some keys of its objects renamed or taken out. */
export function renamed(value: Json, names: Readonly<Record<string, string | null>>): Json {
  if (Array.isArray(value)) return value.map((each) => renamed(each, names));
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).flatMap(([key, each]) => {
    const name = Object.hasOwn(names, key) ? names[key] : key;
    return name === null || name === undefined ? [] : [[name, renamed(each, names)] as const];
  });
  return Object.fromEntries(entries);
}
