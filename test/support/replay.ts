import type { RolloutEvent } from '../../src/engine/core/events/event.ts';
import type { RolloutState } from '../../src/engine/core/events/state.ts';
import { follow, type Setting } from '../../src/engine/core/rollout/rollout.ts';

/** Returns the state after the events of a recording. */
export function replay(setting: Setting, events: readonly RolloutEvent[]): RolloutState {
  const last = events.reduce<RolloutState | null>((before, event) => follow(setting, before, event), null);
  if (!last) throw new Error('there is nothing to replay');
  return last;
}
