import type { Json, JsonObject } from '../../engine/core/values/json.ts';
import { withTwoLetters } from './nameForms.ts';
import { rememberedByName } from './rememberedByName.ts';
import { matchesOf } from './text/matches.ts';
import { type Span, withoutAccents } from './text/valueIndex.ts';

/** A date in a text, with each way to read it as `YYYY-MM-DD`, and another date in its spelling. */
export type WrittenDate = Span & { readonly readings: readonly string[]; readonly spell: (date: string) => string };

const languages = 'en de fr es it pt nl pl sv da nb fi cs sk sl hr sr hu ro bg ru uk el tr lt lv et ca id vi'.split(
  ' ',
);

/** Words before or behind a date of birth, by language: where the month has one name in several, they show which it is. */
export const wordsForBirth = {
  en: String.raw`born|birth ?date|date of birth|birth ?day|dob|d\.o\.b\.`,
  de: String.raw`geboren|geburtstag|geburtsdatum|geb\.`,
  fr: 'née?(?= )|naissance',
  es: 'nacid[oa]|nací|nacimiento|cumpleaños',
  it: "nat[oa](?= (?:il|l['’]))|nascita",
  pt: 'nasci(?:d[oa]|mento)?|nasceu',
  nl: 'geboren|geboortedatum',
  pl: String.raw`urodz\p{L}{1,6}|ur\.`,
  sv: 'född|födelsed(?:ag|atum)',
  cs: String.raw`naro(?:zen|di)\p{L}{0,3}|nar\.`,
} as const;

const isOfLanguage = new Map(
  Object.entries(wordsForBirth).map(([language, words]) => {
    return [language, new RegExp(String.raw`(?<![\p{L}\p{N}])(?:${words})(?![\p{L}\p{N}])`, 'iu')] as const;
  }),
);

/** Returns whether the name of a field is of a birth, by the words for one in any language. */
export const isOfBirth = rememberedByName((field): boolean => {
  const words = field.normalize('NFC').replace(/(?<=\p{Ll})(?=\p{Lu})|_/gu, ' ');
  return /birth/i.test(words) || [...isOfLanguage.values()].some((each) => each.test(words));
});

/** Returns whether a text is a date, which a time may follow. */
export const isDate = (text: string): boolean =>
  datesIn(text).some(({ start, end }) => start === 0 && /^(?:[T ]\d{2}:\d{2}\S*)?$/.test(text.slice(end)));

/** The names of the months in one form of a language, in some of which a month has another form beside a day. */
type Calendar = { readonly language: string; readonly names: readonly string[]; readonly date: string };

const calendars: readonly Calendar[] = languages.flatMap((language) => {
  const whole = new Intl.DateTimeFormat(language, { day: 'numeric', month: 'long', year: 'numeric', timeZone: 'UTC' });
  const date = whole.format(Date.UTC(2000, 0, 14));
  return (['long', 'short'] as const).flatMap((month) =>
    [{ month }, { month, day: 'numeric' } as const].map((form) => {
      const written = new Intl.DateTimeFormat(language, { ...form, timeZone: 'UTC' });
      const names = Array.from({ length: 12 }, (_, index) => {
        const parts = written.formatToParts(Date.UTC(2000, index, 1));
        return (
          parts
            .find(({ type }) => type === 'month')
            ?.value.replace(/\.$/, '')
            .normalize('NFC') ?? ''
        );
      });
      return { language, names, date };
    }),
  );
});

/** A month of a calendar. */
type Month = { readonly calendar: Calendar; readonly index: number };

/** The calendars of each month name, which may be without its accents. */
const months = new Map<string, Month[]>();
for (const calendar of calendars)
  for (const [index, name] of calendar.names.entries()) {
    const key = name.toLowerCase();
    for (const each of new Set([key, withTwoLetters(key) ?? key, withoutAccents(key)]))
      if (/^\p{L}{3,}$/u.test(each)) months.set(each, [...(months.get(each) ?? []), { calendar, index }]);
  }
const german = calendars.find(({ language }) => language === 'de');
if (german) months.set('mrz', [{ calendar: german, index: 2 }]);

const numerals = 'I II III IV V VI VII VIII IX X XI XII'.split(' ');
const roman: Calendar = { language: '', names: numerals, date: '14 I 2000' };
for (const [index, name] of numerals.entries()) months.set(name.toLowerCase(), [{ calendar: roman, index }]);

