import type { Writes } from '../../core/events/event.ts';
import type { RolloutState } from '../../core/events/state.ts';
import { withWrites } from '../../core/events/world.ts';
import { Fault } from '../files/fault.ts';
import type { Rollout } from './ports.ts';

/**
 * Returns what the domain's `sync` writes. A `sync` that changes something again when nothing happened in between would
 * make the end depend on how often it ran, so that is a failure of the domain; it is tried after set-up.
 */
export function syncWrites(
  { ports, setting }: Rollout,
  { world, started, phase }: RolloutState,
): Promise<Writes> | Writes {
  const { sync } = ports;
  if (!sync) throw new Error(`no handler runs the sync of ${setting.domain.name} here`);
  const { now } = started;
  const isSettled = (writes: Writes) => writes.length === 0 || (phase.type === 'syncAwaited' && phase.call !== null);
  const again = (writes: Writes) => sync({ world: withWrites(world, writes), now });
  const first = sync({ world, now });
  if (first instanceof Promise)
    return first.then(async (writes) => (isSettled(writes) ? writes : settledWrites(writes, await again(writes))));
  return isSettled(first) ? first : settledWrites(first, again(first) as Writes);
}

function settledWrites(writes: Writes, [again]: Writes): Writes {
  if (!again) return writes;
  const place = [again.side, ...(again.patches[0]?.path ?? [])].join('.');
  const message = `sync changes ${place} again when it runs a second time; let it only copy what one side says to the other`;
  throw new Fault({ who: 'environment', code: 'sync/unsettled', message });
}
