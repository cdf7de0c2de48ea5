import type { Drafter } from '../../authoring/drafts/askedModel.ts';
import { parseSeat } from '../../engine/shell/models/parseSeat.ts';
import { type Given, text } from '../options/command.ts';
import { wholeNumber } from '../options/rolloutOptions.ts';
import { type Io, UsageError } from '../terminal/io.ts';

/** The model that drafts, or null where none is named. */
export function drafterOf(given: Given, io: Io): Drafter | null {
  return drafterNamed(given, io, 'model');
}

/** The model that an option names, and how it is reached; null where the option is not given. */
export function drafterNamed(given: Given, io: Io, option: string): Drafter | null {
  const named = text(given, option);
  if (named === undefined) return null;
  const seat = parseSeat(named, 'agent', 'person', io.environment);
  if (typeof seat === 'string' || seat.type !== 'openai')
    throw new UsageError(`--${option} is a model, openai:MODEL[@BASE_URL], not "${named}"`);
  const timeout = wholeNumber(given, 'timeout');
  // Questions that are asked at once meet the same, which is reported once.
  const told = new Set<string>();
  return {
    seat: { ...seat, ...(timeout === undefined ? {} : { timeoutMs: timeout * 1000 }) },
    key: (seat.keyName && io.environment[seat.keyName]) || '',
    signal: io.signal,
    onRetry: ({ attempt, of, reason }) => {
      const line = `${seat.model}: ${reason}; asked again (${attempt} of ${of})\n`;
      if (!told.has(line)) io.err(line);
      told.add(line);
    },
  };
}
