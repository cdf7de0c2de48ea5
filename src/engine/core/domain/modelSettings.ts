import * as z from 'zod';
import type { JsonObject } from '../values/json.ts';
import { modalities } from '../values/media.ts';

/** The ways to handle a truncated answer: use and report it, ask once more, or fail. */
export const truncations = ['say', 'retry', 'fail'] as const;

/** Fields of a request that the engine alone decides. */
const ownFields = ['model', 'messages', 'tools', 'stream', 'stream_options', 'n'];

const headerName = /^[\w!#$%&'*+.^`|~-]+$/;
const isHeader = ([name, value]: readonly [string, string]) => headerName.test(name) && !/[\0\r\n]/.test(value);

/** Settings for requests to the model in one seat. */
export const modelSettingsSchema = z.strictObject({
  temperature: z.number().min(0).max(2).optional().describe('Sampling temperature; by default that of the endpoint.'),
  maxTokens: z
    .int()
    .min(1)
    .optional()
    .describe("Maximum number of tokens in one answer; by default the endpoint's limit."),
  reasoningEffort: z
    .string()
    .regex(/^[a-z]{1,20}$/)
    .optional()
    .describe("How much the model reasons before it answers, in its provider's terms, such as low, medium or high."),
  onTruncation: z
    .enum(truncations)
    .optional()
    .describe(
      'What happens to an answer that is cut off at the token limit. `say`, the default: it is used unchanged, and the recording, the reason for the reward and the report mention it. `retry`: the model is asked once more. `fail`: the seat fails.',
    ),
  modalities: z
    .array(z.enum(modalities))
    .optional()
    .describe(
      'Media in tool results that the model receives: image, audio, pdf, file (any other type). By default none: a line of text replaces each.',
    ),
  extraBody: z
    .record(z.string(), z.json())
    .refine((body) => !ownFields.some((name) => name in body), `expected no field of these: ${ownFields.join(', ')}`)
    .optional()
    .describe('Additional fields of each request, such as `top_k`.'),
  headers: z
    .record(z.string(), z.string())
    .refine((headers) => Object.entries(headers).every(isHeader), 'expected names and values of HTTP headers')
    .optional()
    .describe(
      'Headers of each request. `${env:NAME}` is the value of an environment variable and is never recorded. They are sent only if the same file names the address of the model.',
    ),
});
export type ModelSettings = z.infer<typeof modelSettingsSchema>;

/** Returns settings as the description of a run has them. A header's value may be a secret, so only its name is kept. */
export function describeSettings(settings: ModelSettings): JsonObject {
  const names = Object.keys(modelSettingsSchema.shape) as readonly (keyof ModelSettings)[];
  const given = names.flatMap((name) => (settings[name] === undefined ? [] : [[name, settings[name]] as const]));
  const { headers } = settings;
  return { ...(Object.fromEntries(given) as JsonObject), ...(headers ? { headers: Object.keys(headers).sort() } : {}) };
}

/** The settings of each seat, of the judge, and of the model that answers for simulated tools. */
export const seatSettingsSchema = z.strictObject({
  agent: modelSettingsSchema.optional().describe("The model in the agent's seat, or lent to a custom agent."),
  user: modelSettingsSchema.optional().describe("The model in the user's seat."),
  judge: modelSettingsSchema.optional().describe('The model that judges.'),
  tools: modelSettingsSchema.optional().describe('The model that answers for simulated tools.'),
});
export type SeatSettings = z.infer<typeof seatSettingsSchema>;
