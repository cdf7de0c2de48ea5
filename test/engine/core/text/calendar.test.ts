import { expect, test } from 'vitest';
import { calendarDay, isTimeZone } from '../../../../src/engine/core/text/calendar.ts';

/** Returns the date of the day in a text, or the problem with the text. */
function dateOf(text: string, timeZone = 'UTC'): string {
  const found = calendarDay(text, timeZone);
  return 'problem' in found ? found.problem : new Date(found.day * 86_400_000).toISOString().slice(0, 10);
}

test.each([
  ['2026-03-02', 'UTC', '2026-03-02'],
  ['2026/03/02', 'UTC', '2026-03-02'],
  ['2024-02-29', 'UTC', '2024-02-29'],
  ['0050-01-01', 'UTC', '0050-01-01'],
  ['March 4, 2025', 'UTC', '2025-03-04'],
  ['Tue, 4th Mar 2025', 'UTC', '2025-03-04'],
  ['Thursday, March 5, 2026', 'UTC', '2026-03-05'],
  ['Thurs. 5 March 2026', 'UTC', '2026-03-05'],
  ['Wednesday 31 December 1969', 'UTC', '1969-12-31'],
  ['2026-03-02T23:30:00Z', 'Europe/Berlin', '2026-03-03'],
  ['2026-03-02T23:30:00Z', 'America/New_York', '2026-03-02'],
  ['2026-03-02T02:30:00.123456Z', 'America/New_York', '2026-03-01'],
  ['2026-03-02 23:30', 'Europe/Berlin', '2026-03-02'],
  ['2026-03-02T00:30:00+02:00', 'UTC', '2026-03-01'],
  ['2026-03-02 00:30:00+0200', 'Asia/Tokyo', '2026-03-02'],
  ['2026-03-02T20:00:00Z', 'Asia/Kolkata', '2026-03-03'],
  ['0001-01-01T02:00:00Z', 'America/New_York', '0000-12-31'],
])('%s is in %s the day %s', (text, timeZone, date) => expect(dateOf(text, timeZone)).toBe(date));

test.each([
  ['2025-02-30', 'does not exist'],
  ['2025-13-01', 'does not exist'],
  ['2025-00-10', 'does not exist'],
  ['2023-02-29T10:00:00Z', 'does not exist'],
  ['2025-03-01T25:00:00Z', 'does not exist'],
  ['30 February 2025', 'does not exist'],
  ['Friday, 5 March 2026', 'is a Thursday, not a Friday'],
  ['Fri, March 5, 2026', 'is a Thursday, not a Friday'],
  ['Before 5 March 2026', 'is not a date'],
  ['until March 5, 2026', 'is not a date'],
  ['bananas 5 March 2026', 'is not a date'],
  ['03/04/2025', 'is ambiguous: write the year first, as in 2026-01-05'],
  ['3.4.2025', 'is ambiguous: write the year first, as in 2026-01-05'],
  ['03-04-25 10:00', 'is ambiguous: write the year first, as in 2026-01-05'],
  ['2025-03-01T10:00:00+99:99', 'is not a date'],
  ['2025', 'is not a date'],
  ['2025-03', 'is not a date'],
  ['1', 'is not a date'],
  ['Marching 4, 2025', 'is not a date'],
  ['soon', 'is not a date'],
  ['', 'is not a date'],
])('%s %s', (text, problem) => expect(dateOf(text)).toBe(problem));

test.each([
  ['Europe/Berlin', true],
  ['UTC', true],
  ['+02:00', true],
  ['Europe/Nowhere', false],
  ['', false],
])('%s is the name of a time zone: %s', (name, known) => expect(isTimeZone(name)).toBe(known));
