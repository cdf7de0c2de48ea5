import * as z from 'zod';
import { issueText } from '../engine/core/text/issueText.ts';

/** Version of the protocol between trainer and engine; see docs/training-protocol.md. */
export const trainingProtocol = 1;

/** A model that plays the user, or answers for the agent. */
export const endpointSchema = z.object({
  base_url: z.url(),
  api_key: z.string().default(''),
  /** Name of the variable in the engine's environment that holds the key; so none is written down. */
  api_key_env: z.string().optional(),
  model: z.string(),
});
export type Endpoint = z.infer<typeof endpointSchema>;

/** An endpoint as a person writes it: no key is in a file. */
export const userSchema = endpointSchema.omit({ api_key: true }).strict();

/** With `program` a custom agent takes the seat, and the endpoint is the model that it is lent. */
const agentSchema = endpointSchema.extend({ program: z.string().optional() });

/** The schema of each method's parameters. */
export const paramsOf = {
  hello: z.object({ protocol: z.int() }),
  tasks: z.object({ domain: z.string(), split: z.enum(['train', 'test']).nullish() }),
  rollout: z.object({
    domain: z.string(),
    task: z.string(),
    seed: z.string(),
    trial: z.int().min(0),
    agent: z.union([z.literal('gold'), agentSchema]),
    user: z.union([z.literal('agenda'), endpointSchema]),
    basis: z.enum(['train', 'evaluate']),
    recording: z.string().nullish(),
    turn_cap: z.int().positive().nullish(),
    timeout_s: z.number().positive().nullish(),
  }),
  cancel: z.object({ request: z.int() }),
} as const;

export type MethodName = keyof typeof paramsOf;
export type Params<Method extends MethodName> = z.infer<(typeof paramsOf)[Method]>;
export type RolloutParams = Params<'rollout'>;

const requestSchema = z.object({ id: z.int().positive(), method: z.string(), params: z.unknown() });

/** A line as a request, or a sentence that says why it is not one. */
export function readRequest(line: string): z.infer<typeof requestSchema> | string {
  try {
    const parsed = requestSchema.safeParse(JSON.parse(line));
    return parsed.success ? parsed.data : `not a request: ${issueText(parsed.error, 'request')}`;
  } catch {
    return 'the line is not JSON';
  }
}
