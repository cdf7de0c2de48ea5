/**
 * Finds phrases that docs/contributing/voice.md says to avoid, in every file that git does not ignore: in strings and
 * comments of code, and in all other files as a whole. Code spans and dialogue are exempt.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseSync, Visitor } from 'oxc-parser';
import { root } from './repository.ts';

export type Finding = {
  readonly file: string;
  readonly line: number;
  /** The name of the phrase in the table of all phrases. */
  readonly name: string;
  readonly phrase: string;
  readonly write: string;
};
export type Findings = { readonly texts: readonly Finding[]; readonly comments: readonly Finding[] };
/** Where a text begins and ends in its file. */
type Range = readonly [start: number, end: number];

/** What follows "of its own" where "its own" is a whole: punctuation or a word that begins another clause. */
const afterOwn =
  '(?= (?:and|as|at|beside|but|by|can|each|for|from|has|have|if|in|into|is|it|of|on|or|so|such|than|that|the|there|to|was|were|when|where|which|while|with)\\b|(?: )?(?:[^\\s\\w-]|$))';

/** The name of each phrase, the phrase as a regular expression in which a space is any white space, and its replacement. */
const phrases: readonly (readonly [name: string, phrase: string, write: string])[] = [
  [
    'negated noun',
    '(?<!\\bthere )\\b(?:is|are|was|were) no (?!longer\\b|more\\b|less\\b|other\\b)(?=\\w)',
    'is not a …',
  ],
  ['negated pronoun', '(?<!\\bthere )\\b(?:is|are|was|were) (?-i:none)\\b(?! of\\b)', 'is not a …'],
  ['availability', "\\b(?:can't|can’t|cannot|can not|to) be had\\b", 'is not available'],
  ['position', '\\b(?:stands?|stood|standing)\\b(?!-| by\\b)', 'is in, means, is next to'],
  ['passive report, present', '\\b(?:is|are) (?:told|said)\\b', 'reports, shows, describes'],
  ['passive report, past', '\\b(?:was|were|be|been|being) told\\b', 'receives, is known'],
  ['description', '\\b(?:say|says|said|tell|tells|told) of\\b', 'describes'],
  ['continuation', '\\b(?:goes|went|gone|going) on\\b|\\bgo on\\b(?![.?!])', 'continues, resumes'],
  ['negated person', '\\bnobody\\b', 'unreachable, cannot be …'],
  ['result', '\\bwhat (?:[^.,;:]{0,40} )?(?:came|come|comes) to\\b', 'its result'],
  ['repetition', '\\banew\\b|\\bplayed over\\b', 'restarts, again'],
  ['missing output', '\\bwithout a word\\b', 'without output'],
  ['internal error', '\\bfault of Rehearsal\\b', 'an internal error'],
  ['repair', '\\bmend(?:s|ed|ing)\\b', 'fixes'],
  ['possession', `\\bof (?:one['’]s|its|their|your|our|his|her|my) own\\b${afterOwn}`, 'its own …, a custom …'],
  [
    'unnamed person or thing',
    '\\bwhoever\\b|\\bwhat (?:is|was|are|were) asked for\\b|\\bsuch as are\\b',
    'name the person or thing',
  ],
  ['exception', '\\bbut for\\b', 'except'],
  ['absence', ', and no (?!longer\\b|more\\b|other\\b|one\\b)(?=\\w)', 'without …'],
  ['end of a state', '\\bany more\\b', 'no longer'],
  ['report', '\\bso that it says so\\b', 'and reports it'],
  ['inverted order', '\\bonly then (?:is|are|was|were|does|do|did|has|have|can)\\b', 'it … only then'],
];

/** Comments that begin with a noun clause; a doc comment begins with a verb. */
const withoutVerb: (typeof phrases)[number] = [
  'comment without a verb',
  '\\x01 (?:What|Where|Who|Which|How) ',
  'Describes …, Returns …',
];

const compile = (rows: typeof phrases) =>
  rows.map(([name, phrase, write]) => ({ name, pattern: new RegExp(phrase.replaceAll(' ', ' +'), 'gi'), write }));
const inTexts = compile(phrases);
/** The phrases in a file that is not parsed: with line breaks, marks of comments and ends of strings between the words. */
const inSource = phrases.map(
  ([, phrase]) => new RegExp(phrase.replaceAll(' ', String.raw`(?:\\[nrt]|"\s+"|[\s*#/>])+`), 'i'),
);
const inComments = compile([...phrases, withoutVerb]);
export const phraseNames: readonly string[] = inComments.map(({ name }) => name);

/**
 * The only exemptions: dialogue, that is what users and agents say, the words that checks and seats find in it, and
 * instructions to a simulated user. Each row has files, and which of their texts are exempt. Their comments are checked.
 */
const dialogue: readonly (readonly [files: RegExp, texts: RegExp])[] = [
  [
    /^src\/engine\/core\/(?:dialogue\/|seats\/(?:\w+Speech|instruction)\.ts|simulator\/(?:prompt|roleFlip)\.ts)/,
    /[\s\S]+/g,
  ],
  [/^src\/authoring\/masking\/words\.ts|^test\/engine\/core\/simulator\/guard\.test\.ts/, /[\s\S]+/g],
  // Wordings that rules look for are items of lists.
  [/^domains\/[\w-]+\/(?:rules|phrases)\.yaml/, /^ *- (?!\w+: ).*$/gm],
  [/\.(?:task|persona)\.yaml$|^domains\/[\w-]+\/generate\.ts/, /\b(?:opening|say|short): .*$/gm],
  [/^test\/engine\/core\/dialogue\/\w+\.json/, /"text": ".*?", /g],
  [/^test\/engine\/core\/rules\/.*\.yaml/, /^(?!- name: ).*$/gm],
];
/** The tables of the phrases themselves, and the planted violations. */
const isTable = /^(?:docs\/contributing\/voice\.md|scripts\/voice\.ts|test\/gates\/voice\.test\.ts)$/;
const isBinary = /\.(?:png|ico|gif|woff2?|vsix|zip|gz)$/;

