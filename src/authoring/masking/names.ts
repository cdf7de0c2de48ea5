import type { Found } from './kind.ts';
import { matchesOf } from './text/matches.ts';
import { Sign, signsIn } from './text/signs.ts';
import {
  alsoWords,
  introductions,
  introductionsBeforeTwo,
  noName,
  particles,
  relatives,
  titles,
  withoutCapitals,
} from './words.ts';

const article = "(?:[aeu][dlnrstz]h?-|[dl]['’])";
const word = String.raw`${article}?\p{Lu}[\p{L}\p{M}'’-]{0,40}[\p{L}\p{M}]`;
const particle = `(?:${particles.join('|')})`;
const more = String.raw`[ \t]+(?:${particle}[ \t]+){0,2}${word}`;
const names = String.raw`(?<name>(?:\p{Lu}\.[ \t]?){0,3}${word}(?:${more}){0,5})`;
/** Not within a word, nor behind a dash of one: a text of capitals with dashes would be read again from each of them. */
const beginning = String.raw`(?<![\p{L}\p{N}]|[\p{L}\p{N}]-)`;
/** Matches a name in lower case too, for phrases that explicitly introduce a name. */
const anyWord = String.raw`\p{L}[\p{L}\p{M}'’-]*`;
const anyCase = String.raw`(?<name>${anyWord}(?:[ \t]+${anyWord}){0,2}(?:${more}){0,4})`;

/** Matches a surname and a given name in capitals, as airlines write them. */
const capitals = String.raw`\p{Lu}[\p{Lu}\p{M}'’-]{1,40}/\p{Lu}[\p{Lu}\p{M}'’-]{1,40}`;

/** A pattern, the signs that a text needs to fit it, and a faster pattern that fits each text that it fits. */
type Cued = readonly [needs: number, pattern: RegExp, cue?: RegExp];

/** Words that say a name. */
const sayings: readonly Cued[] = [
  [Sign.space, new RegExp(String.raw`(?<![\p{L}\p{N}])(?:${introductions}):?[ \t]+${anyCase}`, 'gu')],
  [
    Sign.space,
    new RegExp(
      String.raw`\b(?:[Mm]y (?:full |first |last |sur)?names?(?: is|'s|’s|:)|[Nn]ame(?: is|'s|’s|:)|[Ii] am called)[ \t]+${anyCase}`,
      'gu',
    ),
    /name|called/i,
  ],
  // In capitals throughout no word tells where the name ends, so it is three at most.
  [
    Sign.space | Sign.capital,
    new RegExp(
      String.raw`(?<![\p{L}\p{N}])(?:${introductions.toUpperCase()}|MY (?:FULL |FIRST |LAST |SUR)?NAMES?(?: IS|['’]S|:)|I AM CALLED):?[ \t]+(?<name>${anyWord}(?:[ \t]+${anyWord}){0,2})`,
      'gu',
    ),
    /\p{Lu}{2}/u,
  ],
  [
    Sign.space,
    new RegExp(
      String.raw`(?<![\p{L}\p{N}])(?:${withoutCapitals})(?: هو)?:?[ \t]+(?<name>${anyWord}(?:[ \t]+${anyWord})?)`,
      'gu',
    ),
    /[\u0590-\u06ff\u0900-\u097f]/,
  ],
];

