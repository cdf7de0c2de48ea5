import { type Random, randomStream } from '../random.ts';
import type { PersonalKind } from './kind.ts';
import { isLuhn } from './patterns.ts';
import { addressWords, inventedEnds, inventedMiddles, inventedOnsets, streetEndings, streets } from './words.ts';

/** A name that nobody has, so that a reader sees at once that it stands for another. */
function inventedName(random: Random): string {
  return `${random.pick(inventedOnsets)}${random.pick(inventedMiddles)}${random.pick(inventedEnds)}`;
}

/**
 * What stands for a value: of the same kind and shape, and always the same for the same seed.
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
      return inCase(value, inventedName(random));
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
      return dateFor(value, random);
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
  if (kind === 'iban') return plain.replace(/[^a-z0-9]/g, '');
  return plain;
}

/** A name in the case of what it stands for. */
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

/** The last eight digits stand for the subscriber, however the number is written. */
function phoneFor(value: string, seed: string, attempt: number): string {
  const digits = value.replace(/\D/g, '');
  const own = digits.slice(-8);
  const random = randomStream('masking', seed, 'phone', own, attempt);
  const tail = [...own].map((digit, index) =>
    index === 0 && digit !== '0' ? 1 + random.integer(9) : random.integer(10),
  );
  const head = digits.slice(0, -8);
  const country = value.startsWith('+') ? 2 : 1;
  const front = [...head].map((digit, index) => (index < country ? digit : String(1 + random.integer(9))));
  const made = [...front, ...tail];
  let at = 0;
  return value.replace(/\d/g, () => String(made[at++]));
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

function dateFor(value: string, random: Random): string {
  const year = String(1950 + random.integer(50));
  const [day, month] = [String(10 + random.integer(19)), `0${1 + random.integer(9)}`];
  const hasName = /\p{L}{3,}/u.test(value);
  let rest = hasName ? [day] : [day, month];
  // A month stands where two numbers may be told apart by neither: both are at most 12 days then.
  if (!hasName && !/^\d{4}/.test(value)) rest = [`0${1 + random.integer(9)}`, `0${1 + random.integer(9)}`];
  if (!hasName && /^\d{4}/.test(value)) rest = [month, day];
  let at = 0;
  return value.replace(/\d+/g, (part) => (part.length === 4 ? year : (rest[at++] ?? day)));
}
