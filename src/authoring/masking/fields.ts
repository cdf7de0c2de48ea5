import type { JsonObject } from '../../engine/core/values/json.ts';
import type { PersonalKind } from './kind.ts';
import { isEastAsian } from './script.ts';

const person =
  'user|customer|passenger|guest|recipient|contact|holder|cardholder|client|patient|member|caller|owner|sender|buyer|account';
/** Matches the start of a word: `examplemail` does not contain the word `email`, and `customeremail` does. */
const begin = `(?:(?<![a-z])|${person}|home|work|business|private|billing|shipping|primary)`;

/** By the name without its signs, or by its words with a space between them. */
const byName: readonly (readonly [RegExp, PersonalKind])[] = [
  [new RegExp(`^e?mail(address)?$|${begin}e ?mail`), 'email'],
  [new RegExp(`(?:${begin}|tele|cell|smart)phone|${begin}mobile|^tel$|^fax$|msisdn`), 'phone'],
  [new RegExp(`(?:${begin}|bank)iban`), 'iban'],
  [/card(number|no)|creditcard|debitcard|^pan$|lastfour|last4/, 'card'],
  [new RegExp(`^(first|last|full|given|family|middle|maiden|sur|nick|display|${person})names?$|^addressee$`), 'name'],
  [new RegExp(`postcode|postalcode|${begin}zip(?!p)|^plz$`), 'postcode'],
  [
    /^(address|street|addressline\d?|line[12]|shippingaddress|billingaddress|deliveryaddress|homeaddress|address[12]|city|town)$/,
    'address',
  ],
  [/^ip(address|v4|v6)?$|remoteaddr|clientip/, 'ip'],
  [/^(dob|birthday|birthdate|dateofbirth)$/, 'birthDate'],
  [/(^|[a-z])(id|ids|number|no|nr|ref|reference|uuid|guid|ssn|passport|iccid|imei|vin)$/, 'id'],
];

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
const measures = /amount|price|total|count|quantity|turn|step|page|size|version|line(number|no)|phonenumber/;

/** Returns what the value of a field is by the field's name; null where the name says nothing. */
export function kindOfField(name: string): PersonalKind | null {
  if (isEastAsian(name)) return eastAsianFields.find(([pattern]) => pattern.test(name.trim()))?.[1] ?? null;
  const bare = name.replace(/[^A-Za-z0-9]/g, '').toLowerCase();
  const words = wordsOf(name);
  const found = byName.find(([pattern]) => pattern.test(bare) || pattern.test(words))?.[1] ?? null;
  return found === 'id' && measures.test(bare) ? null : found;
}

/** The words of a field's name with a space between them, in lower case. */
const wordsOf = (name: string) =>
  name
    .replace(/(?<=[a-z\d])(?=[A-Z])/g, ' ')
    .replace(/[^A-Za-z0-9]+/g, ' ')
    .trim()
    .toLowerCase();

const personField = new RegExp(
  `^(?:${person}|booked ?(?:by|for)|reserved ?(?:by|for)|ordered ?by|assignee|requester)$`,
);

/** Returns whether a field that is called by what a person is, such as `customer`, holds that person's full name. */
export function isNamedPerson(field: string, value: string): boolean {
  return personField.test(wordsOf(field)) && fullName.test(value);
}

const fullName = /^(?:\p{Lu}[\p{L}\p{M}'’.-]*[ \t]+)+(?:[\p{Ll}\p{M}'’]{1,4}[ \t]+){0,2}\p{Lu}[\p{L}\p{M}'’.-]*$/u;

const ofPerson =
  /customer|user|passenger|person|contact|owner|member|patient|guest|client|recipient|account|profile|caller|traveller|traveler|employee/i;
const besideName = /mail|phone|first_?name|last_?name|surname|postcode|zip|birth|dob|customer_?id|user_?id|address/i;

/** Whether a field that is called `name` alone is of a person: by what it is in, and by what is next to it. */
export function isPersonName(value: string, beside: JsonObject, within: string): boolean {
  if (!/^\p{L}[\p{L}'’.·・-]*(?:[ 　]\p{L}[\p{L}'’.-]*){0,4}$/u.test(value)) return false;
  return ofPerson.test(within) || Object.keys(beside).some((key) => besideName.test(key));
}
