import parsePhoneNumber, { type CountryCode } from 'libphonenumber-js/min';
import type { Found, PersonalKind } from './kind.ts';
import { matchesOf } from './matches.ts';
import type { Span } from './valueIndex.ts';

/** Seven digits and more, with signs between them. */
const numbers =
  /(?<![\p{L}\p{N}.,\p{Sc}])(?:\+|\(\+?)?\d(?:[ \t\u00A0\u2009\u202F()./\u2010\u2011–-]{0,3}\d){6,}(?![\p{L}\p{N}]|[.,]\d)/gu;
const dates =
  /^\d{4}[-./]\d{1,2}[-./]\d{1,2}(?:[ T]+\d.*)?$|^\d{1,2}[-./ ]\d{1,2}[-./ ](?:19|20)\d{2}(?:[ T]+\d.*)?$|^\d{1,2}[-./ ]\d{1,2}[-./ ]\d{4}$|^\d{4} ?[–-] ?\d{4}$|^\d{4}[-./]\d{1,2}[-./]\d{1,2}.{1,4}\d{4}[-./]\d{1,2}[-./]\d{1,2}$/;

/** Words that announce a phone number. */
const phoneWords =
  /(?:phone|mobile|cell|t[eé]l|call|ring|reach|text|fax|whatsapp|contact|sms|电话|電話|手机|手機|携帯|전화|휴대폰|연락처)[^.!?\n]{0,40}$/iu;

/** Words that announce a number of a person: whose it is, or that it is a number. */
const announced =
  /(?<!\p{L})(?:my|our|his|her|their|your|meine?|mon|ma|mi|mio|mia|mijn|meu|minha|mój|moja|min|mitt|můj|moje)(?!\p{L})[^.!?\n\d]{0,40}$|(?:number|nummer|numer|n[uú]mero|numéro|číslo)(?!\p{L})[^.!?\n\d\p{L}]{0,4}(?:\p{L}{1,6}[^.!?\n\d\p{L}]{0,3})?$/iu;

const currency = /^\s*(?:\p{Sc}|(?:eur|usd|gbp|chf|czk|pln|sek|nok|dkk|huf|jpy|Kč|zł|kr|Ft)(?!\p{L}))/iu;

/** Returns the numbers in a text that may be of a person, without dates. */
export const longNumbersIn = (text: string): readonly Span[] =>
  matchesOf(numbers, text).flatMap(({ 0: value, index }) =>
    dates.test(value) ? [] : [{ start: index, end: index + value.length }],
  );

/**
 * Returns the cards, phone numbers and numbers of persons in a text: those of which the form is certain, and those that
 * the words before them announce. Any other number may be one of things.
 * @param lead the text before it
 */
export function numbersIn(text: string, lead = ''): readonly Found[] {
  const near = lead.slice(-60);
  return longNumbersIn(text).flatMap((span): readonly Found[] => {
    const value = text.slice(span.start, span.end);
    const before = `${near}${text.slice(Math.max(0, span.start - 60), span.start)}`.slice(-60);
    const hasPhoneWord = phoneWords.test(before);
    if (isIsbn(value) || (isAmount(value) && !hasPhoneWord)) return [];
    if (currency.test(text.slice(span.end, span.end + 20))) return [];
    const kind = certainKind(value) ?? (hasPhoneWord ? 'phone' : announced.test(before) ? 'id' : null);
    return kind === null ? [] : [{ kind, ...span }];
  });
}

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

const weighed = (digits: string, weights: readonly number[]) =>
  weights.reduce((sum, weight, at) => sum + weight * Number(digits[at]), 0);

/** Whether six digits are a date, with its year first or last. */
function hasDate(digits: string): boolean {
  const [first = 0, month = 0, last = 0] = (digits.match(/\d\d/g) ?? []).map(Number);
  return month >= 1 && month <= 12 && [first, last].some((day) => day >= 1 && day <= 31);
}
