import * as z from 'zod/mini';
import { type Filter, noFilter } from '../models/filter.ts';

/** The user's choices in the view. They outlive the page, which is created again each time its tab is shown. */
export type Choices = { readonly filter: Filter; readonly current: number | null; readonly open: readonly number[] };

const choicesSchema = z.object({
  filter: z.object({
    speaker: z.string(),
    tool: z.string(),
    rule: z.string(),
    who: z.string(),
    reason: z.string(),
    text: z.string(),
  }),
  current: z.nullable(z.int()),
  open: z.array(z.int()),
});

/** Returns the saved choices, or the defaults. */
export function readChoices(kept: unknown): Choices {
  const { success, data } = choicesSchema.safeParse(kept);
  return success ? data : { filter: noFilter, current: null, open: [] };
}