/** Words before or after which a name is, written large. */
const surroundings: readonly Cued[] = [
  // A form has the surname first.
  [
    Sign.space | Sign.capital,
    new RegExp(String.raw`\b[Nn]ame:[ \t]+(?<name>${word}(?:${more}){0,3},[ \t]+${word}(?:${more}){0,2})`, 'gu'),
    /name/i,
  ],
  [
    Sign.space | Sign.capital,
    new RegExp(
      String.raw`\b(?:[Ff]irst|[Ll]ast|[Gg]iven|[Ff]amily|[Mm]iddle|[Mm]aiden)[ -]?names?(?: is| was|:|,)?[ \t]+${names}`,
      'gu',
    ),
    /name/i,
  ],
  [
    Sign.space | Sign.capital,
    new RegExp(
      String.raw`\b(?:(?:[Bb]ooking|[Oo]rder|[Rr]eservation|[Cc]all|[Rr]equest|[Pp]ayment) (?:is |was |were )?(?:made|placed) by|(?:booked|ordered|bought|placed|[Ss]igned|signed for) by|(?:belongs?|registered|addressed) to)[ \t]+${names}`,
      'gu',
    ),
    /(?:by|to)[ \t]/,
  ],
  [
    Sign.space | Sign.capital,
    new RegExp(
      String.raw`\b(?:[Bb]ook(?:ed|ing)|[Rr]eserv(?:ed|ation)|[Oo]rder(?:ed)?|[Aa]ccount|[Rr]egistered|[Ll]isted|[Ii]t(?: is| was|['’]s)) under[ \t]+(?<name>${word}(?:${more}){1,4})`,
      'gu',
    ),
    /under/,
  ],
  [
    Sign.space | Sign.capital,
    new RegExp(
      String.raw`\b(?:I am|I'm|I’m|[Tt]his is|[Ii]t is|[Cc]all me|[Ss]igned|[Ii]n the name of|[Uu]nder the name(?: of)?|[Oo]n behalf of|[Ss]peaking (?:with|to)|[Ii]ch bin|[Jj]e suis|[Mm]oi,? c['’]est|[Uu] spreekt met|[Ss]oy)[ \t]+${names}`,
      'gu',
    ),
    /I am|I['’]m|his is|t is|all me|igned|he name|behalf|peaking|ch bin|e suis|oi,? c|spreekt|oy/,
  ],
  // These words begin other sentences, too, so a surname must follow.
  [
    Sign.space | Sign.capital,
    new RegExp(String.raw`(?<![\p{L}\p{N}])(?:${introductionsBeforeTwo})[ \t]+(?<name>${word}(?:${more}){1,3})`, 'gu'),
    new RegExp(introductionsBeforeTwo),
  ],
  [
    Sign.space,
    /^(?:(?:hi|hey|hello|good (?:morning|afternoon|evening))[ ,!]*(?:there[ ,!]*)?)?(?<name>\p{L}[\p{L}'’-]+(?: \p{L}[\p{L}'’-]+)?) (?:here|speaking)\b/gimu,
    /here|speaking/i,
  ],
  [Sign.space | Sign.capital, new RegExp(String.raw`${beginning}${names} (?:here|speaking)\b`, 'gu'), /here|speaking/],
  [Sign.space | Sign.capital, new RegExp(String.raw`\b(?:${titles})\.?[ \t]+${names}`, 'gu'), new RegExp(titles)],
  [
    Sign.space | Sign.capital,
    new RegExp(
      String.raw`\b(?:Hi|Hello|Hey|Dear|Hallo|Liebe[rs]?|Guten Tag|Good (?:morning|afternoon|evening|day)|[Ww]elcome(?: back)?|[Tt]hanks|[Tt]hank you(?: so much| very much| for (?:waiting|calling|your patience))?|Cheers|[Ss]orry|Bonjour|Hola|Danke)(?: again)?,?[ \t]+${names}(?=[ \t]*(?:[,.!?;:)\n–—-]|$))`,
      'gu',
    ),
    /Hi|Hello|Hey|Dear|Hallo|Liebe|Guten|Good|elcome|hank|Cheers|orry|Bonjour|Hola|Danke/,
  ],
  [
    Sign.capital,
    new RegExp(
      String.raw`(?:^[ \t>]*[Ss]igned[,:]|(?:[Rr]egards|[Ww]ishes|[Tt]hanks|[Tt]hank you|[Cc]heers|[Ss]incerely|[Ff]aithfully|[Yy]ours|[Bb]est|[Gg]reetings|Grüße|Gruß)[,.!]?)\s{0,20}[–—-]?\s{0,20}${names}\.?[ \t]*$`,
      'gmu',
    ),
    /igned|egards|ishes|hank|heers|incerely|aithfully|ours|est|reetings|Gr[uü]ß/,
  ],
  // Below a letter, with what they are and whom they work for behind it.
  [
    Sign.capital,
    new RegExp(
      String.raw`(?:[Rr]egards|[Ww]ishes|[Ss]incerely|[Ff]aithfully|[Yy]ours|[Gg]reetings|Grüße|Gruß)[,.!]?\s{0,20}[–—-]?\s{0,20}${names}(?=(?:,|[ \t]+(?:from|of|at|for|[|(–—-]))[^\n]{0,80}$)`,
      'gmu',
    ),
    /egards|ishes|incerely|aithfully|ours|reetings|Gr[uü]ß/,
  ],
  [Sign.capital, new RegExp(String.raw`^[ \t]*[–—~-][ \t]*${names}[ \t]*$`, 'gmu'), /^[ \t]*[–—~-]/m],
  [
    Sign.capital,
    new RegExp(
      String.raw`\b(?:[Yy]ou|me|again|day|please|help|moment|today|that|this|wait|back|course|[Ss]ure|[Yy]es|[Nn]o|problem|[Oo]kay|ok|[Gg]reat|right|there|morning|afternoon|evening|sorry|welcome),[ \t]*${names}[.!?]?\s*$`,
      'gmu',
    ),
    /,[ \t]*[A-Zadelu\u0080-\uffff]/,
  ],
  // By the title behind it, or the number of the passenger before it.
  [
    Sign.slash | Sign.capital,
    new RegExp(
      String.raw`(?<![\p{L}\p{M}/])(?<name>${capitals}(?:[ ]\p{Lu}[\p{Lu}\p{M}'’-]{0,40}){0,2}?)(?=(?:[ ]|(?<=\p{Lu}{3}))(?:MRS?|MSTR)(?![\p{L}\p{N}])|[ ](?:MS|MISS|MX|DR|PROF)(?![\p{L}\p{N}]))`,
      'gu',
    ),
    /\p{Lu}\/\p{Lu}/u,
  ],
  [
    Sign.slash | Sign.capital,
    new RegExp(
      String.raw`(?<=(?<!\d)\d{1,2}\.\d|(?:[Pp]assenger|PASSENGER|PAX):?[ ])(?<name>${capitals})(?![\p{L}\p{N}/])`,
      'gu',
    ),
    /\p{Lu}\/\p{Lu}/u,
  ],
  // Before an address, as on a letter or in a mail program.
  [Sign.capital, new RegExp(String.raw`${beginning}${names}(?="?[ \t]*<[^<>\s]+@)`, 'gu'), /</],
  [
    Sign.space | Sign.capital,
    new RegExp(String.raw`\bto[ \t]+(?<name>${word}(?:[ \t]+${word}){1,3})(?=,[ \t]*\d)`, 'gu'),
    /,[ \t]*\d/,
  ],
  [
    Sign.space | Sign.capital,
    new RegExp(String.raw`\b[Mm]y (?:${relatives})(?:'s name is|,| is(?: called| named)?)?[ \t]+${names}`, 'gu'),
    /[Mm]y /,
  ],
  [
    Sign.space | Sign.capital,
    new RegExp(
      String.raw`\b(?:[Cc]ustomer|[Pp]assengers?(?: \d{1,2})?|[Gg]uest|[Rr]ecipient|[Pp]atient|[Mm]ember|[Cc]ard ?holder|[Aa]ccount holder|[Nn]amed|[Cc]alled)(?: is|:)?[ \t]+${names}`,
      'gu',
    ),
    /ustomer|assenger|uest|ecipient|atient|ember|holder|amed|alled/,
  ],
];