const [dotted, joined] = [/\d\. ?\p{L}/u, /(?<!\p{L})de(?!\p{L})/u];

/** Whether a word is the name of a month in some language. */
export const isMonth = (word: string): boolean => months.has(word.normalize('NFC').toLowerCase());

/** Returns the month that a name means in the language that the words and the form of its date show. */
function monthOf(name: string, { 0: written, input }: RegExpExecArray): Month | undefined {
  const named = name.normalize('NFC');
  const score = ({ calendar: { language, names, date }, index }: Month) =>
    (isOfLanguage.get(language)?.test(input) ? 8 : 0) +
    [dotted, joined].filter((each) => each.test(written) === each.test(date)).length * 2 +
    (names[index] === named ? 1 : 0);
  const [first, ...others] = months.get(named.toLowerCase()) ?? [];
  return first && others.reduce((best, each) => (score(each) > score(best) ? each : best), first);
}

const [start, end] = [String.raw`(?<![\p{L}\p{N}])`, String.raw`(?!\p{N})`];
const year = String.raw`['’]?(?<y>\d{4}|\d{2})`;
const name = String.raw`(?<name>\p{L}[\p{L}\p{M}]{2,11})\.?`;
const nameOrNumeral = String.raw`(?<name>[IVX]{1,4}(?!\p{L})|\p{L}[\p{L}\p{M}]{2,11})\.?`;
const ordinal = String.raw`(?<ordinal>\p{L}{1,2}(?![\p{L}\p{M}])|[º°])`;
/** Matches two numbers that could each be the day. */
const either = String.raw`(?<one>\d{1,2})(?<sign>\s?[./_|-]\s?| )(?<other>\d{1,2})`;
const patterns = [
  String.raw`(?<y>\d{4})(?<sign>\s?[./,_|-]\s?| )(?<m>\d{1,2})\k<sign>(?<d>\d{1,2})`,
  String.raw`(?<y>\d{4})\s?[年년]\s?(?<m>\d{1,2})\s?[月월]\s?(?<d>\d{1,2})\s?[日일]`,
  String.raw`${either}\k<sign>${year}`,
  String.raw`(?<one>\d{2})(?<other>\d{2})(?<y>\d{2})`,
  String.raw`(?<y>\d{2})(?<m>\d{2})(?<d>\d{2})`,
  String.raw`(?<y>\d{4})(?<m>\d{2})(?<d>\d{2})`,
  String.raw`(?<one>\d{2})(?<other>\d{2})(?<y>\d{4})`,
  String.raw`(?<d>\d{1,2})(?:\.?${ordinal}|\.)?[ ./-]{0,3}(?:(?:(?:day )?of|de|d['’])[ ]?)?${nameOrNumeral}[ ,./-]{1,3}(?:del?[ ])?${year}`,
  String.raw`(?<d>\d{1,2}) tháng (?<m>\d{1,2})(?:,? năm|,)? (?<y>\d{4})`,
  String.raw`${name}[ ](?:the )?(?<d>\d{1,2})${ordinal}?,?[ ]['’]?(?<y>\d{4}|(?<=['’])\d{2})`,
  String.raw`(?<y>\d{4})[. -]{1,2}(?:m\. )?${name}[ -](?<d>\d{1,2})`,
].map((pattern) => new RegExp(`${start}${pattern}${end}`, 'dgu'));

/** Returns the dates of a text, in the spellings of about thirty languages. */
export function datesIn(text: string): readonly WrittenDate[] {
  if (!/\d/.test(text)) return [];
  const spaced = text.replace(/[\u00a0\u2009\u202f]/g, ' ');
  return patterns.flatMap((pattern) => matchesOf(pattern, spaced).flatMap((match) => dateOf(match) ?? []));
}

/** Matches what is written like a date, also one that no calendar has and one whose month has another name. */
export const dateLike = String.raw`\d{1,4}[./-]\d{1,2}[./-]\d{1,4}|\d{1,2}\. \d{1,2}\. \d{4}|\d{1,2}[ ./-]{1,2}\p{L}{3,12}[ ./-]{1,2}\d{2,4}|\d{1,2}(?:st|nd|rd|th)?(?: of)? \p{L}{3,9},? \d{4}|\p{L}{3,9} \d{1,2}(?:st|nd|rd|th)?,? \d{4}|\d{1,2}[.º]?(?: de)? \p{L}{3,10}(?: de)?,? \d{4}`;
const likeDate = new RegExp(dateLike, 'giu');

