import type { RuleVerdict } from '../../core/domain/rule.ts';
import { eventSchema } from '../../core/events/event.ts';
import { readBoundedTextAsync } from '../files/boundedFile.ts';

/** The number of times that each rule of a recording received each verdict. */
export type RuleTally = ReadonlyMap<string, Readonly<Record<RuleVerdict['verdict'], number>>>;

/** Matches the beginning of such an event's line: other lines need not be parsed. */
const checked = /^\{"n":\d+,"event":\{"type":"rulesChecked"/;

/** The verdicts of rules in a recording, by rule. Lines that can't be read count for nothing; nor does a lost file. */
export async function tallyRules(recording: string): Promise<RuleTally> {
  const text = await readBoundedTextAsync(recording).catch(() => '');
  const tally = new Map<string, Record<RuleVerdict['verdict'], number>>();
  for (const line of text.split('\n')) {
    if (!checked.test(line)) continue;
    for (const { rule, verdict } of verdictsIn(line)) {
      const counts = tally.get(rule) ?? { held: 0, violated: 0, unknown: 0 };
      counts[verdict] += 1;
      tally.set(rule, counts);
    }
  }
  return tally;
}

function verdictsIn(line: string): readonly RuleVerdict[] {
  try {
    const { data } = eventSchema.safeParse((JSON.parse(line) as { readonly event: unknown }).event);
    return data?.type === 'rulesChecked' ? data.verdicts : [];
  } catch {
    return [];
  }
}
