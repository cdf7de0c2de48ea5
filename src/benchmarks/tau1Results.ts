import * as z from 'zod';
import { unimportable } from './importReport.ts';
import { problemsOf } from './userCopy.ts';

const callSchema = z.object({
  id: z.string().nullish(),
  function: z.object({ name: z.string(), arguments: z.string() }),
});

const messageSchema = z.discriminatedUnion('role', [
  z.object({ role: z.literal('system') }),
  z.object({ role: z.literal('user'), content: z.string().nullish() }),
  z.object({ role: z.literal('assistant'), content: z.string().nullish(), tool_calls: z.array(callSchema).nullish() }),
  z.object({ role: z.literal('tool'), name: z.string().nullish(), content: z.string().nullish() }),
]);
export type Tau1Message = z.infer<typeof messageSchema>;

const actionsSchema = z.array(z.object({ name: z.string(), kwargs: z.record(z.string(), z.json()) }));

const runSchema = z.object({
  task_id: z.int(),
  reward: z.number(),
  trial: z.int(),
  traj: z.array(messageSchema),
  info: z.object({
    task: z
      .object({ instruction: z.string(), actions: actionsSchema, outputs: z.array(z.string()).default([]) })
      .optional(),
    /** The error that ended the run before it had a reward. */
    error: z.string().optional(),
  }),
  /** Its own name, if the author of the file gave it one. */
  id: z.string().optional(),
});
export type Tau1Run = z.infer<typeof runSchema>;

/** Parses the list of trajectories that tau-bench's run.py writes. Throws a `Fault` that says what is wrong with it. */
export function tau1RunsIn(read: unknown, file: string): readonly Tau1Run[] {
  const found = z.array(runSchema).safeParse(read);
  if (found.success) return found.data;
  throw unimportable(
    'layout',
    `${file} is not a list of trajectories of tau-bench: expected task_id, reward, trial, info.task and traj in each; ${problemsOf(found.error, 'the whole')}`,
  );
}
