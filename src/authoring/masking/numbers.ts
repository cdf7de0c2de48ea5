import parsePhoneNumber, { type CountryCode } from 'libphonenumber-js/min';
import { isValidPhoneNumber as isMobileNumber } from 'libphonenumber-js/mobile';
import type { Found, PersonalKind } from './kind.ts';
import {
  hasPrefixOfAmerica,
  mostDigits,
  type NumberRun,
  numberRunsIn,
  spanOf,
  textOf,
  withCountry,
} from './numberRuns.ts';
import type { Span } from './text/valueIndex.ts';

/** Words that announce a phone number. */
const phoneWords =
  /(?:phone|mobile|cell|t[eé]l|call|ring|reach|text|fax|whatsapp|contact|sms|电话|電話|手机|手機|携帯|전화|휴대폰|연락처)[^.!?\n]{0,40}$/iu;

/** Words that announce a number of a person: whose it is, or that it is a number. */
const announced =
  /(?<!\p{L})(?:my|our|his|her|their|your|meine?|mon|ma|mi|mio|mia|mijn|meu|minha|mój|moja|min|mitt|můj|moje)(?!\p{L})[^.!?\n\d]{0,40}$|(?:number|nummer|numer|n[uú]mero|numéro|číslo)(?!\p{L})[^.!?\n\d\p{L}]{0,4}(?:\p{L}{1,6}[^.!?\n\d\p{L}]{0,3})?$/iu;

/** Words and signs of an amount. One that has a digit behind it is of the next number. */
const currencies = String.raw`\p{Sc}|(?:eur|usd|gbp|chf|czk|pln|sek|nok|dkk|huf|jpy|Kč|zł|kr|Ft)(?!\p{L})`;
const currency = new RegExp(String.raw`^\s*(?:${currencies})(?!\s?\d)`, 'iu');
const currencyBefore = new RegExp(String.raw`(?<!\p{L})(?:${currencies})\s?$`, 'iu');
const unit =
  /^\s?(?:[%‰°]|(?:[kcmµ]?m|[kmµ]?g|[kmcd]?l|[kmgt]?i?b|bytes|[km]?wh?|m?s|t|h|euros?|korun|złotych|pesos)(?!\p{L}))/iu;

/**
 * Returns the cards, phone numbers and numbers of persons in a text: those of which the form is certain, and those that
 * the words before them announce. Any other number may be one of things.
 * @param lead the text before it
 */
export function numbersIn(text: string, lead = ''): readonly Found[] {
  const near = lead.slice(-60);
  return numberRunsIn(text).flatMap((groups) => {
    const isOne = groups.length === 1 || withCountry.test(textOf(text, groups));
    const found: Found[] = [];
    let from = 0;
    const addRest = (to: number) => {
      while (from < to) {
        const own = withoutNext(text, groups.slice(from, Math.min(to, from + mostGroupsOfRest)));
        const kind = kindOfRest(text, own, near, from === 0);
        if (kind !== null) found.push({ kind, ...spanOf(own) });
        from += own.length;
      }
    };
    for (let at = 0; at < groups.length && !isOne; at++) {
      const certain = certainFrom(text, groups, at);
      if (!certain) continue;
      addRest(at);
      from = at + certain.count;
      found.push({ kind: certain.kind, ...spanOf(groups.slice(at, from)) });
      at = from - 1;
    }
    addRest(groups.length);
    return found;
  });
}

/** No number has as many groups. */
const mostGroupsOfRest = 64;

/** Returns the kind of groups outside the certain numbers of a run. The words before a run are of its first number. */
function kindOfRest(text: string, groups: NumberRun, near: string, isFirst: boolean): PersonalKind | null {
  const { start, end } = spanOf(groups);
  const value = text.slice(start, end);
  const before = isFirst ? `${near}${text.slice(Math.max(0, start - 60), start)}`.slice(-60) : '';
  const hasPhoneWord = phoneWords.test(before);
  if (value.replace(/\D/g, '').length < 7 || isIsbn(value) || (isAmount(value) && !hasPhoneWord)) return null;
  if (currency.test(text.slice(end, end + 20))) return null;
  return certainKind(value) ?? (hasPhoneWord ? 'phone' : announced.test(before) ? 'id' : null);
}

