import { memo } from '../values/memo.ts';

const oClock = "o['’]clock(?:\\s(?:in the|at) (morning|afternoon|evening|night))?";
const spoken = new RegExp(
  `(?<![\\d:.,])(\\d{1,2})(?:[:.](\\d{2})(?::\\d{2})?)?(?:\\s?([ap])\\.?m\\b\\.?|\\s?(${oClock})\\b)?(?![\\d:]|[.,]\\d)`,
  'gi',
);

/**
 * Returns the times of day in a text, in order, as hours and minutes: "at 9:30, or 2 pm" has 09:30 and 14:00. "9 o'clock"
 * may be 09:00 or 21:00, so it has both.
 */
export const clockTimesIn = memo((text): readonly string[] =>
  [...text.matchAll(spoken)].flatMap(([found, hours = '', minutes = '00', meridiem, clock, part]) => {
    // A bare number is not a time, and 9.30 may be an amount.
    if (meridiem === undefined && clock === undefined && !found.includes(':')) return [];
    const hour = Number(hours) % 24;
    const isMorning = /^(?:a|morning)$/i.test(meridiem ?? part ?? '');
    const possible =
      meridiem !== undefined || part !== undefined
        ? [(hour % 12) + (isMorning ? 0 : 12)]
        : clock !== undefined && hour <= 12
          ? [hour % 12, (hour % 12) + 12]
          : [hour];
    return possible.map((each) => `${String(each).padStart(2, '0')}:${minutes}`);
  }),
);

/** Returns whether a value is a time of day, such as 09:30. */
export const isClockTime = (value: string): boolean => /^(?:[01]?\d|2[0-3]):[0-5]\d(?::[0-5]\d)?$/.test(value);
