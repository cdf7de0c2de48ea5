import * as z from 'zod';

/** The longest time that a timer can wait for, about 24 days: one that is given more goes off at once. */
export const longestMs = 2 ** 31 - 1;

/** A time in whole milliseconds that a timer can wait for. */
export const timeLimitSchema = z.int().positive().max(longestMs);