/** Names that a text says where names are: when somebody says who they are, in a greeting, below a letter. */
export function namesIn(text: string): readonly Found[] {
  return [...namesBy(sayings, text, { mayBeSmall: true }), ...namesBy(surroundings, text, { mayBeSmall: false })];
}

const addresses: readonly Cued[] = [
  [Sign.space | Sign.capital, new RegExp(String.raw`\b(?:${titles})\.?[ \t]+${names}`, 'gu'), new RegExp(titles)],
];
const leadingTitles = new RegExp(String.raw`^(?:(?:${titles})(?:\.[ \t]*|[ \t]+|$))+`, 'u');

/** Names that nothing else can be meant by, since somebody says so: "my name is", and forms of address. */
export function toldNamesIn(text: string): readonly Found[] {
  return [...namesBy(sayings, text, { mayBeSmall: true }), ...namesBy(addresses, text, { mayBeSmall: false })];
}

/** Names of which one word is known, and which are as their own sentence: "Gustavo O'Riley." */
export function fullNamesIn(text: string, known: ReadonlySet<string>): readonly Found[] {
  const lower = text.toLowerCase();
  if (![...known].some((each) => lower.includes(each))) return [];
  return matchesOf(aloneStanding, text).flatMap((match): readonly Found[] => {
    const said = match.groups?.['name'] ?? '';
    const start = match.index + match[0].indexOf(said);
    const words = said.split(/[ \t]+/u);
    const isKnown = known.has(words[0]?.toLowerCase() ?? '') && !words.some((each) => isNoName(each));
    return isKnown ? [{ kind: 'name', start, end: start + said.length }] : [];
  });
}

