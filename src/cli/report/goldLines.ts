import { failedGoldAction } from '../../engine/shell/audit/goldReplay.ts';
import { formatDiagnostic } from '../../engine/shell/files/diagnostic.ts';
import type { LoadedDomain } from '../../engine/shell/load/loadedDomain.ts';
import { eventsOf, type FinishedRollout } from '../../engine/shell/records/runRecord.ts';

type Warned = Pick<FinishedRollout, 'task' | 'warning' | 'recording'>;

/**
 * Returns a sentence for each task whose reward says nothing because a gold action failed, with the place of the action.
 * @param domain that was played; without it, the place is unknown
 * @param base folder that paths are relative to
 */
export function goldLines(rollouts: readonly Warned[], domain: LoadedDomain | null, base: string): readonly string[] {
  const warned = Map.groupBy(
    rollouts.filter(({ warning }) => warning !== null),
    ({ task }) => task,
  );
  return [...warned].flatMap(([task, [first]]) => {
    if (!first) return [];
    const finding = domain && failedGoldAction(domain, task, eventsOf(first.recording));
    const place = finding ? `: ${formatDiagnostic(finding, base)}` : '';
    return [`warning: ${task}: ${first.warning}${place}`];
  });
}
