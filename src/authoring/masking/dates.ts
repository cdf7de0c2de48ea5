import type { Span } from './valueIndex.ts';

/** A date in a text, with each way to read it as `YYYY-MM-DD`, and another date in its spelling. */
export type WrittenDate = Span & { readonly readings: readonly string[]; readonly spell: (date: string) => string };

const languages = 'en de fr es it pt nl pl sv da nb fi cs sk sl hr sr hu ro bg ru uk el tr lt lv et ca id vi'.split(
  ' ',
);

/** The names of the months in one form of a language; in some, a month has another form beside a day. */
const calendars: readonly (readonly string[])[] = languages.flatMap((language) =>
  (['long', 'short'] as const).flatMap((month) =>
    [{ month }, { month, day: 'numeric' } as const].map((form) => {
      const written = new Intl.DateTimeFormat(language, { ...form, timeZone: 'UTC' });
      return Array.from({ length: 12 }, (_, index) => {
        const parts = written.formatToParts(Date.UTC(2000, index, 1));
        return parts.find(({ type }) => type === 'month')?.value.replace(/\.$/, '') ?? '';
      });
    }),
  ),
);

/** The calendar of each month name, and the index of the month in it. */
const months = new Map<string, { readonly calendar: readonly string[]; readonly index: number }>();
for (const calendar of calendars)
  for (const [index, name] of calendar.entries()) {
    const key = name.normalize('NFC').toLowerCase();
    if (/^\p{L}{3,}$/u.test(key) && !months.has(key)) months.set(key, { calendar, index });
  }

const [start, end] = [String.raw`(?<![\p{L}\p{N}])`, String.raw`(?!\p{N})`];
const year = String.raw`(?<y>\d{4}|\d{2})`;
const name = String.raw`(?<name>\p{L}[\p{L}\p{M}]{2,11})\.?`;
/** Matches two numbers that could each be the day. */
const either = String.raw`(?<one>\d{1,2})(?<sign>[./-]\s?| )(?<other>\d{1,2})`;
const patterns = [
  String.raw`(?<y>\d{4})(?<sign>[./-]\s?| )(?<m>\d{1,2})\k<sign>(?<d>\d{1,2})`,
  String.raw`(?<y>\d{4})\s?[年년]\s?(?<m>\d{1,2})\s?[月월]\s?(?<d>\d{1,2})\s?[日일]`,
  String.raw`${either}\k<sign>${year}`,
  String.raw`(?<y>\d{4})(?<m>\d{2})(?<d>\d{2})`,
  String.raw`(?<one>\d{2})(?<other>\d{2})(?<y>\d{4})`,
  String.raw`(?<d>\d{1,2})(?:\p{L}{1,2}|[.º])?[ ./-]{0,3}(?:(?:of|de|d['’])[ ]?)?${name}[ ,./-]{1,3}(?:del?[ ])?${year}`,
  String.raw`${name}[ ](?<d>\d{1,2})(?:\p{L}{2})?,?[ ](?<y>\d{4})`,
  String.raw`(?<y>\d{4})[. -]{1,2}(?:m\. )?${name}[ -](?<d>\d{1,2})`,
].map((pattern) => new RegExp(`${start}${pattern}${end}`, 'dgu'));

/** Returns the dates of a text, in the spellings of about thirty languages. */
export function datesIn(text: string): readonly WrittenDate[] {
  return patterns.flatMap((pattern) => [...text.matchAll(pattern)].flatMap((match) => dateOf(match) ?? []));
}

type Field = 'y' | 'm' | 'd';

function dateOf(match: RegExpExecArray): WrittenDate | null {
  const { y = '', m, d, one, other, name: named } = match.groups ?? {};
  const month = named === undefined ? undefined : months.get(named.normalize('NFC').toLowerCase());
  if (named !== undefined && !month) return null;
  const places: Readonly<Record<string, Field>> = { y: 'y', m: 'm', name: 'm', d: 'd' };
  const orders: readonly Readonly<Record<string, Field>>[] =
    one === undefined
      ? [places]
      : [
          { y: 'y', one: 'd', other: 'm' },
          { y: 'y', one: 'm', other: 'd' },
        ];
  const read = orders.flatMap((order) => {
    const value = (field: Field) => {
      const group = Object.keys(order).find((each) => order[each] === field && match.groups?.[each] !== undefined);
      return group === 'name' ? (month?.index ?? 0) + 1 : Number(match.groups?.[group ?? '']);
    };
    const date = isoOf(y.length === 2 ? fullYear(Number(y)) : value('y'), value('m'), value('d'));
    return date === null ? [] : [{ date, order }];
  });
  if (read.length === 0 || (m ?? d ?? other ?? named) === undefined) return null;
  const spell = (date: string, order: Readonly<Record<string, Field>>) => {
    const [asYear = '', asMonth = '', asDay = ''] = date.split('-');
    const parts = { y: y.length === 2 ? asYear.slice(2) : asYear, m: asMonth, d: asDay };
    const places = Object.entries(match.indices?.groups ?? {})
      .flatMap(([group, range]) => (range && order[group] ? [{ group, range, field: order[group] }] : []))
      .toSorted((a, b) => a.range[0] - b.range[0]);
    let [made, done] = ['', match.index];
    for (const { group, range, field } of places) {
      const was = match.groups?.[group] ?? '';
      const part =
        group === 'name'
          ? likeWord(was, month?.calendar[Number(parts.m) - 1] ?? was)
          : was.length > 1
            ? parts[field]
            : String(Number(parts[field]));
      made += match.input.slice(done, range[0]) + part;
      [, done] = range;
    }
    return made + match.input.slice(done, match.index + match[0].length);
  };
  const [{ order: first = places } = {}] = read;
  return {
    start: match.index,
    end: match.index + match[0].length,
    readings: read.map(({ date }) => date),
    spell: (date) => spell(date, first),
  };
}

/** People who are alive were born in this century or the last one. */
const fullYear = (short: number) => (short > 30 ? 1900 : 2000) + short;

function isoOf(year: number, month: number, day: number): string | null {
  const isDate = year >= 1850 && year <= 2100 && month >= 1 && month <= 12 && day >= 1 && day <= 31;
  return isDate ? `${year}-${String(month).padStart(2, '0')}-${String(day).padStart(2, '0')}` : null;
}

function likeWord(like: string, word: string): string {
  if (like === like.toUpperCase()) return word.toUpperCase();
  return like === like.toLowerCase() ? word.toLowerCase() : word.charAt(0).toUpperCase() + word.slice(1);
}
