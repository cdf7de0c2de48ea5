import { months } from './value.ts';

/** A calendar day as its number, counted from 1970-01-01; or what is wrong with a text that is not one. */
export type CalendarDay = { readonly day: number } | { readonly problem: string };

type Written = { readonly year: number; readonly month: number; readonly date: number };

const msPerDay = 86_400_000;

/** ISO 8601, also with slashes in the date and a space before the time. */
const yearFirst =
  /^(\d{4})([-/])(\d{1,2})\2(\d{1,2})(?:[T ](\d{2}):(\d{2})(?::(\d{2})(?:[.,]\d+)?)? ?(Z|[+-](?:[01]\d|2[0-3])(?::?[0-5]\d)?)?)?$/i;
const dayFirst = /^(?:([a-z]{3,9})\.?,? )?(\d{1,2})(?:st|nd|rd|th)? ([a-z]{3,9})\.?,? (\d{4})$/i;
const monthFirst = /^(?:([a-z]{3,9})\.?,? )?([a-z]{3,9})\.? (\d{1,2})(?:st|nd|rd|th)?,? (\d{4})$/i;
const yearLast = /^\d{1,2}([./-])\d{1,2}\1(?:\d{2}|\d{4})(?:[T ,]|$)/;

/**
 * Returns the day that a date, or a date and time, falls on. A time with an offset is converted to the time zone; one
 * without is in it already. Dates that do not exist and those that can be read in two ways are problems.
 * @param timeZone an IANA name, such as Europe/Berlin
 */
export function calendarDay(text: string, timeZone: string): CalendarDay {
  const trimmed = text.trim();
  const [, year, , month, date, hour, minute, second = '0', offset] = yearFirst.exec(trimmed) ?? [];
  if (year === undefined) return dayInWords(trimmed);
  const day = dayNumber({ year: Number(year), month: Number(month), date: Number(date) });
  if (day === null) return { problem: 'does not exist' };
  if (hour === undefined) return { day };
  const [hours, minutes, seconds] = [hour, minute, second].map(Number) as [number, number, number];
  if (hours > 23 || minutes > 59 || seconds > 59) return { problem: 'does not exist' };
  if (offset === undefined) return { day };
  const instant = day * msPerDay + ((hours * 60 + minutes) * 60 + seconds) * 1000 - offsetMs(offset);
  return { day: Math.floor((instant + zoneOffsetMs(instant, timeZone)) / msPerDay) };
}

/** The time zone in which days are counted, as a rollout or a domain says it; UTC where it does not. */
export const timeZoneOf = ({ timeZone = 'UTC' }: { readonly timeZone?: string | undefined }): string => timeZone;

/** Whether a text is the name of a time zone. */
export function isTimeZone(name: string): boolean {
  try {
    formatterOf(name);
    return true;
  } catch {
    return false;
  }
}

/** Returns the names of the time zones, in their order. */
export const timeZones = (): readonly string[] => Intl.supportedValuesOf('timeZone');

function dayInWords(text: string): CalendarDay {
  const [, firstWeekday, first, firstMonth, firstYear] = dayFirst.exec(text) ?? [];
  const [, secondWeekday, secondMonth, second, secondYear] = monthFirst.exec(text) ?? [];
  const name = (firstMonth ?? secondMonth)?.toLowerCase();
  const month = name === undefined ? 0 : months.findIndex((each) => each.startsWith(name)) + 1;
  if (month > 0) {
    const day = dayNumber({ year: Number(firstYear ?? secondYear), month, date: Number(first ?? second) });
    return day === null ? { problem: 'does not exist' } : onWeekday(day, firstWeekday ?? secondWeekday);
  }
  return {
    problem: yearLast.test(text) ? 'is ambiguous: write the year first, as in 2026-01-05' : 'is not a date',
  };
}

const weekdays = ['Thursday', 'Friday', 'Saturday', 'Sunday', 'Monday', 'Tuesday', 'Wednesday'] as const;

// The first day, 1970-01-01, is a Thursday.
const weekdayOf = (day: number) => weekdays[((day % 7) + 7) % 7] as (typeof weekdays)[number];

/** Returns the name of the weekday that an ISO date, or a date and time without a zone, falls on; null for other texts. */
export function weekdayIn(text: string): string | null {
  const found = yearFirst.test(text) ? calendarDay(text, 'UTC') : { problem: 'is not a date' };
  return 'day' in found ? weekdayOf(found.day) : null;
}

/** Returns a day if it is on the weekday that is written before it, if any. */
function onWeekday(day: number, written: string | undefined): CalendarDay {
  if (written === undefined) return { day };
  const named = weekdays.find((each) => each.toLowerCase().startsWith(written.toLowerCase()));
  const own = weekdayOf(day);
  if (named === undefined) return { problem: 'is not a date' };
  return named === own ? { day } : { problem: `is a ${own}, not a ${named}` };
}

/** The number of a day, or null where its month does not have it. */
function dayNumber({ year, month, date }: Written): number | null {
  const day = new Date(0);
  // Date.UTC reads the years 0 to 99 as those of the 20th century.
  day.setUTCFullYear(year, month - 1, date);
  return day.getUTCMonth() === month - 1 && day.getUTCDate() === date ? day.getTime() / msPerDay : null;
}

function zoneOffsetMs(instant: number, timeZone: string): number {
  if (timeZone === 'UTC') return 0;
  const part = formatterOf(timeZone)
    .formatToParts(instant)
    .find(({ type }) => type === 'timeZoneName');
  return offsetMs(part?.value.replace('GMT', '') ?? '');
}

/** Milliseconds of an offset such as Z, +02, +0230 or +02:30:15. */
function offsetMs(offset: string): number {
  const [, sign, hours = 0, minutes = 0, seconds = 0] = /^([+-])(\d\d):?(\d\d)?(?::(\d\d))?$/.exec(offset) ?? [];
  const ms = ((Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds)) * 1000;
  return sign === '-' ? -ms : ms;
}

const formatters = new Map<string, Intl.DateTimeFormat>();

/** @throws RangeError where there is no such time zone */
function formatterOf(timeZone: string): Intl.DateTimeFormat {
  const known = formatters.get(timeZone);
  if (known) return known;
  const made = new Intl.DateTimeFormat('en-US', { timeZone, timeZoneName: 'longOffset' });
  formatters.set(timeZone, made);
  return made;
}
