import type { RolloutEvent, RolloutStarted } from '../../engine/core/events/event.ts';
import { Fault } from '../../engine/shell/files/fault.ts';
import type { LoadedDomain } from '../../engine/shell/load/loadedDomain.ts';
import { readRecording } from '../../engine/shell/records/recording.ts';

/** The events of a whole recording of a domain. Throws a `Fault` where it is broken, or of another domain. */
export function eventsOfDomain(
  file: string,
  { domain, folder }: LoadedDomain,
): { readonly started: RolloutStarted; readonly events: readonly RolloutEvent[] } {
  const { lines, problems } = readRecording(file);
  const [problem] = problems;
  const started = lines[0]?.event;
  if (problem || started?.type !== 'rolloutStarted')
    throw broken(file, problem?.line ?? 1, problem?.message ?? 'a recording begins with rolloutStarted');
  if (started.domain.name !== domain.name)
    throw broken(file, 1, `was recorded in the domain "${started.domain.name}", and ${folder} is "${domain.name}"`);
  return { started, events: lines.map(({ event }) => event) };
}

function broken(file: string, line: number, message: string): Fault {
  return new Fault({
    who: 'environment',
    code: 'recording/broken',
    message: `${file}:${line}: ${message}`,
    file,
    line,
  });
}
