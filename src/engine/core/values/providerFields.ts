import * as z from 'zod';
import type { BrokenEnd } from './answerEnd.ts';
import type { JsonObject } from './json.ts';

const fieldsSchema = z.record(z.string(), z.json());

/** The fields that a provider adds to its answer beyond the format, and needs back in later requests. */
export const providerFieldsSchema = z.object({
  from: z
    .string()
    .describe('The model and the origin of its endpoint, as `MODEL@ORIGIN`. The fields are sent to no other one.'),
  reasoningIn: z
    .enum(['reasoning_content', 'reasoning'])
    .optional()
    .describe('The field of the message in which `reasoning` came.'),
  message: fieldsSchema.optional().describe('Other fields of the message.'),
  calls: z.array(fieldsSchema).optional().describe('Other fields of each call, such as a signature, in their order.'),
  integers: z
    .array(z.string())
    .optional()
    .describe('JSON Pointers of texts of digits in these fields that are whole numbers beyond 2^53.'),
  omitted: z.array(z.string()).optional().describe('Names of fields that were too large to be recorded.'),
});

export type ProviderFields = {
  readonly from: string;
  readonly reasoningIn?: 'reasoning_content' | 'reasoning' | undefined;
  readonly message?: JsonObject | undefined;
  readonly calls?: readonly JsonObject[] | undefined;
  readonly integers?: readonly string[] | undefined;
  readonly omitted?: readonly string[] | undefined;
};

/** The parts of a model's answer besides its words and calls. */
export type ProvidedMessage = {
  readonly reasoning?: string | undefined;
  /** Absent where the answer is whole. */
  readonly brokenEnd?: BrokenEnd | undefined;
  readonly providerFields?: ProviderFields | undefined;
};

/** Returns those of a reply's fields that its message keeps. */
export function providedBy({ reasoning, brokenEnd, providerFields }: ProvidedMessage): {
  readonly reasoning?: string;
  readonly brokenEnd?: BrokenEnd;
  readonly providerFields?: ProviderFields;
} {
  return {
    ...(reasoning === undefined ? {} : { reasoning }),
    ...(brokenEnd === undefined ? {} : { brokenEnd }),
    ...(providerFields === undefined ? {} : { providerFields }),
  };
}
