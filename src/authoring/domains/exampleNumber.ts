import { exactLimit } from '../../engine/core/values/exactSchema.ts';
import type { Json, JsonObject } from '../../engine/core/values/json.ts';

/** A limit of numbers, with all its digits. */
type Limit = bigint | number;

/**
 * Returns the least that a schema takes, and 1 where it does not say or takes negative numbers too; a text of digits for a
 * whole number that a JavaScript number cannot hold. In older drafts, `exclusiveMinimum: true` excludes `minimum`.
 */
export function exampleNumber(schema: JsonObject, isWhole: boolean): number | string {
  const { minimum, exclusiveMinimum, maximum, exclusiveMaximum, multipleOf } = schema;
  const min = stricterOf(minimum, exclusiveMinimum, (a, b) => a > b) ?? Number.NEGATIVE_INFINITY;
  const max = stricterOf(maximum, exclusiveMaximum, (a, b) => a < b) ?? Number.POSITIVE_INFINITY;
  const isOpen = exclusiveMinimum === true || min === exactLimit(exclusiveMinimum);
  const isOpenAbove = exclusiveMaximum === true || max === exactLimit(exclusiveMaximum);
  const isWithin = (value: Limit) =>
    (isOpen ? value > min : value >= min) && (isOpenAbove ? value < max : value <= max);
  const step = exactLimit(multipleOf) ?? 0;
  const isLarge = (limit: Limit) =>
    typeof limit === 'bigint' || (isWhole && Number.isInteger(limit) && !Number.isSafeInteger(limit));
  if ([min, max, step].some(isLarge)) return exampleLarge({ min, max, step, isWithin });
  return exampleSmall({ min: Number(min), max: Number(max), step: Number(step), isWithin }, isWhole);
}

/** Returns the one of two limits that excludes more. */
function stricterOf(
  a: Json | undefined,
  b: Json | undefined,
  isStricter: (a: Limit, b: Limit) => boolean,
): Limit | undefined {
  const [one, two] = [exactLimit(a), exactLimit(b)];
  return one !== undefined && (two === undefined || isStricter(one, two)) ? one : two;
}

/** The numbers that a schema takes. `step` is 0 where they need not be multiples. */
type Range<Each extends Limit> = {
  readonly min: Each;
  readonly max: Each;
  readonly step: Each;
  readonly isWithin: (value: Limit) => boolean;
};

function exampleSmall({ min, max, step: given, isWithin }: Range<number>, isWhole: boolean): number {
  const step = given > 0 ? given : 1;
  const multiple = (value: number) => (given > 0 ? Math.ceil(value / given) * given : value);
  const start = Math.min(1, Number.isFinite(max) ? max : 1);
  const fromMin = given > 0 || isWhole ? Math.ceil(min / step) * step : min;
  const starts = [...(min < 0 ? [start] : []), ...(Number.isFinite(min) ? [fromMin] : [])];
  const tried = starts.flatMap((from) => [0, 1, 2, 3, 4, 5, -1, -2].map((count) => multiple(from + count * step)));
  const found = tried.find((value) => isWithin(value) && (!isWhole || Number.isInteger(value)));
  return found ?? (Number.isFinite(min) && Number.isFinite(max) ? (min + max) / 2 : (starts[0] ?? 1));
}

function exampleLarge({ min, max, step: given, isWithin }: Range<Limit>): number | string {
  const step = given > 0 && Number(given) % 1 === 0 ? BigInt(given) : 1n;
  const floor = (value: bigint) => value - (((value % step) + step) % step);
  const ceil = (value: bigint) => -floor(-value);
  const tried = [
    ...(min < 0 ? [ceil(1n)] : []),
    ...wholeOf(min).flatMap((limit) => [ceil(limit), ceil(limit) + step]),
    ...wholeOf(max).flatMap((limit) => [floor(limit), floor(limit) - step]),
  ];
  const found = tried.find(isWithin) ?? tried[0] ?? 1n;
  return Number.isSafeInteger(Number(found)) ? Number(found) : String(found);
}

/** Returns a limit as a whole number; nothing for an infinite one. */
function wholeOf(limit: Limit): readonly bigint[] {
  if (typeof limit === 'bigint') return [limit];
  return Number.isFinite(limit) ? [BigInt(Math.round(limit))] : [];
}
