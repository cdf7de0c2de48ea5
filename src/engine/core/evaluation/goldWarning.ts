import type { EventOf, RolloutEvent } from '../events/event.ts';
import { quotedIn } from '../events/quotedResults.ts';
import { leavesOf } from '../text/value.ts';
import { failedGold, type GoldCall } from './failedGold.ts';

/** Returns why the reward of a rollout of the gold seat says nothing: a gold action failed, or quotes nothing. */
export function goldWarning(events: readonly RolloutEvent[]): string | null {
  const [started] = events;
  if (started?.type !== 'rolloutStarted' || started.seats.agent !== 'gold') return null;
  const [unfilled] = events.flatMap((event) =>
    event.type === 'toolCalled'
      ? leavesOf(event.call.arguments).flatMap((leaf) =>
          quotedIn(leaf) ? [`${event.call.name} got ${leaf} itself`] : [],
        )
      : [],
  );
  if (unfilled !== undefined) return `the gold action ${unfilled}, since no result before it has this field`;
  const failed = new Set(failedGold(callsIn(events)).map(({ name }) => name));
  if (failed.size === 0) return null;
  return `the gold action ${[...failed].join(', ')} failed, so the reward says nothing about an agent`;
}

/** Returns the calls of a rollout with their results. */
function callsIn(events: readonly RolloutEvent[]): readonly GoldCall[] {
  let called: EventOf<'toolCalled'> | undefined;
  return events.flatMap((event) => {
    if (event.type === 'toolCalled') called = event;
    if (event.type !== 'toolReturned' || called === undefined) return [];
    const { call, by = 'agent' } = called;
    const { isError, content } = event;
    return [{ by, name: call.name, arguments: call.arguments, isError, content }];
  });
}
