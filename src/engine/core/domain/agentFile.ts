import * as z from 'zod';
import { timeLimitSchema } from '../values/timeLimit.ts';

const common = {
  name: z.string().optional().describe('What recordings and tables call it; by default the name of its file.'),
  model: z
    .string()
    .optional()
    .describe('The model that is lent to it: openai:MODEL or openai:MODEL@BASE_URL. Without one it is lent none.'),
  timeoutMs: timeLimitSchema
    .default(120_000)
    .describe('How long it may take to its next call of a tool, or to the end of its turn.'),
};

/** `*.agent.yaml`: a custom agent, as a process or as an HTTP service. */
export const agentFileSchema = z.union([
  z.strictObject({
    ...common,
    command: z.string().describe('The program that is started for each rollout.'),
    args: z.array(z.string()).default([]).describe('Arguments of the command.'),
    cwd: z.string().default('.').describe('Where it is started, relative to this file.'),
    env: z
      .record(z.string(), z.string())
      .default({})
      .describe('Environment variables that it gets beside the lent ones; ${env:NAME} passes one on.'),
  }),
  z.strictObject({
    ...common,
    url: z.url().describe('Where each turn is posted to.'),
    headers: z.record(z.string(), z.string()).default({}).describe('${env:NAME} fills in an environment variable.'),
  }),
]);
