import type { Drafter } from '../../authoring/drafts/askedModel.ts';
import { parseSeat } from '../../engine/shell/models/parseSeat.ts';
import { type GivenTimes, timesOf } from '../options/rolloutOptions.ts';
import { type Io, UsageError } from '../terminal/io.ts';

type Asked = GivenTimes & { readonly model?: string | undefined };

/**
 * Returns a model that writes, and how it is reached; null without one.
 * @param option the option that names the model
 */
export function drafterOf(given: Asked, io: Io, option = 'model'): Drafter | null {
  const { model: named } = given;
  if (named === undefined) return null;
  const seat = parseSeat(named, 'agent', 'person', io.environment);
  if (typeof seat === 'string' || seat.type !== 'openai')
    throw new UsageError(`--${option} is a model, openai:MODEL[@BASE_URL], not "${named}"`);
  // Questions that are asked at once meet the same, which is reported once.
  const told = new Set<string>();
  return {
    seat: { ...seat, ...timesOf(given) },
    key: (seat.keyName && io.environment[seat.keyName]) || '',
    signal: io.signal,
    onRetry: ({ attempt, of, reason }) => {
      const line = `${seat.model}: ${reason}; asked again (${attempt} of ${of})\n`;
      if (!told.has(line)) io.err(line);
      told.add(line);
    },
  };
}
