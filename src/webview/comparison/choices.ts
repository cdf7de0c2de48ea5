import * as z from 'zod/mini';
import type { TaskFilter } from '../models/comparison.ts';

/**
 * The reader's choices, which survive a reload of the page. `sources` are the compared paths: a new window needs them.
 */
const choicesSchema = z.object({
  sources: z._default(z.array(z.string()), []),
  /** Place (from 1) of the run that the first one is compared with. */
  other: z._default(z.int(), 1),
  filter: z._default(z.enum(['all', 'flips', 'differ', 'same', 'left']), 'all'),
  task: z.optional(z.string()),
  trial: z.optional(z.int()),
});
export type Choices = Omit<z.infer<typeof choicesSchema>, 'filter'> & { readonly filter: TaskFilter };

/** The saved choices, or those of a first visit. */
export function readChoices(saved: unknown): Choices {
  const parsed = choicesSchema.safeParse(saved ?? {});
  return parsed.success ? parsed.data : { sources: [], other: 1, filter: 'all' };
}
