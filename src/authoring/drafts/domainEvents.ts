import type { RolloutEvent, RolloutStarted } from '../../engine/core/events/event.ts';
import type { LoadedDomain } from '../../engine/shell/load/loadedDomain.ts';
import { brokenRecording, noStart, readRecording } from '../../engine/shell/records/recording.ts';

/** The events of a whole recording of a domain. Throws a `Fault` where it is broken, or of another domain. */
export function eventsOfDomain(
  file: string,
  { domain, folder }: LoadedDomain,
): { readonly started: RolloutStarted; readonly events: readonly RolloutEvent[] } {
  const { lines, problems } = readRecording(file);
  const [problem] = problems;
  const started = lines[0]?.event;
  if (problem || started?.type !== 'rolloutStarted') throw brokenRecording(file, problem ?? noStart);
  if (started.domain.name !== domain.name) {
    const message = `was recorded in the domain "${started.domain.name}", and ${folder} is "${domain.name}"`;
    throw brokenRecording(file, { line: 1, message });
  }
  return { started, events: lines.map(({ event }) => event) };
}
