import * as z from 'zod/mini';
import { playedStepSchema } from '../messages/protocol.ts';

/** Choices of the reader that survive a reload of the page. */
const choicesSchema = z.object({
  run: z.optional(z.string()),
  opened: z.optional(playedStepSchema),
  smoothing: z._default(z.int(), 5),
  /** Runs that are drawn over that one. */
  overlays: z._default(z.array(z.string()), []),
  isLog: z._default(z.boolean(), false),
});
export type Choices = z.infer<typeof choicesSchema>;

/** The saved choices, or those of a first visit. */
export function readChoices(saved: unknown): Choices {
  const parsed = choicesSchema.safeParse(saved ?? {});
  return parsed.success ? parsed.data : { smoothing: 5, overlays: [], isLog: false };
}

/** Windows of the moving average, in optimizer steps. */
export const smoothings = [
  { value: '1', label: 'No smoothing' },
  { value: '5', label: 'Smooth over 5 optimizer steps' },
  { value: '20', label: 'Smooth over 20 optimizer steps' },
  { value: '100', label: 'Smooth over 100 optimizer steps' },
] as const;