/** Returns the groups of the first number, where those at the end are too many for it. */
function withoutNext(text: string, groups: NumberRun): NumberRun {
  const [first, ...others] = groups;
  if (!first || others.length === 0) return groups;
  const value = textOf(text, groups);
  if (/^[1-9]\d{6}/.test(value) && isBorder(between(text, first, others[0]))) return [first];
  const most = /^\(?(?:\+|00)/.test(value) ? 15 : /^\(?0/.test(value) ? 12 : mostDigits;
  let [count, digits] = [groups.length, value.replace(/\D/g, '').length];
  for (; count > 1; count--) {
    const last = groups[count - 1];
    if (!last || !isBorder(between(text, groups[count - 2], last))) break;
    const size = last.end - last.start;
    if (digits <= most && (most === mostDigits || size > 1)) break;
    digits -= size;
  }
  return digits < 7 ? groups : groups.slice(0, count);
}

/** No number that is next to others is in more groups. */
const mostGroups = 12;

/** Returns the card, or the longest other number of a certain form, that begins with a group of a run. */
function certainFrom(text: string, groups: NumberRun, at: number): { kind: PersonalKind; count: number } | null {
  let [found, digits]: [{ kind: PersonalKind; count: number } | null, number] = [null, 0];
  for (let to = at; to < Math.min(groups.length, at + mostGroups); to++) {
    const { start = 0, end = 0 } = groups[to] ?? {};
    digits += end - start;
    // A group may have a bracket and a sign as well.
    if (digits > mostDigits + 2) break;
    if (digits < 7) continue;
    const kind = kindWithin(text, groups, at, to);
    if (kind !== null) found = { kind, count: to - at + 1 };
    if (kind === 'card') break;
  }
  return found;
}

/** Returns the kind of some groups of a run, where their form or what is between them and the others is certain. */
function kindWithin(text: string, groups: NumberRun, at: number, to: number): PersonalKind | null {
  const { start, end } = spanOf(groups.slice(at, to + 1));
  const value = text.slice(start, end);
  const digits = value.replace(/\D/g, '');
  const isWhole = at === 0 && to === groups.length - 1;
  if (currency.test(text.slice(end, end + 20)) || isIsbn(value)) return null;
  if ((isWhole || cardGroups.test(value)) && isCard(digits)) return 'card';
  if (isInternational(value, digits)) return 'phone';
  if (isMobile(text, groups, at, to, value)) return 'phone';
  if (isWhole) return personNumbers.some((isOne) => isOne(value, digits)) ? 'id' : null;
  if (pairsOfFrance.test(value)) return 'phone';
  return isApart(text, groups, at, to) && !isAmount(value) ? certainKind(value) : null;
}

const between = (text: string, before: Span | undefined, after: Span | undefined): string =>
  before && after ? text.slice(before.end, after.start) : '';

/** Returns whether what is between two groups may be between two numbers. */
const isBorder = (joint: string) => /[\s/]/.test(joint);

/** Returns whether other signs are on both sides of some groups of a run than within them. */
function isApart(text: string, groups: NumberRun, at: number, to: number): boolean {
  const sides = [
    ...(at > 0 ? [between(text, groups[at - 1], groups[at])] : []),
    ...(to < groups.length - 1 ? [between(text, groups[to], groups[to + 1])] : []),
  ];
  const within = groups.slice(at, to).map((each, index) => between(text, each, groups[at + index + 1]));
  return sides.every((side) => isBorder(side) && !within.includes(side));
}

/** The groups in which cards are written. */
const cardGroups =
  /^\d{13,19}$|^\d{4}(?<sign>\D{1,3})\d{4}\k<sign>\d{4}\k<sign>\d{1,7}$|^\d{4}(?<of>\D{1,3})\d{6}\k<of>\d{4,5}$/;

/** A number of France that is written as pairs, which has ten digits. */
const pairsOfFrance = /^0[1-9](?<sign>[ .-])\d\d(?:\k<sign>\d\d){3}$/;

/** Countries where mobile phones are written in three groups of three. */
const inThrees: readonly CountryCode[] = ['ES', 'PL', 'CZ', 'PT'];

/**
 * Returns whether three groups of three are a mobile phone and not a larger amount or a part of one. Amounts that are
 * written so are round or have a currency.
 */
function isMobile(text: string, groups: NumberRun, at: number, to: number, value: string): boolean {
  if (!/^[1-9]\d\d \d{3} \d{3}$/.test(value) || value.endsWith('000')) return false;
  const [before, after] = [groups[at - 1], groups[to + 1]];
  if (before && between(text, before, groups[at]) === ' ' && before.end - before.start <= 3) return false;
  if (after && between(text, groups[to], after) === ' ' && after.end - after.start === 3) return false;
  const { start, end } = spanOf(groups.slice(at, to + 1));
  if (unit.test(text.slice(end, end + 10)) || currencyBefore.test(text.slice(Math.max(0, start - 5), start)))
    return false;
  return inThrees.some((country) => isMobileNumber(value, country));
}

/** Returns whether a number has the code of a country, also behind the prefix of North America, which is an area elsewhere. */
function isInternational(value: string, digits: string): boolean {
  if (/^\(?(?:\+|00)/.test(value)) return isValid(digits.replace(/^00/, ''));
  return hasPrefixOfAmerica(value) && isValid(digits.slice(3));
}

const isValid = (digits: string): boolean =>
  digits.length <= 15 && (parsePhoneNumber(`+${digits}`)?.isValid() ?? false);

function certainKind(value: string): PersonalKind | null {
  const digits = value.replace(/\D/g, '');
  if (isCard(digits)) return 'card';
  if (isPhone(value.trim(), digits)) return 'phone';
  return personNumbers.some((isOne) => isOne(value, digits)) ? 'id' : null;
}

/** Whether a number has cents, or groups of three as an amount has. */
const isAmount = (value: string) =>
  /^[1-9]\d*[.]\d\d$|^[1-9]\d{0,2}(?:([ \u00A0\u202F.])\d{3})(?:\1\d{3})*$/u.test(value);

/** Whether a number is that of a book, whose last digit checks the others (ISO 2108). */
function isIsbn(value: string): boolean {
  const digits = value.replace(/\D/g, '');
  const sum = [...digits].reduce((total, digit, at) => total + Number(digit) * (at % 2 === 1 ? 3 : 1), 0);
  return /^97[89]\d{10}$/.test(digits) && sum % 10 === 0;
}

/** The first digits and the lengths of the cards that are issued. */
const issued =
  /^(?:4\d{12}(?:\d{3}){0,2}|5[1-5]\d{14}|2(?:22[1-9]|2[3-9]\d|[3-6]\d\d|7[01]\d|720)\d{12}|3[47]\d{13}|3(?:0[0-5]|[68]\d)\d{11}|35(?:2[89]|[3-8]\d)\d{12}|62\d{14,17}|(?:50|5[6-9]|6\d)\d{10,17})$/;

const isCard = (digits: string) => issued.test(digits) && isLuhn(digits);

/** Whether the last digit is the check digit of the others (ISO/IEC 7812-1). */
export function isLuhn(digits: string): boolean {
  const sum = [...digits].reverse().reduce((total, digit, index) => {
    const value = Number(digit) * (index % 2 === 1 ? 2 : 1);
    return total + (value > 9 ? value - 9 : value);
  }, 0);
  return sum % 10 === 0;
}

/** Countries whose numbers are written without a zero before the area, in groups that other numbers do not have. */
const withoutZero: readonly CountryCode[] = ['US', 'MX', 'ES', 'IT', 'PT', 'PL', 'CZ', 'GR'];

/** Whether a number has the sign of a country, the zero of an area, or the groups of a country that writes no zero. */
function isPhone(value: string, digits: string): boolean {
  if (digits.length > 15 || digits.length < 7) return false;
  if (/^\(?\+/.test(value) || /^\(\d+\)/.test(value)) return true;
  const isBare = value === digits;
  if (value.startsWith('00')) return parsePhoneNumber(`+${digits.slice(2)}`)?.isValid() ?? false;
  if (value.startsWith('0')) return digits.length >= (isBare ? 10 : 8);
  return !isBare && withoutZero.some((country) => isWrittenAsIn(country, value));
}

function isWrittenAsIn(country: CountryCode, value: string): boolean {
  const number = parsePhoneNumber(value, country);
  const groups = (text: string) => text.replace(/\D+/g, ' ').trim();
  if (number?.country !== country || !number.isValid()) return false;
  return [number.formatNational(), number.formatInternational()].some((each) => groups(each) === groups(value));
}

/** Numbers that a country gives to persons: their groups, a date of birth or check digits show them. */
const personNumbers: readonly ((value: string, digits: string) => boolean)[] = [
  // Of the United States and Brazil.
  (value) => /^(?!000|666|9)\d{3}[- ]\d{2}[- ]\d{4}$|^\d{3}\.\d{3}\.\d{3}-\d{2}$/.test(value),
  // Of the Czech Republic and Slovakia, where the month also shows the sex.
  (value, digits) =>
    /^\d\d[0-8]\d[0-3]\d\/\d{4}$/.test(value) &&
    hasDate(
      `${digits.slice(0, 2)}${String((Number(digits.slice(2, 4)) % 50) % 20).padStart(2, '0')}${digits.slice(4, 6)}`,
    ) &&
    Number(digits) % 11 === 0,
  // Of Germany, where one of the first ten digits is there twice or three times.
  (_, digits) => {
    if (!/^[1-9]\d{10}$/.test(digits)) return false;
    const different = new Set(digits.slice(0, 10)).size;
    return (different === 9 || (different === 8 && /(\d)(?:\d*\1){2}/.test(digits.slice(0, 10)))) && isIso7064(digits);
  },
  // Of Sweden without its dash.
  (_, digits) =>
    /^(?:19|200)\d{9,10}$/.test(digits) &&
    digits.length === 12 &&
    hasDate(digits.slice(2, 8)) &&
    isLuhn(digits.slice(2)),
  // Of Sweden, Denmark and Korea.
  (value) => /^(?:19|20)?\d{6}[-+]\d{4}$|^\d{6}-\d{7}$/.test(value) && hasDate(value.replace(/[-+].*/, '').slice(-6)),
  // Of Poland, where the month also shows the century.
  (_, digits) =>
    digits.length === 11 &&
    hasDate(`${digits.slice(0, 2)}${Number(digits[2]) % 2}${digits.slice(3, 6)}`) &&
    weighed(digits, [1, 3, 7, 9, 1, 3, 7, 9, 1, 3, 1]) % 10 === 0,
  // Of China.
  (_, digits) =>
    /^\d{6}(?:19|20)\d{10}$/.test(digits) &&
    hasDate(digits.slice(8, 14)) &&
    weighed(digits, [7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2, 1]) % 11 === 1,
  // Of France.
  (_, digits) =>
    /^[12]\d\d(?:0[1-9]|1[0-2])\d{10}$/.test(digits) &&
    BigInt(digits.slice(0, 13)) % 97n === 97n - BigInt(digits.slice(13)),
];

/** Whether the last digit is the check digit of the others (ISO 7064, MOD 11,10). */
function isIso7064(digits: string): boolean {
  const product = [...digits.slice(0, -1)].reduce((last, digit) => {
    const sum = (last + Number(digit)) % 10 || 10;
    return (2 * sum) % 11;
  }, 10);
  return (11 - product) % 10 === Number(digits.at(-1));
}

const weighed = (digits: string, weights: readonly number[]) =>
  weights.reduce((sum, weight, at) => sum + weight * Number(digits[at]), 0);

/** Whether six digits are a date, with its year first or last. */
function hasDate(digits: string): boolean {
  const [first = 0, month = 0, last = 0] = (digits.match(/\d\d/g) ?? []).map(Number);
  return month >= 1 && month <= 12 && [first, last].some((day) => day >= 1 && day <= 31);
}
