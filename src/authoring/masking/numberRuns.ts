import { matchesOf } from './text/matches.ts';
import { coverOf, type Span } from './text/valueIndex.ts';

/** Seven digits and more, with signs between them: one number, or several next to each other. */
const runs =
  /(?<![\p{L}\p{N}.,\p{Sc}])(?:\+|\(\+?)?\d(?:[ \u00A0\u2009\u202F()./\u2010\u2011–-]{0,3}\d){6,}(?![\p{L}\p{N}]|[.,]\d)/gu;

/** Matches a group of a run, with its bracket and the sign before the code of a country. */
const group = /\(?\+?\d+/g;

/** Matches a date within a run that has more. */
const dateWithin =
  /(?<![\d./-])(?:\d{4}[./-](?:0?[1-9]|1[0-2])[./-](?:0?[1-9]|[12]\d|3[01])|(?:0?[1-9]|[12]\d|3[01])[./-](?:0?[1-9]|[12]\d|3[01])[./-](?:\d{4}|\d{2}))(?![./-]?\d)/g;

/** Matches what a whole run is where it is dates, or years. */
const dates = /^\d{4}[-./]\d{1,2}[-./]\d{1,2}$|^\d{1,2}[-./ ]\d{1,2}[-./ ]\d{4}$|^\d{4} ?[–-] ?\d{4}$/;

/** Matches a number in two groups, of which the first is the code of a country. */
export const withCountry = /^\(?\+\d{1,3}\)? \d+$/;

/** Returns whether a number begins with the prefix of North America for a call abroad. */
export const hasPrefixOfAmerica = (value: string): boolean =>
  /^011[ .-]/.test(value) && value.replace(/\D/g, '').length >= 13;

/** The groups of digits of a run, which has seven digits and more. */
export type NumberRun = readonly Span[];

/** No number has more digits. */
export const mostDigits = 19;

/** Returns the runs of numbers in a text, without the dates and the times next to them. */
export function numberRunsIn(text: string): readonly NumberRun[] {
  return matchesOf(runs, text).flatMap(({ 0: run, index }) => {
    if (dates.test(run)) return [];
    const spansOf = (pattern: RegExp) =>
      matchesOf(pattern, run).map((each) => {
        return { start: index + each.index, end: index + each.index + each[0].length };
      });
    const groups = spansOf(group);
    if (groups.length === 1 || withCountry.test(run)) return [groups];
    const isDate = coverOf(spansOf(dateWithin));
    const parts: Span[][] = [[]];
    for (const each of groups)
      if (isDate(each) || isOfTime(text, each)) parts.push([]);
      else parts.at(-1)?.push(each);
    return parts.filter((part) => digitsOf(text, part).length >= 7 && !dates.test(textOf(text, part)));
  });
}

/** Returns whether a group is the hours or the minutes of a time. */
const isOfTime = (text: string, { start, end }: Span) =>
  end - start <= 2 && (/^:\d/.test(text.slice(end, end + 2)) || /\d:$/.test(text.slice(Math.max(0, start - 2), start)));

/** Returns the piece of a text that some groups are. */
export const spanOf = (groups: NumberRun): Span => ({ start: groups[0]?.start ?? 0, end: groups.at(-1)?.end ?? 0 });

export const textOf = (text: string, groups: NumberRun): string => {
  const { start, end } = spanOf(groups);
  return text.slice(start, end);
};

export const digitsOf = (text: string, groups: NumberRun): string => textOf(text, groups).replace(/\D/g, '');
