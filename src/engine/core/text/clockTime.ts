import { memo } from '../values/memo.ts';

const spoken = /(?<![\d:.,])(\d{1,2})(?:[:.](\d{2})(?::\d{2})?)?(?:\s?([ap])\.?m\b\.?)?(?![\d:]|[.,]\d)/gi;

/** Returns the times of day in a text, in order, as hours and minutes: "at 9:30, or 2 pm" has 09:30 and 14:00. */
export const clockTimesIn = memo((text): readonly string[] =>
  [...text.matchAll(spoken)].flatMap(([found, hours = '', minutes, half]) => {
    // A bare number is not a time, and 9.30 may be an amount.
    if (half === undefined && !found.includes(':')) return [];
    const hour = (Number(hours) % (half === undefined ? 24 : 12)) + (half?.toLowerCase() === 'p' ? 12 : 0);
    return [`${String(hour).padStart(2, '0')}:${minutes ?? '00'}`];
  }),
);

/** Returns whether a value is a time of day, such as 09:30. */
export const isClockTime = (value: string): boolean => /^(?:[01]?\d|2[0-3]):[0-5]\d(?::[0-5]\d)?$/.test(value);
