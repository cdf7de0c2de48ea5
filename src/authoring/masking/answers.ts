import { dateLike } from './dates.ts';
import type { Found, PersonalKind } from './kind.ts';
import { answeredNamesIn, isNoName } from './names.ts';
import { noAnswer, particles, streets } from './words.ts';

/*
 * What somebody is asked for tells what the answer is: "What is the PIN?" and then "4821". Only whole parts of an answer
 * are looked at, as commas and sentences make them, without the words that lead to the value ("it's", "my PIN is").
 */

type Part = { readonly text: string; readonly start: number };
type Asked = {
  readonly kind: PersonalKind;
  readonly question: RegExp;
  /** A value as one part of the answer. */
  readonly value: RegExp;
  /** Whether it may be a word of the language, so that a refusal has to be distinguished from it. */
  readonly isWord?: boolean;
};

const digits = (min: number, max: number) => new RegExp(String.raw`^\d(?:[ -]?\d){${min - 1},${max - 1}}$`, 'u');
const code = /^#?(?=[\p{L}\d-]*\d)[\p{L}\d]+(?:-[\p{L}\d]+){0,4}$/u;

const asked: readonly Asked[] = [
  {
    kind: 'postcode',
    question: /\b(?:zip(?: ?code)?|post ?code|postal code|PLZ|Postleitzahl|code postal|código postal)\b/iu,
    value: /^(?=.{3,10}$)(?=\P{N}*\d)(?:[A-Z]{1,2}[ -]?)?[A-Z\d]{2,5}(?:[ -][A-Z\d]{2,4})?$/iu,
  },
  {
    kind: 'card',
    question: /\b(?:cvv2?|cvc2?|security code|(?:four|4) digits? (?:of|on) (?:the|your) (?:credit |debit )?card)\b/iu,
    value: digits(3, 4),
  },
  {
    kind: 'id',
    question:
      /\b(?:pin|pass ?code|access code|verification code|one[ -]time code|otp|(?:four|six|4|6)[ -]digit|code (?:we|i) (?:just )?sent|last (?:four|4|three|3|six|6)|ssn|social security|social insurance|national insurance)\b/iu,
    value: digits(3, 10),
  },
  {
    kind: 'phone',
    question: /\b(?:(?:phone|mobile|cell|telephone|contact|fax)\b|(?:reach|call|text) you\b)/iu,
    value: /^(?:\+|\(\+?)?\d(?:[ ()./-]{0,3}\d){5,15}$/u,
  },
  { kind: 'id', question: /\b(?:number|nummer|n[uú]mero|numéro)\b/iu, value: digits(7, 20) },
  {
    kind: 'id',
    question:
      /\b(?:account|customer|member(?:ship)?|policy|order|booking|reservation|confirmation|reference|passport|licen[cs]e|tax|loyalty|insurance|case|ticket)(?:'s)? (?:number|no|id|code|reference)\b/iu,
    value: new RegExp(String.raw`(?=^.{4,24}$)(?=(?:\P{N}*\d){2})${code.source}`, 'u'),
  },
  {
    kind: 'id',
    question:
      /\b(?:pass ?words?|pass ?phrase|passwort|kennwort|mot de passe|contraseña|secret word|memorable word)(?![\p{L}])(?!.{0,20}\b(?:re)?set\b)/iu,
    value: /^["'`]?[^\s"'`,;]{4,200}$/u,
    isWord: true,
  },
  {
    kind: 'id',
    question: /\b(?:user ?name|user[ -]id|login name|screen name|nickname|handle)\b/iu,
    value: /^@?[\p{L}\p{N}][\p{L}\p{N}._-]{2,60}$/u,
    isWord: true,
  },
  {
    kind: 'birthDate',
    question:
      /\b(?:date of birth|birth ?date|birth ?day|born|dob|geburtsdatum|geboren|date de naissance|fecha de nacimiento|data di nascita)\b/iu,
    value: new RegExp(`^(?:${dateLike})$`, 'iu'),
  },
];

const theName =
  /\b(?:your|a|the) (?:(?:full|first|last|given|family|middle|maiden|legal|complete) (?:and (?:full|first|last|given|family) )?)?(?:names?|surname)(?! of the (?:product|item|shop|store|company|city|hotel|tool|file))\b|\b(?:full|first|last|given|family|middle|maiden) names?\b|\bsurname\b|\b(?:and|or) (?:your )?name\b|\bnames? (?:on|is|was|for) (?:the|your|this|it) ?(?:account|order|booking|reservation|card|policy)?\b|(?:for|in|under) (?:what|which) name|\bwho(?:m)? (?:am i|i(?:['’]m| am)|do i have the pleasure of|is the (?:account|card) ?holder)|\bwhat (?:should|can|may|shall) (?:i|we) call you|^(?:and )?names?(?:, please)?[?:]?$|wie hei(?:ß|ss)en sie|\bihr(?:en)? (?:vollständigen )?namen?\b|\bvotre nom\b|comment vous appelez|\bsu nombre\b|cómo se llama|nombre completo|come si chiama|\bil suo nome\b|\buw naam\b|\bseu nome\b/iu;
const theAddress =
  /\b(?:(?:street|home|postal|mailing|billing|shipping|delivery|current|new|full|your|the) address(?!ed)|where (?:do you live|should (?:we|i|it) (?:ship|send|deliver|be (?:sent|delivered))))\b/iu;
const noPostalAddress = /\b(?:e-?mail|ip|mac|web) ?address/iu;

/** Whether a sentence asks for information; "Have you changed your password?" wants a yes or a no. */
function asks(sentence: string): boolean {
  const isWhat =
    /\b(?:what|which|whom?|whose|where|provide|tell|give|share|confirm|verify|enter|type|spell|state|need|(?:may|can|could|might) (?:i|we)|under)\b/iu;
  const closed =
    /^(?:(?:and|so|ok|okay)[, ]+)?(?:do|did|does|have|has|had|is|are|was|were|would|should|shall|will)\b/iu;
  if (/\b(?:reset|chang\w+|forg[eo]t\w*|updat\w+|choos\w+|creat\w+)\b/iu.test(sentence)) return false;
  if (closed.test(sentence) && !/\b(?:tell|give|share|provide)\b/iu.test(sentence)) return false;
  if (/[?:]\s*$/u.test(sentence)) return true;
  return isWhat.test(sentence) || /\bplease\b/iu.test(sentence);
}

const lead =
  /^(?:sure|yes|yeah|yep|yup|ok|okay|of course|certainly|hi|hello|hey|well|so|um|uh|oh|and|it['’]?s|it is|that['’]?s|that is|that would be|it should be|this is|here you go|i am|i['’]m|i live (?:at|in|on)|they['’]?re|they are|is|are|was|my|the|full|first|last|four|digits|family|given|surname|names?(?:['’]s)?|zip(?: ?code)?|post ?code|postal code|pin|code|pass ?word|passcode|number|account|address|street|user ?name|date of birth|birthday|dob|born|on|mrs?|ms|miss|dr|[:=–—-])(?:(?![\p{L}\p{N}])\.?[ \t:=]*)/iu;
const tail =
  /(?:[ \t]+(?:please|thanks|thank you|sir|ma['’]?am|i think|i believe|i guess|here|is my \p{L}+|is the \p{L}+))+$|[\s"'`.!?)]+$/iu;

function bare({ text, start }: Part): Part {
  let from = text.length - text.trimStart().length;
  for (let found = lead.exec(text.slice(from)); found && found[0] !== ''; found = lead.exec(text.slice(from)))
    from += found[0].length;
  let end = text.length;
  for (let found = tail.exec(text.slice(from, end)); found; found = tail.exec(text.slice(from, end)))
    end = from + found.index;
  return { text: text.slice(from, end), start: start + from };
}

function partsOf(text: string, between: RegExp): readonly Part[] {
  let at = 0;
  return text.split(between).map((part) => {
    const start = text.indexOf(part, at);
    at = start + part.length;
    return bare({ text: part, start });
  });
}

/** An answer to a question for a value is short; what continues is a text like any other. */
const longest = 300;

/** The values that a text asks for. */
export type Question = {
  readonly values: readonly Asked[];
  readonly isForName: boolean;
  readonly isForAddress: boolean;
};

/** Returns what a text asks for. */
export function questionIn(text: string): Question {
  const sentences = text.slice(-2000).split(/(?<=[.!?:])\s+|\n+/u);
  const open = sentences.map((each) => each.trim()).filter((each) => asks(each));
  return {
    values: asked.filter(({ question }) => open.some((each) => question.test(each))),
    isForName: open.some((each) => theName.test(each)),
    isForAddress: open.some((each) => theAddress.test(each) && !noPostalAddress.test(each)),
  };
}

/** Personal data that a text is known to hold because it answers a question. */
export function answersIn({ values, isForName, isForAddress }: Question, answer: string): readonly Found[] {
  const found: Found[] = isForName ? [...answeredNamesIn(answer)] : [];
  if (answer.length > longest || (values.length === 0 && !isForName && !isForAddress)) return found;
  const add = (kind: PersonalKind, { text, start }: Part) =>
    void (text === '' || found.push({ kind, start, end: start + text.length }));
  const parts = partsOf(answer, /[,;\n]+|[.!?](?=\s|$)|[ \t]+(?:and|but)[ \t]+/u);
  for (const { kind, value, isWord = false } of values) {
    // Its own date has commas.
    const all = kind === 'birthDate' ? [bare({ text: answer, start: 0 }), ...parts] : parts;
    const told = all.find(({ text }) => value.test(text) && !(isWord && isRefusal(text)));
    if (told) add(kind, told);
  }
  if (isForName) for (const each of namesAnswered(answer)) add('name', each);
  if (isForAddress) for (const each of addressesAnswered(answer)) add('address', each);
  return found;
}

const isRefusal = (text: string) => isNoName(text) || noAnswer.has(text.toLowerCase());

/** The first part of which every word may be one of a name, and what is written large behind its comma. */
function namesAnswered(answer: string): readonly Part[] {
  const parts = partsOf(answer, /[,;\n]+|[.!?](?=\s|$)|[ \t]+(?:and|but)[ \t]+/u);
  const isName = ({ text }: Part) => {
    const words = text.split(/[ \t]+/u);
    if (words.length > 5 || !words.every((each) => /^\p{L}[\p{L}\p{M}'’.-]*$/u.test(each))) return false;
    const isLarge = words.every((each) => /^\p{Lu}/u.test(each) || particles.includes(each));
    return (isLarge || words.length <= 3) && !words.some((each) => each.length > 1 && isRefusal(each));
  };
  const first = parts.findIndex((each) => each.text !== '');
  const [one, other] = [parts[first], parts[first + 1]];
  if (!one || !isName(one)) return [];
  const isForm = other && /^\p{Lu}\p{L}+(?: \p{Lu}\p{L}+)?$/u.test(other.text) && isName(other);
  return isForm && !/\s/u.test(one.text) && /^,\s*$/u.test(answer.slice(one.start + one.text.length, other.start))
    ? [one, other]
    : [one];
}

const streetWord = new RegExp(`\\b(?:${streets}|House|Cottage|Farm)\\b`, 'iu');

/** An address is a row of words written large and of numbers; its parts are repeated alone. */
function addressesAnswered(answer: string): readonly Part[] {
  const [line = ''] = answer.split(/[.!?](?=\s|$)|\n/u).filter((each) => each.trim() !== '');
  const whole = bare({ text: line, start: answer.indexOf(line) });
  const words = whole.text.match(/[\p{L}\p{N}'’./#-]+/gu) ?? [];
  const isLarge = words.every((each) =>
    /^(?:[\p{Lu}\p{N}#]|(?:of|the|on|upon|and|at|by|in|apt|flat|unit|floor|no|de|la|du|st)\b)/u.test(each),
  );
  const isSmall =
    /^\d|,/u.test(whole.text) &&
    streetWord.test(whole.text) &&
    !words.some((each) => isRefusal(each) && each.length > 2);
  if (words.length < 2 || words.length > 14 || !(isLarge || isSmall) || isRefusal(words[0] ?? '')) return [];
  const parts = partsOf(whole.text, /,/u).map(({ text, start }) => ({ text, start: start + whole.start }));
  return [whole, ...parts.filter(({ text }) => text !== whole.text && /\s/u.test(text))];
}
