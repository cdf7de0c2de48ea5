import type { CardItem, ReportCard } from '../../engine/core/events/reportCard.ts';
import type { Trajectory } from './entries.ts';

/**
 * Returns the report card as it is shown: several checks decide one rule, and a rule of which one check could not be
 * evaluated is unknown, also where another one held.
 */
export function shownCard({ entries, rewarded }: Pick<Trajectory, 'entries' | 'rewarded'>): ReportCard {
  const undecided = new Map<string, CardItem>();
  for (const { n, event } of entries.flatMap(({ steps }) => steps)) {
    for (const { rule, verdict, reason, evidence } of event.type === 'rulesChecked' ? event.verdicts : []) {
      if (verdict !== 'unknown') continue;
      undecided.set(rule, { name: rule, verdict, reason, evidence: [...new Set([...evidence, n])] });
    }
  }
  return (rewarded?.card ?? []).map((layer) => ({
    ...layer,
    items: layer.items.map((item) => {
      const open = item.verdict === 'held' && item.line !== undefined ? undecided.get(item.name) : undefined;
      return open ? { ...item, ...open } : item;
    }),
  }));
}
