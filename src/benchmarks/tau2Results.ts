import * as z from 'zod';
import { jsonObjectSchema } from '../engine/core/values/jsonObjectSchema.ts';
import { unimportable } from './importReport.ts';
import { type Tau2Task, tau2TaskSchema } from './tau2Task.ts';
import { problemsOf } from './userCopy.ts';

const callSchema = z.object({
  id: z.string(),
  name: z.string(),
  arguments: jsonObjectSchema,
  floats: z.array(z.string()).optional(),
  requestor: z.enum(['assistant', 'user']).default('assistant'),
});

const spoken = { content: z.string().nullish(), tool_calls: z.array(callSchema).nullish() };

const resultSchema = z.object({
  role: z.literal('tool'),
  id: z.string(),
  content: z.string().nullish(),
  error: z.boolean().nullish(),
});

const messageSchema = z.discriminatedUnion('role', [
  z.object({ role: z.literal('system') }),
  z.object({ role: z.literal('assistant'), ...spoken }),
  z.object({ role: z.literal('user'), ...spoken }),
  resultSchema,
]);
export type Tau2Message = z.infer<typeof messageSchema>;

const simulationSchema = z.object({
  id: z.string().nullish(),
  task_id: z.string(),
  trial: z.int().nullish(),
  termination_reason: z.string(),
  messages: z.array(messageSchema),
  reward_info: z
    .object({
      reward: z.number(),
      nl_assertions: z
        .array(z.object({ nl_assertion: z.string(), met: z.boolean(), justification: z.string().nullish() }))
        .nullish(),
    })
    .nullish(),
  /** The error that the evaluator raised, if the author of the file kept it. */
  raised: z.string().optional(),
});
export type Simulation = z.infer<typeof simulationSchema>;

const resultsSchema = z.object({
  info: z.object({
    environment_info: z.object({ domain_name: z.string() }),
    user_info: z.object({ implementation: z.string().nullish() }).nullish(),
  }),
  tasks: z.array(z.json()).nullish(),
  simulations: z.array(simulationSchema).default([]),
});

/** Finished simulations of tau2, of one of its domains. */
export type Tau2Results = {
  readonly domain: string;
  readonly simulations: readonly Simulation[];
  /** Whether the agent worked without a user. */
  readonly isSolo: boolean;
  /** The tasks in the file, by id; empty if none can be read. */
  readonly tasks: ReadonlyMap<string, Tau2Task>;
};

/** Parses a results file of tau2. Throws a `Fault` that says what is wrong with it. */
export function tau2ResultsIn(read: unknown, file: string): Tau2Results {
  const { info, simulations, tasks } = laidOut(read, file, resultsSchema);
  const readable = (tasks ?? []).flatMap((each) => tau2TaskSchema.safeParse(each).data ?? []);
  return {
    domain: info.environment_info.domain_name,
    simulations,
    isSolo: info.user_info?.implementation === 'dummy_user',
    tasks: new Map(readable.map((task) => [task.id, task])),
  };
}

/** Parses a simulation in its own file, next to `results.json`. Throws a `Fault` that says what is wrong with it. */
export function tau2SimulationIn(read: unknown, file: string): Simulation {
  return laidOut(read, file, simulationSchema);
}

function laidOut<T>(read: unknown, file: string, schema: z.ZodType<T>): T {
  const found = schema.safeParse(read);
  if (found.success) return found.data;
  throw unimportable(
    'layout',
    `${file} is not a results file of tau2: expected info.environment_info.domain_name and simulations with task_id, termination_reason and messages; ${problemsOf(found.error, 'the whole')}`,
  );
}
