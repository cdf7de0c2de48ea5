import parsePhoneNumber from 'libphonenumber-js/min';
import { type Random, randomStream } from '../../engine/core/values/random.ts';
import { dateOfTimestamp } from './dates.ts';
import type { PersonalKind } from './kind.ts';
import { hasPrefixOfAmerica } from './numberRuns.ts';
import { isLuhn } from './numbers.ts';
import { withoutAccents } from './text/valueIndex.ts';
import { addressWords, inventedEnds, inventedMiddles, inventedOnsets, streetEndings, streets } from './words.ts';

/** Attempts after which names are longer: there are 3,200 short ones, and logs with more names. */
const attemptsOfShort = 12;

/** A name that no one has, so that a reader sees at once that it replaces another. */
function inventedName(random: Random, attempt: number): string {
  const rest = () => `${random.pick(inventedMiddles)}${random.pick(inventedEnds)}`;
  return `${random.pick(inventedOnsets)}${rest()}${attempt < attemptsOfShort ? '' : rest()}`;
}

/**
 * Returns the replacement of a value: of the same kind and shape, and always the same for the same seed.
 * @param attempt a number that gives another one, where the first is taken
 * @param nameFor the stand-in of a word of a name, for what is made of names
 */
export function standInFor(
  kind: PersonalKind,
  value: string,
  seed: string,
  attempt: number,
  nameFor: (word: string) => string,
): string {
  const random = randomStream('masking', seed, kind, keyOf(kind, value), attempt);
  switch (kind) {
    case 'name':
      return inCase(value, inventedName(random, attempt));
    case 'email':
      return emailFor(value, random, nameFor);
    case 'card':
      return cardFor(value, random);
    case 'iban':
      return value.slice(0, 2) + reshaped(value.slice(2), random);
    case 'ip':
      return ipFor(value, random);
    case 'phone':
      return phoneFor(value, seed, attempt);
    case 'address':
      return value.replace(/[\p{L}'’]+|\d+/gu, (part) => (isStreetWord(part) ? part : partFor(part, random, nameFor)));
    case 'birthDate':
      return timestampFor(value, seed) ?? dateFor(value, random);
    case 'id':
      return /^[0-9a-f-]{32,}$/i.test(value) ? hexFor(value, random) : reshaped(value, random);
    case 'postcode':
      return reshaped(value, random);
    default:
      throw new Error(`unknown kind ${String(kind satisfies never)}`);
  }
}

/** Values that differ in nothing that matters have one stand-in. */
export function keyOf(kind: PersonalKind, value: string): string {
  const plain = value.normalize('NFC').toLowerCase();
  if (kind === 'phone' || kind === 'card') return plain.replace(/\D/g, '');
  if (kind === 'email') return plain.replace(' @ ', '@');
  if (kind === 'iban') return plain.replace(/[^a-z0-9]/g, '');
  if (kind === 'id' && /^\d[\d ./-]*\d$/.test(plain)) return plain.replace(/\D/g, '');
  return kind === 'name' ? withoutAccents(plain) : plain;
}

/** A name in the case of what it replaces. */
export function inCase(like: string, name: string): string {
  if (like.toUpperCase() === like.toLowerCase()) return name;
  if (like.length > 1 && like === like.toUpperCase()) return name.toUpperCase();
  if (like === like.toLowerCase()) return name.toLowerCase();
  return name[0]?.toUpperCase() + name.slice(1).toLowerCase();
}

/** Digits for digits and letters for letters. A number does not begin with another zero than it did. */
function reshaped(value: string, random: Random): string {
  let isFirst = true;
  return value.replace(/\p{Lu}|\p{Ll}|\d/gu, (sign) => {
    if (!/\d/.test(sign)) return String.fromCharCode((/\p{Lu}/u.test(sign) ? 65 : 97) + random.integer(26));
    const digit = isFirst && sign !== '0' ? 1 + random.integer(9) : random.integer(10);
    isFirst = false;
    return String(digit);
  });
}

function hexFor(value: string, random: Random): string {
  return value.replace(/[0-9a-f]/gi, (sign) => {
    const made = random.integer(16).toString(16);
    return /[A-F]/.test(sign) ? made.toUpperCase() : made;
  });
}

const streetWords = new RegExp(`^(?:${streets}|${addressWords})$`, 'i');
const isStreetWord = (part: string) => streetWords.test(part);

const germanEnding = new RegExp(`(?:${streetEndings}|str)$`);

function partFor(part: string, random: Random, nameFor: (word: string) => string): string {
  if (/^\d/.test(part)) return reshaped(part, random);
  const ending = germanEnding.exec(part)?.[0] ?? '';
  return part.length < 2 ? part : `${nameFor(part)}${ending}`;
}

function emailFor(value: string, random: Random, nameFor: (word: string) => string): string {
  const [local = ''] = value.split(
    /@|%40| ?(?<![\p{L}\p{N}])[([]?(?:at|arroba|arobase|chiocciola|ät)[)\]]?(?![\p{L}\p{N}]) ?/iu,
  );
  const masked = local.replace(/\p{L}+|\d+/gu, (part) =>
    /\d/.test(part) ? reshaped(part, random) : nameFor(part).toLowerCase(),
  );
  const at = value.includes('%40') ? '%40' : '@';
  return `${masked}${at}${random.pick(['example.com', 'example.net', 'example.org'])}`;
}

/** The first digit says whose card it is. No stand-in is a number that could be charged. */
function cardFor(value: string, random: Random): string {
  const made = value[0] + reshaped(`0${value.slice(1)}`, random).slice(1);
  const digits = made.replace(/\D/g, '');
  if (digits.length < 13 || !isLuhn(digits)) return made;
  const last = Number(digits.at(-1));
  return made.replace(/\d(?=\D*$)/, String((last + 1) % 10));
}

/**
 * The country and the prefix of a number stay. Its other digits are drawn from its last one on, so that the same number
 * has the same stand-in with 00, with + and without a country.
 */
function phoneFor(value: string, seed: string, attempt: number): string {
  const digits = value.replace(/\D/g, '');
  const random = randomStream('masking', seed, 'phone', digits.slice(-8), attempt);
  const kept = digits.length - nationalLength(value, digits);
  const made = [...digits]
    .toReversed()
    .map((digit) => String(otherDigit(Number(digit), random)))
    .toReversed();
  let at = 0;
  return value.replace(/\d/g, (digit) => {
    const index = at++;
    return index < kept ? digit : String(made[index]);
  });
}

/** Returns a digit from 1 to 9 that is another one. */
function otherDigit(digit: number, random: Random): number {
  const made = 1 + random.integer(digit === 0 ? 9 : 8);
  return digit > 0 && made >= digit ? made + 1 : made;
}

/** Returns how many digits a number has without its country, and without the zero that some write before the rest. */
export function nationalLength(value: string, digits: string): number {
  const isBare = digits === value.trim() && digits.length > 10 && !digits.startsWith('0');
  const number = parsePhoneNumber(
    value
      .trim()
      .replace(hasPrefixOfAmerica(value.trim()) ? /^011/ : /^\(?(?:\+|00)/, '+')
      .replace(/^(?=\d)/, isBare ? '+' : ''),
  );
  const isNumber = number !== undefined && (!isBare || number.isValid());
  return isNumber ? number.nationalNumber.replace(/^0+/, '').length : digits.replace(/^0+/, '').length;
}

function ipFor(value: string, random: Random): string {
  if (/^(?:[0-9a-f]{2}[:-]){5}[0-9a-f]{2}$/i.test(value)) return macFor(value, random);
  if (!value.includes(':')) return `10.${random.integer(256)}.${random.integer(256)}.${1 + random.integer(254)}`;
  const group = () => (4096 + random.integer(61_440)).toString(16);
  return `2001:db8:${group()}:${group()}::${group()}`;
}

/** The address of a device that no maker gives: its first pair says that it was set locally. */
function macFor(value: string, random: Random): string {
  const made = `02${hexFor(value.slice(2).replace(/[a-f]/gi, '0'), random)}`;
  return /[A-F]/.test(value) ? made.toUpperCase() : made;
}

/**
 * Returns the stand-in of a date of birth. Where day and month could be each other, their stand-ins could, too: the same
 * spelling of both readings is then the same date.
 */
export function birthDateFor(date: string, seed: string): string {
  const [year = '', month = 0, day = 0] = date.split('-').map((part, index) => (index === 0 ? part : Number(part)));
  const [low, high] = [Math.min(Number(month), Number(day)), Math.max(Number(month), Number(day))];
  const isEither = high <= 12;
  for (let attempt = 0; ; attempt++) {
    const random = randomStream('masking', seed, 'birthDate', isEither ? `${year}-${low}-${high}` : date, attempt);
    const made = [
      1950 + random.integer(50),
      1 + random.integer(12),
      isEither ? 1 + random.integer(12) : 13 + random.integer(16),
    ];
    const [asYear = 0, one = 0, other = 0] = made;
    if (String(asYear) === year || (isEither && (one === other) !== (low === high))) continue;
    const [first, last] = isEither ? [Math.min(one, other), Math.max(one, other)] : [one, other];
    const [asMonth, asDay] = isEither && Number(month) === high ? [last, first] : [first, last];
    return [asYear, String(asMonth).padStart(2, '0'), String(asDay).padStart(2, '0')].join('-');
  }
}

/** Returns the timestamp of the replacement of its date, at the same time of day; null for what is not a timestamp. */
function timestampFor(value: string, seed: string): string | null {
  const found = dateOfTimestamp(value);
  if (!found) return null;
  const moved = Date.parse(birthDateFor(found.date, seed)) - Date.parse(found.date);
  return String(Number(value) + moved / found.unit);
}

function dateFor(value: string, random: Random): string {
  const year = String(1950 + random.integer(50));
  const [day, month] = [String(10 + random.integer(19)), `0${1 + random.integer(9)}`];
  const hasName = /\p{L}{3,}/u.test(value);
  let rest = hasName ? [day] : [day, month];
  // A month is where two numbers may be distinguished by neither: both are at most 12 days then.
  if (!hasName && !/^\d{4}/.test(value)) rest = [`0${1 + random.integer(9)}`, `0${1 + random.integer(9)}`];
  if (!hasName && /^\d{4}/.test(value)) rest = [month, day];
  let at = 0;
  return value.replace(/\d+/g, (part) => (part.length === 4 ? year : (rest[at++] ?? day)));
}
