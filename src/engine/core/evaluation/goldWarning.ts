import type { RolloutEvent } from '../events/event.ts';
import { quotedIn } from '../events/quotedResults.ts';
import { leavesOf } from '../text/value.ts';

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
  const failed = new Set<string>();
  let called = '';
  for (const event of events) {
    if (event.type === 'toolCalled') called = event.call.name;
    // A call that succeeds when it is made again did not fail.
    if (event.type === 'toolReturned' && event.isError) failed.add(called);
    else if (event.type === 'toolReturned') failed.delete(called);
  }
  if (failed.size === 0) return null;
  return `the gold action ${[...failed].join(', ')} failed, so the reward says nothing about an agent`;
}
