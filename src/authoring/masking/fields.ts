import type { Json, JsonObject } from '../../engine/core/values/json.ts';
import type { PersonalKind } from './kind.ts';
import { isNoName } from './names.ts';
import { rememberedByName } from './rememberedByName.ts';
import { isEastAsian } from './text/script.ts';
import { nationalIds } from './words.ts';

const person =
  'user|customer|passenger|pax|guest|recipient|contact|card ?holder|holder|client|patient|member|caller|owner|sender|buyer|account|driver|employee|spouse|travell?er|tenant|beneficiary|applicant|subscriber|attendee|payee|payer|student';
/** The words for a customer and a recipient in these languages, and other ones for a recipient in English. */
const personAbroad =
  'cliente?|kund(?:e|in)?|klant|klient(?:ka)?|zakazni(?:k|ce)|empfanger(?:in)?|destinatari[ao]|destinataire|ontvanger|geadresseerde|odbiorca|mottagare|prijem(?:ce|kyne)|consignee|addressee|attn|(?:ship|bill|sold|deliver)(?:ed)? ?to';
/** Matches the start of a word: `examplemail` does not contain the word `email`, and `customeremail` does. */
const begin = `(?:(?<![a-z])|${person}|home|work|business|private|billing|shipping|primary)`;
const partOfName = 'first|last|full|given|family|middle|maiden|sur|fore|nick|display|legal|real|billing|shipping';
const ofAddress = `${person}|home|work|billing|shipping|delivery|mailing|postal|residential`;

/** The words of a field's name at its end, each after a space. Diacritics are gone from them. */
const atEnd = (words: string) => new RegExp(`(?:^| |${person})(?:${words})$`);

/*
 * Words for fields in Czech, Dutch, French, German, Italian, Polish, Portuguese, Spanish and Swedish, without diacritics.
 */
const namesAbroad =
  'vorname|nachname|familienname|zuname|kundenname|cognome|cognom|prenom|nom ?de ?famille|nom ?complet|voornaam|achternaam|klantnaam|imie|nazwisko|fornamn|efternamn|prijmeni|apellidos?|nombre ?completo|nome ?completo|sobrenome|apelido';
const birthDatesAbroad =
  'geburtsdatum|geburtstag|data ?di ?nascita|date ?de ?naissance|geboortedatum|data ?urodzenia|fodelsedatum|datum ?narozeni|fecha ?de ?nacimiento|data ?de ?nascimento';
const addressesAbroad =
  'adresse|anschrift|strasse|indirizzo|adres|adress|adresa|ulica|ulice|direccion|endereco|straat|calle';
/** Matches names of people as of things, like `name`. */
const nameOfAnything = /^(?:names?|nom|nombre|nome|naam|namn|jmeno)$/;

const nationalId = new RegExp(`(?:^| )(?:${nationalIds})(?: ?(?:number|nummer|nr|no|card))?$`);

/** Returns whether a field holds the number that a country gives to a person, which may have spaces. */
export const isNationalId = rememberedByName((name): boolean => nationalId.test(plainFieldName(name)));

/** By the name without its signs, or by its words with a space between them. */
const byName: readonly (readonly [RegExp, PersonalKind])[] = [
  [new RegExp(`^e?mail(address)?$|${begin}e ?mail`), 'email'],
  [/^ip(address|v4|v6)?$|(?:^| )(?:ip|mac) ?address$|remoteaddr|clientip/, 'ip'],
  [new RegExp(`(?:${begin}|tele|cell|smart)phone|${begin}mobile|^tel$|^fax$|msisdn`), 'phone'],
  [
    atEnd(
      'telefon(?:o|e)?(?:nummer|ni cislo)?|telefoon(?:nummer)?|mobilnummer|handynummer|cellulare|celular|movil|telemovel|komorka|gsm',
    ),
    'phone',
  ],
  [new RegExp(`(?:${begin}|bank)iban`), 'iban'],
  [/card(number|no)|creditcard|debitcard|^pan$|lastfour|last4|^(?:card)?(?:cvv2?|cvc2?|securitycode)$/, 'card'],
  [/^login$/, 'name'],
  [atEnd(`(?:${partOfName}|${person}) ?names?|surname|forename|addressee|name on card|${namesAbroad}`), 'name'],
  [
    new RegExp(
      `postcode|postalcode|${begin}zip(?!p)|^plz$|^postleitzahl$|^codigopostal$|^codepostal$|^kodpocztowy$|^psc$|^postnummer$`,
    ),
    'postcode',
  ],
  [
    new RegExp(
      `^line[12]$|(?:^| |[a-z])address(?: ?line)? ?\\d?$|(?:^| )street(?: name)?$|^(?:(?:${ofAddress}) )?(?:city|town)$|(?:^| )(?:${addressesAbroad})$`,
    ),
    'address',
  ],
  [atEnd(`dob|birthday|birth ?date|date ?of ?birth|${birthDatesAbroad}`), 'birthDate'],
  [nationalId, 'id'],
  [/(^|[a-z])(id|ids|number|nummer|numer|sortcode|no|nr|ref|reference|uuid|guid|ssn|passport|iccid|imei|vin)$/, 'id'],
];

