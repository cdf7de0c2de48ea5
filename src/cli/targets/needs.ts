import * as z from 'zod';
import { Fault } from '../../engine/shell/files/fault.ts';

const needsSchema = z.object({
  /** The space that the run needs on the disk of its folder. */
  disk: z.number(),
  /** The free space on that disk. */
  free: z.number(),
  /** Weights, gradients and optimizer, and what vLLM may use; absent where another machine trains. */
  memory: z.object({ needed: z.number(), available: z.number(), vllm: z.number().optional() }).optional(),
  parameters: z.number().optional(),
  /** The format of conversations with the model, and the reason for it, in words. */
  chat: z.string().optional(),
  /** The weights that the model's hub sends first. */
  download: z.number().optional(),
});

/** The needs of a run as the trainer's check reports them, in bytes. */
export type Needs = z.infer<typeof needsSchema>;

/** The tokens of the context that the policy and the tools of a domain take before a conversation begins. */
export type PromptLength = {
  readonly domain: string;
  /** Of the task with the longest policy and tools. */
  readonly tokens: number;
  readonly room: number;
  /** The maximum of one answer; absent where the run samples none. */
  readonly answer?: number;
};

/** Reads the needs of a run from the output of the check. Libraries may print before it. */
export function needsOf(printed: string): Needs {
  const line = printed.split('\n').findLast((each) => each.startsWith('{"disk"'));
  if (line === undefined)
    throw new Fault({
      who: 'environment',
      code: 'trainer/check',
      message: "the trainer's check of the options exited without a result: reinstall Rehearsal",
    });
  return needsSchema.parse(JSON.parse(line));
}
