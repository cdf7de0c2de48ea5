import * as z from 'zod';
import type { Task } from '../engine/core/domain/task.ts';

const actionSchema = z.strictObject({
  name: z.string(),
  kwargs: z.record(z.string(), z.json()),
  floats: z.array(z.string()).optional(),
});

/** A task of tau-bench, as every version that is known lays it out. */
export const tau1TaskSchema = z.strictObject({
  annotator: z.union([z.string(), z.number()]).nullish(),
  user_id: z.string(),
  instruction: z.string(),
  actions: z.array(actionSchema),
  outputs: z.array(z.string()),
});
export type Tau1Task = z.infer<typeof tau1TaskSchema>;

/** The name under which tau-bench counts what the agent says among its actions. */
export const respondAction = 'respond';

/** Returns what of a task is not kept, or never holds. */
export function notCarriedIn({ annotator, outputs }: Tau1Task): readonly string[] {
  return [
    ...((annotator ?? '') === '' ? [] : ['annotator']),
    ...(outputs.some((output) => output.includes(','))
      ? ['outputs with a comma: tau-bench never finds them, so neither does this engine']
      : []),
  ];
}

/** Why a task can't be one of ours, or null. */
export function obstacleOf({ actions }: Tau1Task): string | null {
  return actions.some(({ name }) => name === respondAction)
    ? `it has the gold action ${respondAction}, which asks tau-bench's simulated user while the reward is calculated`
    : null;
}

/**
 * The task in this engine's words.
 * @param ends tools that end the conversation: the script says its texts in their place
 */
export function taskFrom(
  { user_id: customer, instruction, actions, outputs }: Tau1Task,
  split: Task['split'],
  ends: readonly string[],
): Record<string, unknown> {
  const calls = actions.map(({ name: tool, kwargs: values, floats }) => ({
    tool,
    arguments: values,
    ...(floats ? { floats } : {}),
  }));
  const said = outputs.length > 0 ? `This is what I can tell you: ${outputs.join('; ')}` : 'That is done.';
  return {
    description: `The customer is ${customer}.`,
    split,
    persona: 'customer',
    user: { goal: instruction, script: ['Hello, I need your help.'] },
    actions: calls,
    ...(outputs.length > 0 ? { communicate: outputs, communicateBy: 'tau1' } : {}),
    script: [...calls.filter(({ tool }) => !ends.includes(tool)).map((call) => [call]), said],
    evaluate: ['database', ...(outputs.length > 0 ? ['communicate'] : [])],
    train: ['database'],
  };
}
