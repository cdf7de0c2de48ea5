import * as z from 'zod';
import { jsonOf } from '../../core/values/json.ts';

/** OpenRouter repeats the upstream headers in the body, and Google names a delay there. */
const bodySchema = z.looseObject({
  error: z.looseObject({
    metadata: z.looseObject({ headers: z.record(z.string(), z.coerce.string()) }).optional(),
    details: z.array(z.looseObject({ retryDelay: z.string().optional() })).optional(),
  }),
});

/**
 * Returns how many milliseconds a refused request should wait, as the endpoint says, or null where it does not say.
 * @param body of the answer
 * @param now in milliseconds since 1970
 */
export function requestedWait(headers: Headers, body: string, now: number): number | null {
  const given = jsonOf(body);
  const { data } = bodySchema.safeParse(Array.isArray(given) ? given[0] : given);
  const all = new Map([...headers].map(([name, value]) => [name.toLowerCase(), value]));
  for (const [name, value] of Object.entries(data?.error.metadata?.headers ?? {})) all.set(name.toLowerCase(), value);
  const delays = data?.error.details?.map(({ retryDelay }) => durationMs(retryDelay)) ?? [];
  const wait =
    numberIn(all.get('retry-after-ms')) ??
    retryAfter(all.get('retry-after'), now) ??
    delays.find(isGiven) ??
    reset(all, now);
  return wait === null || wait <= 0 ? null : Math.ceil(wait);
}

const isGiven = (wait: number | null): wait is number => wait !== null;

function retryAfter(value: string | undefined, now: number): number | null {
  const seconds = numberIn(value);
  return seconds === null ? until(value, now) : seconds * 1000;
}

/** The latest reset of the limits that are used up; where the endpoint names none such, the soonest reset. */
function reset(headers: ReadonlyMap<string, string>, now: number): number | null {
  const limits = [...headers].flatMap(([name, value]) => {
    const [, kind] = /^(?:x-|anthropic-)?ratelimit-(.*)$/.exec(name) ?? [];
    if (kind === undefined || !/(^|-)reset(-|$)/.test(kind)) return [];
    const wait = resetMs(value, now);
    const remaining = numberIn(headers.get(name.replace('reset', 'remaining')));
    return wait === null ? [] : [{ wait, isUsedUp: remaining === 0 }];
  });
  const usedUp = limits.filter(({ isUsedUp }) => isUsedUp).map(({ wait }) => wait);
  if (usedUp.length > 0) return Math.max(...usedUp);
  return limits.length > 0 ? Math.min(...limits.map(({ wait }) => wait)) : null;
}

/** A reset is a duration such as 6m0s, a date, a time since 1970 in milliseconds or seconds, or a number of seconds. */
function resetMs(value: string, now: number): number | null {
  const number = numberIn(value);
  if (number === null) return durationMs(value) ?? until(value, now);
  if (number > 1e12) return number - now;
  return number > 1e9 ? number * 1000 - now : number * 1000;
}

const unitMs: Readonly<Record<string, number>> = { d: 86_400_000, h: 3_600_000, m: 60_000, s: 1000, ms: 1 };

function durationMs(value: string | undefined): number | null {
  if (value === undefined || !/^(?:\d+(?:\.\d+)?(?:ms|[dhms]))+$/.test(value)) return null;
  return [...value.matchAll(/(\d+(?:\.\d+)?)(ms|[dhms])/g)].reduce(
    (sum, [, count, unit = '']) => sum + Number(count) * (unitMs[unit] ?? 0),
    0,
  );
}

function numberIn(value: string | undefined): number | null {
  return value !== undefined && /^\d+(?:\.\d+)?$/.test(value.trim()) ? Number(value) : null;
}

function until(date: string | undefined, now: number): number | null {
  const time = Date.parse(date ?? '');
  return Number.isNaN(time) ? null : time - now;
}
