import { measureOf } from '../core/evaluation/measure.ts';
import type { Writes } from '../core/events/event.ts';
import type { ReportCard } from '../core/events/reportCard.ts';
import { patchesOf } from '../core/world/database.ts';
import type { LoadedDomain } from './load/loadedDomain.ts';
import { replayRecording } from './replay.ts';

/**
 * The result of a rollout, for anyone who looks at one: the reward with its reason, the report card, and what changed.
 */
export type RolloutSummary = {
  readonly reward: number | null;
  readonly reason: string;
  /** Why the reward says nothing, where a gold action failed. */
  readonly warning: string | null;
  readonly failedBy: string | null;
  readonly turns: number;
  readonly card: ReportCard;
  /** The differences between the databases at the end and at the first message. */
  readonly changes: Writes;
};

/** Reads a recording of a domain by folding it again; null where there is nothing to fold. */
export function summaryOf(domain: LoadedDomain, recording: string): RolloutSummary | null {
  const { steps } = replayRecording(domain, recording);
  const last = steps.at(-1)?.after;
  if (!last) return null;
  const events = steps.map(({ event }) => event);
  const { reward, reason, warning, failedBy, turns } = measureOf(events, []);
  const changes = (['agent', 'user'] as const).flatMap((side) => {
    const patches = patchesOf(last.start[side], last.world[side]);
    return patches.length === 0 ? [] : [{ side, patches }];
  });
  const card = events.findLast((event) => event.type === 'rewarded')?.card ?? [];
  return { reward, reason, warning, failedBy, turns, card, changes: changes as Writes };
}
