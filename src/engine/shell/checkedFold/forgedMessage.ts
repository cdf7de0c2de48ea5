import { type EventOf, type EventType, eventSchema, type RolloutEvent } from '../../core/events/event.ts';
import { issueText } from '../../core/text/issueText.ts';
import { redactedPart } from '../keys/secrets.ts';
import type { ClaimedEvent } from '../workers/workerMessage.ts';

/** Something that a worker says happened and that cannot have happened. */
export class ForgedMessage extends Error {
  override readonly name = 'ForgedMessage';
}

/** Returns an event of a type. Throws `ForgedMessage` for one of another type. */
export function only<Type extends EventType>(arrived: ClaimedEvent, type: Type): EventOf<Type> {
  if (arrived.type !== type) throw new ForgedMessage(`${arrived.type} arrived instead of ${type}`);
  return arrived.event as EventOf<Type>;
}

/** Checks the shape of an event that its worker alone decides, as readers of a recording will check it. */
export function throwIfInvalid(n: number, event: RolloutEvent): void {
  const { data, error } = eventSchema.safeParse(event);
  if (error) throw new ForgedMessage(`event ${n} is not a valid ${event.type} (${issueText(error, 'the event')})`);
  if (hasOtherKeys(event, data)) {
    const text = shortened(JSON.stringify(event));
    throw new ForgedMessage(`event ${n} has keys that ${event.type} does not have: ${text}`);
  }
}

/** Whether a value has keys that its schema dropped. What no schema looks into is the same value. */
function hasOtherKeys(value: unknown, parsed: unknown): boolean {
  if (value === parsed || typeof value !== 'object' || value === null) return false;
  const [given, kept] = [value, parsed] as readonly Readonly<Record<string, unknown>>[];
  const keys = Object.keys(value);
  return keys.length > Object.keys(kept ?? {}).length || keys.some((key) => hasOtherKeys(given?.[key], kept?.[key]));
}

/** Returns a text of a worker as it is quoted in the reason. */
export function shortened(text: string): string {
  return text.length > 300 ? `${redactedPart(text, 0, 300)}…` : text;
}
