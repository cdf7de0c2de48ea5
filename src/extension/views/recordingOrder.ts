import { basename, dirname } from 'node:path';
import { forkNumber, originName } from '../../engine/shell/records/recordingName.ts';

/** Matches the start of a run name that sorts by time: the default name of a run, or a step of a training run. */
const ordered = /^(?:\d{8}-\d{6}|step-\d+)/;

/**
 * Returns two recordings with the older one first: by the times in the names of their runs, then by their forks. Where
 * the names say nothing, the order stays.
 */
export function olderFirst([first, second]: readonly [string, string]): readonly [string, string] {
  const [one = '', other = ''] = [first, second].map((path) => ordered.exec(basename(dirname(path)))?.[0]);
  const runs = one === '' || other === '' ? 0 : one.localeCompare(other);
  const isFork = originName(first) === originName(second) ? forkNumber(first) - forkNumber(second) : 0;
  return (runs || isFork) > 0 ? [second, first] : [first, second];
}

/**
 * Returns two recordings in the order in which they are compared: a fork follows its original, and otherwise the one
 * that was chosen first is first, unless both were chosen together.
 */
export function comparisonOrder(
  [first, second]: readonly [string, string],
  { areTogether }: { readonly areTogether: boolean },
): readonly [string, string] {
  return areTogether || dirname(first) === dirname(second) ? olderFirst([first, second]) : [first, second];
}
