import * as z from 'zod/mini';

/** Choices of the reader that survive a reload of the page. */
const interfaceSchema = z.object({
  run: z.optional(z.string()),
  step: z.optional(z.int()),
  smoothing: z._default(z.int(), 5),
});
export type Interface = z.infer<typeof interfaceSchema>;

/** The saved choices, or those of a first visit. */
export function loadInterface(saved: unknown): Interface {
  const parsed = interfaceSchema.safeParse(saved ?? {});
  return parsed.success ? parsed.data : { smoothing: 5 };
}

/** Windows of the moving average, in optimizer steps. */
export const smoothings = [
  { value: '1', label: 'No smoothing' },
  { value: '5', label: 'Smooth over 5 steps' },
  { value: '20', label: 'Smooth over 20 steps' },
  { value: '100', label: 'Smooth over 100 steps' },
] as const;
