import { existsSync } from 'node:fs';
import type { Domain } from '../../core/domain/domain.ts';
import { externalSource } from '../../core/domain/tool.ts';
import type { RolloutEvent, RolloutStarted } from '../../core/events/event.ts';
import { contentHash } from '../../core/values/hash.ts';
import type { Json } from '../../core/values/json.ts';
import type { RolloutRequest } from '../liveRollout.ts';
import { isLost } from '../records/ledger.ts';
import { readRecording, readSidecar, type SidecarLine, sidecarPath } from '../records/recording.ts';
import { isUnverified } from '../rollout/effectEvents.ts';

/**
 * Returns where a rollout of a batch begins: at its start, or after the events that a process which died, or an
 * endpoint that failed, has left of it. What a model has answered is not asked and paid again. A rollout with tool
 * sources outside the worker starts afresh, since their state died too, and so does one whose start reads otherwise now,
 * one of another run, and one that ended without a reward for another reason than infrastructure.
 */
export function resumePoint(
  path: string,
  started: RolloutStarted,
  domain: Domain,
  run?: string,
): Pick<RolloutRequest, 'from' | 'sidecar'> {
  const afresh = { from: started };
  if (!existsSync(path) || domain.tools.some((tool) => externalSource(tool) !== null)) return afresh;
  const { lines, problems } = readRecording(path);
  const intact = lines.slice(0, problems[0] ? problems[0].line - 1 : lines.length).map(({ event }) => event);
  const events = beforeInterruption(intact);
  if (events.some((event) => event.type === 'rewarded' && event.reward === null)) return afresh;
  const [first] = events;
  if (first === undefined || contentHash(first as Json) !== contentHash(started as unknown as Json)) return afresh;
  const sidecar = readTimes(sidecarPath(path), events.length);
  return sidecar[0]?.run === run ? { from: events, sidecar } : afresh;
}

/** The events before the end of a rollout that was cancelled, or that infrastructure ended, itself or its verification. */
function beforeInterruption(events: readonly RolloutEvent[]): readonly RolloutEvent[] {
  const end = events.findIndex(
    (event) =>
      isUnverified(event) ||
      (event.type === 'rolloutEnded' && (event.reason === 'cancelled' || isLost({ endReason: event.reason }))),
  );
  return end < 0 ? events : events.slice(0, end);
}

/** Returns what the sidecar said about the first events, as far as it is whole. */
export function readTimes(path: string, count: number): readonly SidecarLine[] {
  const lines = readSidecar(path).lines.slice(0, count);
  const whole = lines.findIndex((line, index) => line.n !== index);
  return whole < 0 ? lines : lines.slice(0, whole);
}
