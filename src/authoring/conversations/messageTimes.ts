import type { Json } from '../../engine/core/values/json.ts';
import { objectOf, textOf } from './saidMessage.ts';

const timeNames = new Set([
  'timestamp',
  'createdat',
  'createtime',
  'created',
  'time',
  'ts',
  'date',
  'datetime',
  'sentat',
  'starttime',
]);

/** Returns the fields of a message under the names that logs give to its time. */
const timeFieldsIn = (message: Json): readonly (readonly [key: string, value: Json])[] =>
  Object.entries(objectOf(message)).filter(
    ([key, value]) => timeNames.has(plainKey(key)) && value !== null && value !== '',
  );

const timesIn = (message: Json): readonly Json[] => timeFieldsIn(message).map(([, value]) => value);

const datesIn = (message: Json) => timeFieldsIn(message).filter(([, value]) => !isClock(value));

/** The part of a date such as 13/01/2026 that is first. */
type DayOrder = 'day' | 'month' | undefined;

/** Returns which part of their dates is first, which all messages of a log decide together. */
export function dayOrderOf(messages: readonly Json[]): DayOrder {
  const dates = messages.flatMap((message) => datesIn(message).map(([, value]) => textOf(value)?.trim() ?? ''));
  const parts = dates.map((date) => dayPattern.exec(date)?.groups);
  const [first, second] = ['one', 'other'].map((name) => parts.some((groups) => Number(groups?.[name]) > 12));
  return first === second ? undefined : first ? 'day' : 'month';
}

/**
 * Returns the milliseconds of the times of messages, also where a date and a time of day have a key each. Of several
 * keys, such as that of a conversation and of a message, the one with the most different times is taken.
 */
export function timesOf(
  messages: readonly Json[],
  order: DayOrder = dayOrderOf(messages),
): readonly (number | undefined)[] {
  const values = new Map<string, Set<string>>();
  for (const [key, value] of messages.flatMap(datesIn))
    values.set(key, (values.get(key) ?? new Set()).add(String(textOf(value))));
  const [best] = [...values].toSorted(([, a], [, b]) => b.size - a.size)[0] ?? [];
  return messages.map((message) => {
    const dates = datesIn(message);
    const date = (dates.find(([key]) => key === best) ?? dates[0])?.[1] ?? null;
    const clock = timesIn(message).find(isClock);
    const both = date === null || clock === undefined ? date : `${textOf(date)} ${textOf(clock)}`;
    return timeIn(both, order) ?? timeIn(date, order);
  });
}

const turnNames = new Set(['turn', 'turnid', 'turnindex', 'turnnumber', 'messageindex', 'messagenumber', 'sequence']);

/** Returns the numbers of messages in their conversation; undefined where not all have one. */
export function turnsOf(messages: readonly Json[]): readonly number[] | undefined {
  const turns = messages.flatMap((message) => {
    const value = Object.entries(objectOf(message)).find(([key]) => turnNames.has(plainKey(key)))?.[1];
    const text = textOf(value)?.trim() ?? '';
    return /^\d+$/.test(text) ? [Number(text)] : [];
  });
  return turns.length === messages.length ? turns : undefined;
}

/** A time of day without a date. */
const clockPattern =
  /^(?<hour>\d{1,2}):(?<minute>[0-5]\d)(?::(?<second>[0-5]\d)(?:[.,]\d+)?)?\s*(?:(?<half>[ap])\.?\s?m\.?)?$/i;

const isClock = (value: Json) => clockPattern.test(textOf(value)?.trim() ?? '');

/** Returns a time of day in seconds; undefined for what is not one. */
function secondsIn(value: Json): number | undefined {
  const { hour, minute, second = 0, half } = clockPattern.exec(textOf(value)?.trim() ?? '')?.groups ?? {};
  if (hour === undefined || Number(hour) > (half ? 12 : 23)) return undefined;
  const hours = half ? (Number(hour) % 12) + (half.toLowerCase() === 'p' ? 12 : 0) : Number(hour);
  return hours * 3600 + Number(minute) * 60 + Number(second);
}

const day = 24 * 3600;

/**
 * Returns the seconds of messages that have a time of day without a date, from the start of their first day; undefined
 * where they have something else, or where it is not certain whether the oldest or the newest message is first. It is
 * certain for times that only rise, that fall twice or more and never rise, and that pass midnight once.
 */
export function clockTimesOf(messages: readonly Json[]): readonly number[] | undefined {
  const times = messages.flatMap((message) =>
    timesIn(message)
      .flatMap((each) => secondsIn(each) ?? [])
      .slice(0, 1),
  );
  if (times.length < Math.max(2, messages.length)) return undefined;
  const steps = times.slice(1).map((time, at) => ({ at: at + 1, from: times[at] ?? 0, to: time }));
  const [rises, falls] = [steps.filter(({ from, to }) => to > from), steps.filter(({ from, to }) => to < from)];
  if (falls.length === 0 || (rises.length === 0 && falls.length > 1)) return times;
  const isMidnight = (evening = 0, morning = 0) => evening >= 0.75 * day && morning < 0.25 * day;
  const [fall, rise] = [falls[0], rises[0]];
  if (falls.length === 1 && isMidnight(fall?.from, fall?.to))
    return times.map((time, at) => (at >= (fall?.at ?? 0) ? time + day : time));
  if (rises.length === 1 && falls.length > 1 && isMidnight(rise?.to, rise?.from))
    return times.map((time, at) => (at < (rise?.at ?? 0) ? time + day : time));
  return undefined;
}

/** Returns whether messages have times of day that do not show which of them was first. */
export const isOrderUnclear = (messages: readonly Json[]): boolean =>
  messages.length > 1 &&
  messages.every((message) => timesIn(message).length > 0 && timesIn(message).every(isClock)) &&
  clockTimesOf(messages) === undefined;

const dayPattern = /^(?<one>\d{1,2})[/.-](?<other>\d{1,2})[/.-](?<year>\d{4})(?!\d)(?<rest>.*)$/;
const monthName = /\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)/i;

/**
 * Returns a time in milliseconds: a date as text, or a number of seconds, milliseconds, microseconds or nanoseconds;
 * undefined for a date that can be read in two ways.
 * @param order which part of a date such as 13/01/2026 is first, where that is known
 */
export function timeIn(value: Json, order?: DayOrder): number | undefined {
  const text = textOf(value)?.trim() ?? '';
  if (text === '') return undefined;
  const number = Number(text);
  if (Number.isNaN(number)) {
    const { one, other, year, rest } = dayPattern.exec(text)?.groups ?? {};
    const days = order === 'day' ? [other, one] : [one, other];
    const isClear = one !== undefined ? order !== undefined : /^\d{4}[-/.]/.test(text) || monthName.test(text);
    const date = isClear ? Date.parse(one === undefined ? text : `${days.join('/')}/${year}${rest}`) : Number.NaN;
    return Number.isNaN(date) ? undefined : date;
  }
  const digits = Math.trunc(Math.abs(number)).toString().length;
  return digits <= 10 ? number * 1000 : digits <= 13 ? number : digits <= 16 ? number / 1000 : number / 1_000_000;
}

/** Returns a key without its case and the signs between its words. */
export const plainKey = (key: string) => key.toLowerCase().replace(/[\s_-]+/g, '');
