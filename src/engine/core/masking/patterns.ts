import type { Found, PersonalKind } from './kind.ts';

const streets =
  'Street|St|Road|Rd|Lane|Ln|Way|Avenue|Ave|Close|Drive|Dr|Court|Ct|Square|Sq|Place|Pl|Boulevard|Blvd|Terrace|Crescent|Row|Hill|Park|Gardens|Grove|Mews|Highway|Hwy|Parkway|Pkwy|Trail|Circle';
const town = String.raw`(?:,[ \t]*\p{Lu}[\p{L}'’-]+(?![\p{L}\p{N}])(?:[ \t]\p{Lu}[\p{L}'’-]+(?![\p{L}\p{N}])){0,2})?`;
/** Streets of languages that put the word for it first: Calle Mayor 5. */
const streetsBefore =
  'Calle|C/|Avenida|Avda\\.?|Av\\.|Plaza|Paseo|Camino|Carrer|Via|Viale|Piazza|Corso|Rua|Praça|Travessa|[Uu]l\\.|[Uu]lica';
const article = '(?:de|del|della|di|da|do|dos|las?|los|el|san|santa)';
/** The last word of streets that begin as Am Alten Markt does. */
const places =
  'markt|platz|hof|berg|ring|bach|tor|see|wall|graben|park|anger|linden|eichen|wald|feld|garten|ufer|kirche|mühle';
const identified =
  'order|customer|account|booking|reservation|invoice|ticket|tracking|reference|case|contract|policy|claim|member|membership|loyalty|serial|passport|licen[cs]e|user|client|parcel|shipment|confirmation|transaction|subscription';

/**
 * Each pattern finds one kind; where a group `value` stands in it, that alone is the value. Parts that could go on for
 * ever have an end, far behind what real ones have: a log may hold a picture as one word of a megabyte.
 */