const secret =
  /(?:^| )(?:pass ?(?:word|code|phrase)|passwd|pwd|secret|pin(?: ?code)?|otp|(?:api|access|private|secret) ?key|(?:access|auth|bearer|refresh|session) ?token)$/;

/** Returns whether the value of a field opens something, so that it is not shown whatever it looks like. */
export const isSecretField = rememberedByName((name): boolean => secret.test(plainFieldName(name)));

/** The same in Chinese, Japanese and Korean. */
const eastAsianFields: readonly (readonly [RegExp, PersonalKind])[] = [
  [/^(?:客户|用户|顾客|收件人|收货人|联系人|乘客|会员)?(?:姓名|名字)$|^(?:收件人|收货人|联系人|持卡人)$/, 'name'],
  [/^(?:お客様|顧客|会員)?(?:氏名|名前|お名前|お客様名|顧客名)$|^(?:姓|名)$/, 'name'],
  [/^(?:고객|회원|사용자|수령인)?\s?(?:이름|성명|성함)$|^(?:고객명|회원명|수령인|예금주)$/, 'name'],
  [/邮箱|郵箱|电子邮件|メール|이메일|전자우편/, 'email'],
  [/电话|電話|手机|手機|携帯|전화|휴대폰|연락처/, 'phone'],
  [/地址|住址|住所|주소/, 'address'],
];

/** Fields whose end is that of an id, and that count or measure something. */
const measures = /amount|price|total|(?<!ac)count|quantity|turn|step|page|size|version|line(number|no)|phonenumber/;

/** Returns what the value of a field is by the field's name; null where the name says nothing. */
export const kindOfField = rememberedByName((name): PersonalKind | null => {
  if (isEastAsian(name)) return eastAsianFields.find(([pattern]) => pattern.test(name.trim()))?.[1] ?? null;
  const words = plainFieldName(name);
  if (nameOfAnything.test(words)) return null;
  const bare = words.replaceAll(' ', '');
  const found = byName.find(([pattern]) => pattern.test(bare) || pattern.test(words))?.[1] ?? null;
  return found === 'id' && measures.test(bare) ? null : found;
});

/** The words of a field's name with a space between them, in lower case and without diacritics: `Geburtsdatum`, `imie`. */
const plainFieldName = rememberedByName((name): string =>
  name
    // What is in brackets says which one is meant: `name (legal)`.
    .replace(/^([^()]+)\(([^()]+)\)\s*$/, '$2 $1')
    .normalize('NFD')
    .replace(/\p{M}/gu, '')
    .replace(/[łŁ]/g, 'l')
    .replace(/ß/g, 'ss')
    .replace(/(?<=[a-z\d])(?=[A-Z])/g, ' ')
    .replace(/[^A-Za-z0-9]+/g, ' ')
    .trim()
    .toLowerCase(),
);

/** Returns whether a field says by its name alone, or by that and what is beside it, that its value may be personal. */
export const isPersonalField = (name: string): boolean =>
  kindOfField(name) !== null ||
  isSecretField(name) ||
  [nameOfAnything, personField].some((each) => each.test(plainFieldName(name)));

const personField = new RegExp(
  `(?:^| )(?:(?:${person}|${personAbroad})s?|(?:emergency )?contact(?: person)?|(?:booked|reserved|ordered|signed|approved|requested) ?(?:by|for)|assignee|requester)$`,
);

/** Returns whether a field that is called by what a person is, such as `customer`, holds that person's full name. */
export function isNamedPerson(field: string, value: string): boolean {
  return isPersonWord(field) && (fullName.test(value) || airlineName.test(value));
}

/** Matches a surname and a first name as airlines write them. */
const airlineName = /^\p{Lu}{2,}\/\p{Lu}{2,}$/u;