const aloneStanding = new RegExp(
  String.raw`(?<=^|[.!?:,\n][ \t]{0,4}|[ \t](?:is|for|under)[ \t])(?<name>${word}(?:${more}){1,3})(?=[ \t]*(?:[.!?,;\n]|$))`,
  'gu',
);

/** Words that say a name at the start of an answer to the question for it, and other things elsewhere. */
const answers: readonly Cued[] = [
  [
    Sign.space | Sign.capital,
    new RegExp(
      String.raw`^(?:[^.!?\n]{0,20}[.!][ ])?(?:[^.!?\n]{0,40}[ ])??(?:[Ii]t['’]?s|[Tt]hat['’]?s|[Tt]hat would be)[ \t]+(?<name>${word}(?:${more}){0,3})`,
      'gu',
    ),
  ],
];

/** Returns the name with which a text begins that answers the question for it: "It's Jane Roe from Leeds". */
export const answeredNamesIn = (text: string): readonly Found[] => namesBy(answers, text, { mayBeSmall: false });

type Writing = { readonly mayBeSmall: boolean };

function namesBy(patterns: readonly Cued[], text: string, writing: Writing): readonly Found[] {
  const signs = signsIn(text);
  const fitting = patterns.filter(([needs, , cue]) => (signs & needs) === needs && (!cue || cue.test(text)));
  return fitting.flatMap(([, pattern]) =>
    matchesOf(pattern, text).flatMap((match): readonly Found[] => {
      const whole = match.groups?.['name'] ?? '';
      // A title is of no one in particular, and whose something is does not change the name.
      const said = withoutTitles(whole);
      const start = match.index + leadOf(match[0], whole) + whole.length - said.length;
      const behind = writing.mayBeSmall && !/:\s*$/.test(text.slice(match.index, start)) ? firstAsWord(said) : 0;
      const kept = nameAtStart(said.slice(behind), writing).replace(/['’]s$/u, '');
      return kept === '' ? [] : [{ kind: 'name', start: start + behind, end: start + behind + kept.length }];
    }),
  );
}

/** Returns a name without the forms of address before it. */
export const withoutTitles = (name: string): string => name.replace(leadingTitles, '');

/** Whether a word only joins those of a name: in a text it is a word of the language. */
export function isParticle(said: string): boolean {
  return particles.includes(said);
}

/** A name comes last in what it was found with, or before the words that tell it. */
function leadOf(whole: string, said: string): number {
  return Math.max(0, whole.lastIndexOf(said));
}

/**
 * Returns the length of a first name before a surname that is a word of the language as well, as in "my name is An Nguyen":
 * it stays, since it would be masked wherever the word is.
 */
function firstAsWord(said: string): number {
  const [lead = '', first = ''] = /^(\p{Lu}\p{Ll}{1,3})[ \t]+(?=\p{Lu}\p{Ll})/u.exec(said) ?? [];
  return isNoName(first) && !isAlsoWord(first) ? lead.length : 0;
}

/** The words of a name up to the first that is not one; empty where the first is not one. */
function nameAtStart(said: string, { mayBeSmall }: Writing): string {
  const words = matchesOf(/[^\s/]+/g, said).map(({ 0: text, index }) => ({ text, end: index + text.length }));
  const [first, second] = words;
  const isNext = second && (mayBeSmall || /^\p{Lu}/u.test(second.text)) && !isNoName(second.text);
  const isPair = first && isNext && isAlsoWord(first.text);
  let end = isPair ? first.end : 0;
  for (const { text, end: after } of words.slice(isPair ? 1 : 0)) {
    if (isNoName(text)) break;
    end = after;
  }
  return said.slice(0, end);
}

/** Reports whether a word is an ordinary word of the language, and unlikely to be a name. */
export function isNoName(said: string): boolean {
  const bare = said.toLowerCase().replace(/['’](?:m|s|d|ve|ll|re)$/, '');
  return bare.length < 2 || noName.has(bare);
}

/** Whether a name is a word of the language as well: written small it is that word. */
export function isAlsoWord(said: string): boolean {
  return alsoWords.has(said.toLowerCase());
}
