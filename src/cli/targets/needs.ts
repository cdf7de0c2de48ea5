import * as z from 'zod';
import { Fault } from '../../engine/shell/files/fault.ts';

const needsSchema = z.object({
  /** The space that the run needs on the disk of its folder. */
  disk: z.number(),
  /** The free space on that disk. */
  free: z.number(),
  /** Weights, gradients and optimizer; absent where another machine trains. */
  memory: z.object({ needed: z.number(), available: z.number() }).optional(),
  parameters: z.number().optional(),
  /** The weights that the model's hub sends first. */
  download: z.number().optional(),
});

/** The needs of a run as the trainer's check reports them, in bytes. */
export type Needs = z.infer<typeof needsSchema>;

/** Reads it from the output of the check. Libraries may print before it. */
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
