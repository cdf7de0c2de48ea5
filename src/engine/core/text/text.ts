import { memo } from '../values/memo.ts';
import { spelled } from './spelling.ts';

/** One sentence of an utterance, plain (see `plain`), without its full stop. */
export type Sentence = { readonly text: string; readonly question: boolean };

const contractions: readonly (readonly [RegExp, string])[] = [
  [/\b(can't|cant|can not|cannt)\b/g, 'cannot'],
  [/\b(won't|wont)\b/g, 'will not'],
  [/\bshan'?t\b/g, 'shall not'],
  [/\bain'?t\b/g, 'is not'],
  [/\b(do|does|did|is|are|was|were|has|have|had|would|could|should|must|need|might)n'?t\b/g, '$1 not'],
  [/\blet'?s\b/g, 'let us'],
  [
    /\b(that|this|what|it|there|here|where|how|who|everything|something|nothing|when|why|he|she|all|which)'s\b/g,
    '$1 is',
  ],
  [/\b(that|what|where|how|there|here)s\b/g, '$1 is'],
  [/\bi'?m\b/g, 'i am'],
  [/\bi'?ve\b/g, 'i have'],
  [/\bid (?=(?:like|love|need|prefer|rather|want|say|be)\b)/g, 'i would '],
  [/\bill (?=(?:need|be|have|take|keep|get|send|do|go|let|just|also|check|cancel|change|book)\b)/g, 'i will '],
  [/\b(that|it|this|there|what|who)ll\b/g, '$1 will'],
  [/\b(you|they)re\b/g, '$1 are'],
  [/\byoud\b/g, 'you would'],
  [/\byoull\b/g, 'you will'],
  [/\byouve\b/g, 'you have'],
  [/\b([a-z]+)'ll\b/g, '$1 will'],
  [/\b([a-z]+)'re\b/g, '$1 are'],
  [/\b([a-z]+)'ve\b/g, '$1 have'],
  [/\b([a-z]+)'d\b/g, '$1 would'],
  [/\bin order to\b/g, 'to'],
];

/**
 * The text in lower case with straight quotes, without markdown, accents and contractions. Line breaks stay;
 * the lines of a list become parts of the sentence that introduces them.
 */
export const plain: (text: string) => string = memo(plainOf, 2000);

function plainOf(text: string): string {
  const bare = text
    // Before the normal form, in which an acute accent is a space with a mark.
    .replace(/[\u2018\u2019\u00b4]/g, "'")
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[\u201c\u201d]/g, '"')
    .replace(/[\u2013\u2014]/g, ' - ')
    .replace(/\r\n?/g, '\n')
    .replace(/\*\*|__/g, '')
    .replace(/([:,])\s*\n\s*(?:[-*\u2022]|\d+[.)])\s+/g, '$1 ')
    .replace(/\s*\n\s*(?:[-*\u2022]|\d+[.)])\s+/g, ', ')
    .replace(/[*`_~]+/g, ' ')
    .replace(/^\s*#+\s+/gm, '')
    .replace(/[^\S\n]+/g, ' ');
  return contractions.reduce((now, [pattern, full]) => now.replace(pattern, full), spelled(bare)).trim();
}

const newQuestion =
  /,? or (?=(?:is|are) there |do you (?:need|have) |can i help )|,? (?:and|also|but|so) (?=(?:also )?(?:what|which|where|could (?:i|you)|may i|can (?:i|you)|shall i|should i|do you|is (?:that|this|it)|are you) )/;
const openQuestion = /(?:^|[,:] )(?:(?:and|so|then|also|please) )*(?:what|which|where|when|who|whose|why|how)\b/;

/**
 * The sentences of a plain text. A conjunction that starts a new question starts a new sentence; what is
 * before it shares the question mark where it asks with a question word.
 */
export const sentencesOf: (plainText: string) => readonly Sentence[] = memo(splitSentences, 2000);

function splitSentences(plainText: string): readonly Sentence[] {
  return plainText
    .split(/(?<=[.!?])["')\]]*(?:\s+|$)|\n+|;\s+/)
    .flatMap((sentence) => {
      const question = /\?["')\]\s.!]*$/.test(sentence);
      const parts = sentence.split(newQuestion);
      return parts.map((part, at) => ({
        text: part.replace(/[\s.!?"')\]]+$/, '').trim(),
        question: question && (at === parts.length - 1 || openQuestion.test(part)),
      }));
    })
    .filter(({ text }) => text !== '');
}

/**
 * The clauses of a sentence: its parts between commas, colons and dashes, and before a conjunction, which stays
 * at the head of its clause.
 */
export function clausesOf(sentence: string): readonly string[] {
  return sentence
    .split(/[,:;]+(?=\s|$)|\s-+\s|\.{2,}|[()]|\s(?=(?:but|so|because|and|then|or|although|though|unless)\s)/)
    .map((clause) => clause.replace(/^[\s"'.!-]+|[\s"'.!-]+$/g, ''))
    .filter((clause) => clause !== '');
}

/** The words of a text in lower case, numbers in one form and without plural endings. */
export const wordsOf: (text: string) => readonly string[] = memo(spelledWords, 4000);

function spelledWords(text: string): readonly string[] {
  const bare = text
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/['\u2019]/g, '');
  return (bare.match(/\d{1,3}(?:,\d{3})+(?:\.\d+)?(?![\p{L}\d])|\d+\.\d+(?!\.?\d|\p{L})|[\p{L}\p{N}]+/gu) ?? []).map(
    oneForm,
  );
}

function oneForm(word: string): string {
  if (/^[\d.,]+$/.test(word)) return numberForm(word.replaceAll(',', ''));
  return fullForms.get(word) ?? singular(word);
}

/** 24.50 and 24.5 are one number; a leading zero marks a code (a postcode) and stays. */
function numberForm(digits: string): string {
  if (/^0\d/.test(digits)) return digits;
  return withoutFinalZeros(digits);
}

/** Returns a number without the zeros at the end of its decimals: 24.50 as 24.5, and 24.00 as 24. */
export function withoutFinalZeros(digits: string): string {
  if (!digits.includes('.')) return digits;
  // A pattern would take quadratic time for many zeros.
  let end = digits.length;
  while (digits[end - 1] === '0') end--;
  return digits.slice(0, digits[end - 1] === '.' ? end - 1 : end);
}

function singular(word: string): string {
  if (word.length < 4 || /(?:ss|us|is)$/.test(word) || /\d/.test(word)) return word;
  if (/ies$/.test(word)) return `${word.slice(0, -3)}y`;
  if (/(?:sses|shes|ches|xes|zes)$/.test(word)) return word.slice(0, -2);
  return word.endsWith('s') ? word.slice(0, -1) : word;
}

const numberWords =
  'two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty';
const fullForms: ReadonlyMap<string, string> = new Map(
  numberWords.split(' ').map((word, at) => [word, String(at + 2)] as const),
);

/** Returns a text with number words from two to twenty as digits. */
export const withDigits = (text: string): string =>
  text.replace(/\p{L}+/gu, (word) => fullForms.get(word.toLowerCase()) ?? word);

/** Returns a text without its white space. */
export const withoutSpace = (text: string): string => text.replace(/\s+/g, '');