const wordForBirth = new RegExp(
  String.raw`(?<![\p{L}\p{N}])(?:${Object.values(wordsForBirth).join('|')})(?![\p{L}\p{N}])`,
  'giu',
);
/** Matches parts of these words, which are searched faster. */
const partOfBirth = /born|birth|dob|d\.o|geb|né|na[cirst]|cumple|urodz|ur\.|föd/iu;
/** Matches a field whose value is a date as Python prints it. */
const fieldOfDate =
  /(?<field>[\p{L}_]{3,40})["']?[ ]?[:=][ ]?datetime\.date(?:time)?\((?<value>\d{4}, \d{1,2}, \d{1,2})/gu;

/** Returns where a text has dates of birth, as the words before or behind them show. */
export function birthDatesIn(text: string): readonly Span[] {
  if (!/\d/.test(text)) return [];
  const fields = (text.includes('datetime') ? matchesOf(fieldOfDate, text) : [])
    .filter(({ groups }) => isOfBirth(groups?.['field'] ?? ''))
    .map(({ 0: whole, index, groups }) => {
      const end = index + whole.length;
      return { start: end - (groups?.['value'] ?? '').length, end };
    });
  const words = (partOfBirth.test(text) ? matchesOf(wordForBirth, text) : []).flatMap(({ 0: word, index }) => {
    const from = Math.max(0, index - mostBeside);
    const end = index + word.length;
    const before = hasDateBehind.test(text.slice(end)) ? [] : datesFrom(text, from, index);
    return [
      ...before.filter((each) => !isBare(text, each) && isBeforeWord.test(text.slice(each.end, index))),
      ...datesFrom(text, end, end + mostBeside).filter((each) =>
        (isBare(text, each) ? isNextToWord : isBehindWord).test(text.slice(end, each.start)),
      ),
    ];
  });
  return [...fields, ...words];
}

/** Whether a date is digits alone: these are the number of something else, unless they are next to the word for a birth. */
const isBare = (text: string, { start, end }: Span) => /^\d+$/.test(text.slice(start, end));

/** Returns the dates of a part of a text, and what is written like one where it has no date. */
function datesFrom(text: string, from: number, to: number): readonly Span[] {
  const part = text.slice(from, to);
  const dates: readonly Span[] = datesIn(part);
  const others = matchesOf(likeDate, part)
    .map(({ 0: value, index }) => ({ start: index, end: index + value.length }))
    .filter((each) => !dates.some(({ start, end }) => start < each.end && end > each.start));
  return [...dates, ...others].map(({ start, end }) => ({ start: start + from, end: end + from }));
}

/** The most signs before or behind a word for a birth in which its date is looked for. */
const mostBeside = 80;
const isBehindWord = /^(?:[ \t]?\([^()\n]{1,20}\))?(?:[^\p{N}.!?\n]{0,25}[^\p{L}\p{N}])?$/u;
const isNextToWord = /^[^\p{L}\p{N}.!?\n]{1,3}(?:\p{L}{2,3}[ ])?$/u;
const isBeforeWord = /^[^\p{N}.,!?\n]{0,25}$/u;
const hasDateBehind = /^[^.!?\n]{0,20}\d/u;

type Field = 'y' | 'm' | 'd';

function dateOf(match: RegExpExecArray): WrittenDate | null {
  const { y = '', m, d, one, other, sign, ordinal, name: named } = match.groups ?? {};
  const month = named === undefined ? undefined : monthOf(named, match);
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
  // In a program a number that begins with a zero is not a decimal number.
  const isPlain = sign?.startsWith(',') === true || ordinal !== undefined;
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
          ? likeWord(was, month?.calendar.names[Number(parts.m) - 1] ?? was)
          : was.length > 1 && !isPlain
            ? parts[field]
            : String(Number(parts[field]));
      made += match.input.slice(done, range[0]) + part;
      [, done] = range;
      const behind = field === 'd' ? match.indices?.groups?.['ordinal'] : undefined;
      if (behind) [made, done] = [made + ordinalOf(Number(parts.d), match.groups?.['ordinal'] ?? ''), behind[1]];
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

const ordinals = new Intl.PluralRules('en', { type: 'ordinal' });
const endings: Readonly<Partial<Record<Intl.LDMLPluralRule, string>>> = {
  one: 'st',
  two: 'nd',
  few: 'rd',
  other: 'th',
};

/** Returns what follows the number of a day where another day is followed by `like`. */
function ordinalOf(day: number, like: string): string {
  if (/^(?:st|nd|rd|th)$/i.test(like)) return likeWord(like, endings[ordinals.select(day)] ?? like);
  // In the Romance languages only the first day of a month is an ordinal.
  return day !== 1 && /^(?:er|[º°o])$/i.test(like) ? '' : like;
}

function likeWord(like: string, word: string): string {
  if (like === like.toUpperCase()) return word.toUpperCase();
  return like === like.toLowerCase() ? word.toLowerCase() : word.charAt(0).toUpperCase() + word.slice(1);
}

/** Returns the date of a timestamp in seconds or milliseconds as `YYYY-MM-DD`, if somebody may be born then. */
export function dateOfTimestamp(value: string): { readonly date: string; readonly unit: number } | null {
  if (!/^-?\d{5,14}$/.test(value)) return null;
  const found = [1000, 1].map((unit) => ({ unit, at: Number(value) * unit })).find(({ at }) => at > first && at < last);
  return found ? { date: new Date(found.at).toISOString().slice(0, 10), unit: found.unit } : null;
}

const [first, last] = [Date.UTC(1900, 0, 1), Date.UTC(2030, 0, 1)];

/** A date whose parts are fields, with the fields of another one. */
export type DateFields = {
  readonly date: string;
  /** The part of the names of the fields beside `day`, `month` and `year`. */
  readonly field: string;
  readonly spell: (date: string) => JsonObject;
};

/** Returns the dates in an object that has a day, a month and a year as fields. */
export function dateFieldsIn(object: JsonObject): readonly DateFields[] {
  const parts = Object.entries(object).flatMap(([key, value]) => {
    const [, before = '', part = '', behind = ''] =
      /^(.*?)[ _-]?(day|month|year)[ _-]?(?:of[ _-]?)?(.*)$/i.exec(key) ?? [];
    const number = typeof value === 'string' && /^\d{1,4}$/.test(value) ? Number(value) : value;
    const named = typeof value === 'string' ? months.get(value.normalize('NFC').toLowerCase())?.[0] : undefined;
    const isNumber = typeof number === 'number' && Number.isInteger(number);
    if (part === '' || !(isNumber || named)) return [];
    const count = named ? named.index + 1 : Number(number);
    return [{ key, field: `${before}${behind}`.toLowerCase(), part: part.toLowerCase(), value, count, named }];
  });
  const lists = Object.entries(object).flatMap(([key, value]) => dateOfParts(key, value) ?? []);
  const groups = [...Map.groupBy(parts, ({ field }) => field)].flatMap(([field, own]): readonly DateFields[] => {
    const [year, month, day] = ['year', 'month', 'day'].map((name) => own.find(({ part }) => part === name));
    const date = year && month && day && own.length === 3 ? isoOf(year.count, month.count, day.count) : null;
    if (!year || !month || !day || date === null) return [];
    const spell = (other: string) =>
      Object.fromEntries(
        other.split('-').map((text, at): [string, Json] => {
          const { key, value, named } = [year, month, day][at] ?? year;
          if (typeof value === 'number') return [key, Number(text)];
          const name = named && likeWord(String(value), named.calendar.names[Number(text) - 1] ?? '');
          return [key, name ?? (String(value).startsWith('0') ? text : String(Number(text)))];
        }),
      );
    return [{ date, field, spell }];
  });
  return [...lists, ...groups];
}

/** Returns the date of a field whose value is a list of a year, a month and a day. */
function dateOfParts(key: string, value: Json): DateFields | null {
  if (!Array.isArray(value) || value.length !== 3) return null;
  const [year, month, day] = value.map((each) => (/^\d{1,4}$/.test(String(each)) ? Number(each) : 0));
  const date = isoOf(year ?? 0, month ?? 0, day ?? 0);
  if (date === null) return null;
  const like = (part: string, of: Json) => (typeof of === 'string' ? part : Number(part));
  return {
    date,
    field: key.toLowerCase(),
    spell: (other) => ({ [key]: other.split('-').map((part, at) => like(part, value[at] ?? null)) }),
  };
}
