import * as z from 'zod';
import type { JsonObject } from './json.ts';

const checked = z.record(z.string(), z.json());

/** A JSON object with all of its keys. `z.record` leaves out the key `__proto__`, which an argument of a call may have. */
export const jsonObjectSchema = z.custom<JsonObject>(
  (value) => checked.safeParse(value).success,
  'expected a JSON object',
);
