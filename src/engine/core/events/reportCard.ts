import * as z from 'zod';

const verdictName = z.enum(['held', 'violated', 'unknown']);
export const layerNames = ['outcome', 'policy', 'communication', 'safety', 'recovery'] as const;
export type LayerName = (typeof layerNames)[number];

const itemSchema = z.object({
  name: z.string().describe('A verifier, a rule of the policy, or what was looked at.'),
  verdict: verdictName.describe('What came of it.'),
  reason: z.string().describe('A sentence for people.'),
  evidence: z.array(z.int()).describe('Numbers of the events that decide it.'),
  line: z.int().optional().describe('Line of the rule in the policy file.'),
});
export type CardItem = z.infer<typeof itemSchema>;

/**
 * The report card: the evaluation beside the reward, in five layers. A layer is violated when one of its items is,
 * unknown when a gated rule or a verifier of the reward could not be evaluated or nothing could be determined, and held
 * when at least one is held.
 */
export const reportCardSchema = z.array(
  z.object({
    layer: z.enum(layerNames).describe('Which of the five layers it is.'),
    verdict: verdictName.describe('What came of it as a whole.'),
    items: z.array(itemSchema).describe('What it is made of.'),
  }),
);
export type ReportCard = z.infer<typeof reportCardSchema>;

/** The name of an item about an attack begins with this. */
export const attackName = 'attack ';

/** A violation that neither a verifier nor a rule reports: after a failed call, in circles, or under an attack. */
export type Lapse = Pick<CardItem, 'reason' | 'evidence'> & { readonly layer: LayerName };

/** Returns the lapses of a report card. None of them changes the reward. */
export function lapsesOf(card: ReportCard): readonly Lapse[] {
  return card.flatMap(({ layer, items }) =>
    items
      .filter(({ name, verdict }) => verdict === 'violated' && (layer === 'recovery' || name.startsWith(attackName)))
      .map(({ name, reason, evidence }) => ({
        layer,
        reason: layer === 'recovery' ? reason : `${name}: ${reason}`,
        evidence,
      })),
  );
}

/** Returns what a lapse says to people. */
export const lapseText = ({ layer, reason }: Pick<Lapse, 'layer' | 'reason'>): string =>
  `${layer} (does not change the reward): ${reason}`;