/** Returns the phrases to avoid in one file. */
export function findPhrases(file: string, source: string): Findings {
  if (isTable.test(file) || !mayHavePhrase(source)) return { texts: [], comments: [] };
  const { texts, comments } = rangesOf(file, source);
  const [, exempt] = dialogue.find(([files]) => files.test(file)) ?? [];
  const read = exempt ? source.replaceAll(exempt, (text) => text.replaceAll(/./g, '\0')) : source;
  return {
    texts: find(file, source, masked(read, texts), inTexts),
    comments: find(file, source, masked(source, comments), inComments),
  };
}

/** Returns the phrases to avoid in the whole repository, or in another checkout of it. */
export function findAllPhrases(folder: string = root): Findings {
  const list = ['ls-files', '-z', '--cached', '--others', '--exclude-standard'];
  const found = execFileSync('git', list, { cwd: folder, encoding: 'utf8' })
    .split('\0')
    .filter((file) => file !== '' && !isBinary.test(file) && existsSync(join(folder, file)))
    .sort()
    .map((file) => findPhrases(file, readFileSync(join(folder, file), 'utf8')));
  return { texts: found.flatMap(({ texts }) => texts), comments: found.flatMap(({ comments }) => comments) };
}

/** Returns false for most files without a phrase, so that they need not be parsed. */
function mayHavePhrase(source: string): boolean {
  return inSource.some((pattern) => pattern.test(source)) || /(?:\/\*\*|""")\W*(?:Wh|How )/.test(source);
}

function rangesOf(file: string, source: string): { texts: readonly Range[]; comments: readonly Range[] } {
  if (/\.(?:tsx?|[cm]js)$/.test(file)) return rangesOfTypeScript(file, source);
  if (file.endsWith('.py')) return rangesOfPython(source);
  if (/\.ya?ml$/.test(file)) return rangesOfYaml(source);
  return { texts: [[0, source.length]], comments: [] };
}

/** Returns where strings, templates without their expressions, and texts of JSX are, and where comments are. */
function rangesOfTypeScript(file: string, source: string): { texts: readonly Range[]; comments: readonly Range[] } {
  const { program, comments } = parseSync(file, source);
  const texts: Range[] = [];
  new Visitor({
    Literal: ({ value, start, end }) => {
      if (typeof value === 'string') texts.push([start + 1, end - 1]);
    },
    // Its range has the delimiters in TypeScript and not in JavaScript.
    TemplateElement: ({ value, start }) => {
      const from = source.indexOf(value.raw, start);
      texts.push([from, from + value.raw.length]);
    },
    JSXText: ({ start, end }) => void texts.push([start, end]),
  }).visit(program);
  return { texts, comments: comments.map(({ start, end }) => [start, end] as const) };
}

/** Returns where strings are in Python, and where comments and docstrings are. */
function rangesOfPython(source: string): { texts: readonly Range[]; comments: readonly Range[] } {
  const [texts, comments]: [Range[], Range[]] = [[], []];
  for (const { 0: text, index } of source.matchAll(/"""[\s\S]*?"""|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|#.*/g))
    (/^(?:"""|#)/.test(text) ? comments : texts).push([index, index + text.length]);
  return { texts, comments };
}

/** Returns where comments are in YAML, and where the rest is. */
function rangesOfYaml(source: string): { texts: readonly Range[]; comments: readonly Range[] } {
  const [texts, comments]: [Range[], Range[]] = [[], []];
  let end = 0;
  for (const { 0: text, index } of source.matchAll(/(?<=^|\s)#(?: .*)?$/gm)) {
    texts.push([end, index]);
    end = index + text.length;
    comments.push([index, end]);
  }
  return { texts: [...texts, [end, source.length]], comments };
}

/** Returns a file in which only the ranges are left, without code spans, line breaks and marks of comments. */
function masked(source: string, ranges: readonly Range[]): string {
  const gap = (text: string) => (/\S/.test(text) ? '\0' : ' ').repeat(text.length);
  const blank = (text: string) => ' '.repeat(text.length);
  let [left, at] = ['', 0];
  for (const [start, end] of ranges.toSorted(([one], [other]) => one - other)) {
    left += gap(source.slice(at, start));
    left += source
      .slice(start, end)
      .replaceAll(/```[\s\S]*?```|\\?`(?:(?!\n\s*\n)[^`])*`/g, (span) => '\0'.repeat(span.length))
      .replace(/^(?:\/\*\*|""")/, '\x01  ')
      .replaceAll(/^["']|(?:"""|["']|\*\/)$|^(?:\/[*/]|#)/g, blank)
      .replaceAll(/\\[nrt]/g, blank)
      .replaceAll(/\r?\n[ \t]*(?:\*(?!\*)|#(?!#)|>)?/g, blank);
    at = end;
  }
  return left + gap(source.slice(at));
}

function find(file: string, source: string, text: string, patterns: typeof inTexts): Finding[] {
  return patterns.flatMap(({ name, pattern, write }) =>
    [...text.matchAll(pattern)].map(({ 0: phrase, index }) => ({
      file,
      line: source.slice(0, index).split('\n').length,
      name,
      phrase: phrase.replaceAll(/ +/g, ' '),
      write,
    })),
  );
}