const patterns: readonly (readonly [PersonalKind, RegExp])[] = [
  [
    'email',
    /[\p{L}\p{N}._'+-]{0,127}[\p{L}\p{N}](?:@|%40)[\p{L}\p{N}](?:[\p{L}\p{N}-]{0,61}[\p{L}\p{N}])?(?:\.[\p{L}\p{N}-]{0,62}[\p{L}\p{N}]){1,9}/gu,
  ],
  [
    'email',
    /(?<![\p{L}\p{N}])(?:[\p{L}\p{N}._+-]{1,64} (?:dot|underscore|dash|hyphen|Punkt|Unterstrich|punto) ){0,3}[\p{L}\p{N}._+-]{1,128} ?[([]?(?:at|AT)[)\]]? ?[\p{L}\p{N}-]{1,63} ?[([]?(?:dot|DOT)[)\]]? ?\p{L}{2,6}\b/gu,
  ],
  ['iban', /(?<![\p{L}\p{N}])[A-Z]{2}\d{2}(?:[ -]?[A-Z0-9]{4}){2,7}(?:[ -]?[A-Z0-9]{1,4})?(?![\p{L}\p{N}])/gu],
  ['ip', /(?<![\p{N}.])(?:(?:25[0-5]|2[0-4]\d|1?\d?\d)\.){3}(?:25[0-5]|2[0-4]\d|1?\d?\d)(?![\p{N}]|\.\p{N})/gu],
  ['ip', /(?<![\p{L}\p{N}:])(?:[0-9a-fA-F]{1,4}:){2,7}(?::?[0-9a-fA-F]{1,4}){1,7}(?![\p{L}\p{N}:])/gu],
  [
    'address',
    new RegExp(
      String.raw`(?<![\p{L}\p{N}])\d{1,5}[a-zA-Z]?[ \t]+(?:\p{Lu}[\p{L}'’.-]*[ \t]+){1,3}(?:${streets})\b\.?${town}`,
      'gu',
    ),
  ],
  [
    'address',
    new RegExp(
      String.raw`(?<![\p{L}\p{N}])(?:\p{Lu}[\p{L}-]{0,40}[ -])?\p{Lu}[\p{L}-]{0,40}(?:straße|strasse|str\.|weg|platz|allee|gasse|ring|damm|ufer)[ \t]+\d{1,4}[a-z]?${town}`,
      'gu',
    ),
  ],
  [
    'address',
    new RegExp(
      String.raw`(?<![\p{L}\p{N}])\d{1,4},?[ \t]+(?:rue|avenue|boulevard|place|chemin|impasse)(?:[ \t]+(?:de|du|des|la|le|les|l'|d'))*(?:[ \t]*\p{Lu}[\p{L}'’-]+){1,3}${town}`,
      'gu',
    ),
  ],
  [
    'address',
    new RegExp(
      String.raw`(?<![\p{L}\p{N}])(?:${streetsBefore})[ \t]*(?:${article}[ \t]+){0,3}\p{Lu}[\p{L}'’-]+(?:[ \t]+(?:${article}[ \t]+){0,2}\p{Lu}[\p{L}'’-]+){0,3},?[ \t]+(?:n[º°.]?[ \t]*)?\d{1,4}[a-zA-Z]?(?![\p{L}\p{N}])${town}`,
      'gu',
    ),
  ],
  [
    'address',
    new RegExp(
      String.raw`(?<![\p{L}\p{N}])(?:\p{Lu}[\p{L}-]*(?:straat|laan|plein|gracht|kade|dijk|singel|gatan|vägen|gade|vej|veien|gata)|\p{Lu}[\p{L}-]+ (?:Str\.|Straße|Strasse|Weg|Platz|Allee|Gasse))[ \t]+\d{1,4}[a-zA-Z]?(?![\p{L}\p{N}])${town}`,
      'gu',
    ),
  ],
  [
    'address',
    new RegExp(
      String.raw`(?<![\p{L}\p{N}])(?:Am|An de[rnm]|Im|In de[rnm]|Auf de[rnm]|Zum|Zur|Unter den|Beim)[ ](?:\p{Lu}[\p{L}-]+[ ]){0,2}\p{Lu}?[\p{L}-]*(?:${places})[ ]\d{1,3}[a-z]?(?![\p{L}\p{N}])${town}`,
      'giu',
    ),
  ],
  ['address', /(?<![\p{L}\p{N}])(?:P\.?[ ]?O\.? Box|Postfach)[ \t]+\d+/gu],
  ['postcode', /(?<![\p{L}\p{N}])[A-Z]{1,2}\d[A-Z\d]? ?\d[A-Z]{2}(?![\p{L}\p{N}])/gu],
  [
    'postcode',
    /\b(?:post ?code|postal code|zip(?: ?code)?|PLZ)(?:'s)?(?: number)?(?: is| are|:|,)?[ \t]+(?:is[ \t]+)?(?<value>[\p{L}]{0,2}-?\d[\p{L}\d -]{1,7}[\p{L}\d])(?![\p{L}\p{N}])/giu,
  ],
  [
    'postcode',
    /\b(?:A[KLRZ]|C[AOT]|D[CE]|FL|GA|HI|I[ADLN]|K[SY]|LA|M[ADEINOST]|N[CDEHJMVY]|O[HKR]|PA|RI|S[CD]|T[NX]|UT|V[AT]|W[AIVY])[ ]+(?<value>\d{5}(?:-\d{4})?)(?!\d)/gu,
  ],
  ['postcode', /(?<=\d[a-zA-Z]?,[ ])[1-9]\d{3}[ ]?[A-Z]{2}(?=[ ]+\p{Lu}\p{Ll}+)/gu],
  ['postcode', /(?<![\p{L}\p{N}.,-])(?:D-)?(?<value>\d{5})(?=[ ]+\p{Lu}\p{Ll}+)/gu],
  [
    'card',
    /\b(?:ending(?: in| with)?|last (?:four|4)(?: digits)?(?: are| is|:| of [^.\d]{0,30})?|visa|mastercard|amex|maestro|discover|card)[ \t]+(?:number[ \t]+)?(?:is[ \t]+)?[x*•. -]{0,20}(?<value>\d{4})(?![\p{L}\p{N}]|[., -]?\d)/giu,
  ],
  [
    'card',
    /\b(?:cvv2?|cvc2?|security code|verification (?:value|code|number))(?: is|:)?[ \t]+(?:is[ \t]+)?(?<value>\d{3,4})(?![\p{L}\p{N}])/giu,
  ],
  [
    'birthDate',
    /(?<![\p{L}\p{N}])(?:geboren(?: am| op)?|geburtstag|geburtsdatum|geb\.|née? le|date de naissance|nacid[oa] el|fecha de nacimiento|nat[oa] il|data di nascita|nascid[oa] em|data de nascimento|geboortedatum|född(?: den)?|urodzon[ya])(?: ist| est| es| è| is|:)?(?: der| am| le| el| il)?[ \t]+(?<value>\d{1,4}[./-]\d{1,2}[./-]\d{1,4}|\d{1,2}[.º]?(?: de)? \p{L}{3,10}(?: de)?,? \d{4})/giu,
  ],
  [
    'birthDate',
    /\b(?:born(?: on)?|birth ?date|date of birth|birthday|dob|d\.o\.b\.)(?: is|:|,| was)?[ \t]+(?:on )?(?<value>\d{1,4}[./-]\d{1,2}[./-]\d{1,4}|\d{1,2}(?:st|nd|rd|th)?(?: of)? \p{L}{3,9},? \d{4}|\p{L}{3,9} \d{1,2}(?:st|nd|rd|th)?,? \d{4})/giu,
  ],
  [
    'id',
    new RegExp(
      String.raw`\b(?:${identified})s?(?:[ -]?(?:number|no\.?|nr\.?|id|code|ref(?:erence)?|#))*(?: is| was|:|,|=)?[ \t]*(?:is[ \t]+)?[#№]?(?<value>(?=[\p{L}\d_-]*\d[\p{L}\d_-]*\d)[\p{L}\d][\p{L}\d_-]{2,}[\p{L}\d])(?![\p{L}\p{N}])`,
      'giu',
    ),
  ],
  [
    'id',
    /(?<![\p{L}\p{N}])(?:(?:Bestell|Kunden|Rechnungs|Auftrags|Vertrags|Sendungs|Mitglieds|Konto)(?:nummer|-?nr\.?)|(?:bestel|klant|order|factuur|kund|faktura)nummer|(?:número|nº|n\.º|numero) (?:de |d['’] ?|di )?(?:pedido|cliente|factura|fatura|ordine|encomenda)|numéro de (?:commande|client|facture|contrat))(?: ist| lautet| is| es| é| è| est|:)?[ \t]+#?(?<value>(?=[\p{L}\d_-]*\d[\p{L}\d_-]*\d)[\p{L}\d][\p{L}\d_-]{2,}[\p{L}\d])(?![\p{L}\p{N}])/giu,
  ],
  ['id', /\bsort ?code(?: is|:)?[ \t]+(?<value>\d{2}[- ]?\d{2}[- ]?\d{2})(?![\p{L}\p{N}])/giu],
  [
    'id',
    /\b(?:(?:licen[cs]e|number|registration) plate|registration number|Kennzeichen|matrícula)(?: number)?(?: is|:| ist)?[ \t]+(?:is[ \t]+)?(?<value>(?=[A-Z \d-]{0,9}\d)[A-Z\d]{1,4}(?:[ -]?[A-Z\d]{1,4}){1,3})(?![\p{L}\p{N}])/gu,
  ],
  [
    'id',
    /\b(?:insta(?:gram)?|twitter|telegram|tiktok|snapchat|discord|skype)(?: handle| name| account| id| user(?:name)?)?(?: is|:)[ \t]+@?(?<value>[\p{L}\p{N}_][\p{L}\p{N}._-]+[\p{L}\p{N}_])/giu,
  ],
  ['id', /(?<![\p{L}\p{N}])[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}(?![\p{L}\p{N}])/giu],
  ['id', /(?<![\p{L}\p{N}.@])@[\p{L}\p{N}_]{3,}/gu],
  ['id', /[#№](?<value>(?=[\p{L}\d-]*\d)[\p{L}\d][\p{L}\d-]{2,})/gu],
  // A word of letters and digits that no one says: a code of some system.
  ['id', /(?<![\p{L}\p{N}_-])(?=[\p{L}\d]*\p{L})(?=(?:[\p{L}]*\d){3})[\p{L}\d]{5,}(?![\p{L}\p{N}])/gu],
];

const numbers =
  /(?<![\p{L}\p{N}.,$€£])(?:\+|\(\+?)?\d(?:[ \t\u00A0\u2009\u202F()./\u2010\u2011–-]{0,3}\d){6,}(?![\p{L}\p{N}]|[.,]\d)/gu;
const dates =
  /^\d{4}[-./]\d{1,2}[-./]\d{1,2}(?:[ T]+\d.*)?$|^\d{1,2}[-./ ]\d{1,2}[-./ ]\d{4}$|^\d{4} ?[–-] ?\d{4}$|^\d{4}[-./]\d{1,2}[-./]\d{1,2}.{1,4}\d{4}[-./]\d{1,2}[-./]\d{1,2}$/;
const phoneWords = /(?:phone|mobile|cell|tel|call|ring|reach|text|fax|whatsapp|contact|sms)[^.!?\n]{0,40}$/i;

/** Personal data that the shape of a text tells, or the words before it. */
export function patternsIn(text: string): readonly Found[] {
  const found = patterns.flatMap(([kind, pattern]) =>
    [...text.matchAll(pattern)].map((match): Found => {
      const value = match.groups?.['value'] ?? match[0];
      const start = match.index + match[0].lastIndexOf(value);
      return { kind, start, end: start + value.length };
    }),
  );
  return [...found, ...numbersIn(text)];
}

/** Seven digits and more that are no date: a phone number, a card, or the number of something. */
function numbersIn(text: string): readonly Found[] {
  return [...text.matchAll(numbers)].flatMap((match): readonly Found[] => {
    const [value] = match;
    if (dates.test(value)) return [];
    const span = { start: match.index, end: match.index + value.length };
    if (/^\s*(?:eur|usd|gbp|chf|€|\$|£)/i.test(text.slice(span.end, span.end + 20))) return [];
    return [{ kind: kindOfNumber(value, text.slice(Math.max(0, span.start - 60), span.start)), ...span }];
  });
}

function kindOfNumber(value: string, before: string): PersonalKind {
  const digits = value.replace(/\D/g, '');
  if (digits.length >= 13 && digits.length <= 19 && isLuhn(digits)) return 'card';
  if (digits.length > 15) return 'id';
  return /^(?:\+|\(|0)/.test(value) || /[ ()./-]/.test(value) || phoneWords.test(before) ? 'phone' : 'id';
}

/** Whether the last digit is the check digit of the others (ISO/IEC 7812-1). */
export function isLuhn(digits: string): boolean {
  const sum = [...digits].reverse().reduce((total, digit, index) => {
    const value = Number(digit) * (index % 2 === 1 ? 2 : 1);
    return total + (value > 9 ? value - 9 : value);
  }, 0);
  return sum % 10 === 0;
}
