import * as z from 'zod';
import { timeLimitSchema } from '../values/timeLimit.ts';

const common = {
  name: z.string().optional().describe('Its name in recordings and tables; by default the name of its file.'),
  model: z
    .string()
    .optional()
    .describe('The model that is lent to it: openai:MODEL or openai:MODEL@BASE_URL. Optional.'),
  timeoutMs: timeLimitSchema
    .default(120_000)
    .describe('Maximum time until its next tool call or the end of its turn, in milliseconds.'),
};

/** `*.agent.yaml`: a custom agent, as a process or as an HTTP service. */
export const agentFileSchema = z.union([
  z.strictObject({
    ...common,
    command: z.string().describe('The program that starts for each rollout.'),
    args: z.array(z.string()).default([]).describe('Arguments of the command.'),
    cwd: z.string().default('.').describe('Where it is started, relative to this file.'),
    env: z
      .record(z.string(), z.string())
      .default({})
      .describe(
        'Environment variables that it gets in addition to those of the lent endpoints; ${env:NAME} passes one on.',
      ),
  }),
  z.strictObject({
    ...common,
    url: z.url().describe('The address to which each turn is posted.'),
    headers: z
      .record(z.string(), z.string())
      .default({})
      .describe('Headers of each request; ${env:NAME} is the value of an environment variable.'),
  }),
]);