const fullName = /^(?:\p{Lu}[\p{L}\p{M}'’.-]*,?[ \t]+)+(?:[\p{Ll}\p{M}'’]{1,4}[ \t]+){0,2}\p{Lu}[\p{L}\p{M}'’.-]*$/u;

/** Returns whether a field is called by what a person is, as who speaks is in a transcript. */
export const isPersonWord = rememberedByName((name): boolean => personField.test(plainFieldName(name)));

/** Returns whether words behind a colon may be a value of a kind, and not a sentence. */
export function mayBe(kind: PersonalKind, value: string): boolean {
  if (kind === 'name')
    return (
      /^(?:\p{Lu}|\p{Lo})/u.test(value) &&
      /^[\p{L}\p{M}'’.·・, -]{2,80}$/u.test(value) &&
      value.split(/\s+/).length <= 5 &&
      !value.split(/\s+/).some((word) => word.length > 1 && isNoName(word))
    );
  if (kind === 'email') return /@/.test(value);
  return /\d/.test(value);
}

const ofPerson = new RegExp(
  `customer|user|passenger|person|contact|owner|member|patient|guest|client|recipient|account|profile|caller|travell?er|employee|kund|klant|klient|^billing$|(?:^| )(?:holder|sender|buyer|payee|applicant)$|(?:^| )(?:billing|delivery|home|mailing|shipping) ?address$|(?:^| )(?:${personAbroad})s?$`,
);
const besideKinds: readonly (PersonalKind | null)[] = ['email', 'phone', 'name', 'postcode', 'birthDate'];
const besideName = /birth|customer_?id|user_?id|address/i;
/** Fields of one person's place, beside which a full name is that of the person. */
const besideFullName = /^(?:seat|ticket)(?: ?(?:no|nr|number|id))?$/;

/** Whether a field that is called `name` alone is of a person: by what it is in, and by what is next to it. */
export function isPersonName(field: string, value: string, beside: JsonObject, within: string): boolean {
  if (
    !nameOfAnything.test(plainFieldName(field)) ||
    !/^\p{L}[\p{L}'’.·・-]*(?:,?[ 　]\p{L}[\p{L}'’.-]*){0,4}$/u.test(value)
  )
    return false;
  const keys = Object.keys(beside);
  if (keys.some(isOfPerson) || Object.values(beside).some(isEmailAddress)) return true;
  if (isThing(keys)) return false;
  if (ofPerson.test(plainFieldName(within)) || keys.some((key) => besideName.test(key))) return true;
  const mayBePerson = fullName.test(value) && !value.split(/\s+/).some(isNoName);
  return mayBePerson && keys.some((key) => besideFullName.test(plainFieldName(key)));
}

const isEmailAddress = (value: Json | undefined) =>
  typeof value === 'string' && /^[^\s@]+@[^\s@]+\.\p{L}+$/u.test(value);

const isOfPerson = (key: string) => besideKinds.includes(kindOfField(key)) && !/display|nick/i.test(key);

/** Returns whether an object has the parts of a name alone: `{"first": …, "last": …}`. */
export const hasPartsOfName = ({ first, last, given, family }: JsonObject): boolean =>
  [
    [first, last],
    [given, family],
  ].some((pair) => pair.every((each) => typeof each === 'string' && wordsOfName.test(each) && !isNoName(each)));

const wordsOfName = /^\p{Lu}[\p{L}\p{M}'’ -]*$/u;

/** Returns what a field of a name means: `first` is a first name there. */
export const fieldOfName = (field: string): string =>
  /^(?:first|given|last|family)$/i.test(field) ? `${field} name` : field;

const itemField = /^(?:(?:unit|list|sale|net) )?price$|^(?:in )?stock$|^(?:sku|ean|isbn|asin|gtin|upc|colou?r)$/;
const nameOfItem = /^(?:product|item|article)s?$/;

/** Returns whether a field is a name, whose parts may be fields of it: `{"name": {"first": …, "last": …}}`. */
export const isNameField = (field: string): boolean =>
  nameOfAnything.test(plainFieldName(field)) || kindOfField(field) === 'name';

/** Returns whether fields are of an item: then the name among them is not of a person. */
export function isThing(fields: readonly string[]): boolean {
  const words = fields.map(plainFieldName);
  return (
    words.some((each) => itemField.test(each)) &&
    !words.some((each) => nameOfItem.test(each)) &&
    !fields.some(isOfPerson)
  );
}
