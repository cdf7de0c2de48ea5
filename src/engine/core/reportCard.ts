import * as z from 'zod';

const verdictName = z.enum(['held', 'violated', 'unknown']);
export const layerNames = ['outcome', 'policy', 'communication', 'safety', 'recovery'] as const;
export type LayerName = (typeof layerNames)[number];

const itemSchema = z.object({
  /** A verifier, a rule of the policy, or what was looked at. */
  name: z.string(),
  verdict: verdictName,
  /** A sentence for people. */
  reason: z.string(),
  /** Numbers of the events that decide it. */
  evidence: z.array(z.int()),
  /** Line of the rule in the policy's file. */
  line: z.int().optional(),
});
export type CardItem = z.infer<typeof itemSchema>;

/**
 * The report card: the evaluation beside the reward, in five layers. A layer is violated when one of its items is,
 * held when at least one is held, and unknown when nothing could be told.
 */
export const reportCardSchema = z.array(
  z.object({ layer: z.enum(layerNames), verdict: verdictName, items: z.array(itemSchema) }),
);
export type ReportCard = z.infer<typeof reportCardSchema>;
