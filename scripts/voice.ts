/**
 * Finds phrases that docs/contributing/voice.md says to avoid: in strings of the source and of the trainer, in all comments,
 * in package.json and in the documentation. Code spans are exempt, and so are the lists of what people say.
 */
import { globSync, readFileSync } from 'node:fs';
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
  '(?= (?:and|as|at|beside|but|by|can|each|for|from|has|have|if|in|into|is|it|of|on|or|so|such|than|that|the|there|to|was|were|when|where|which|while|with)\\b|[^ \\w-]|$)';

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
const inComments = compile([...phrases, withoutVerb]);
export const phraseNames: readonly string[] = inComments.map(({ name }) => name);

/** Files whose strings are what users and agents say to each other, or lists of words that they may use. */
const isSpoken =
  /^src\/(?:engine\/core\/(?:dialogue\/|seats\/\w+Speech\.ts|seats\/instruction\.ts|simulator\/(?:prompt|roleFlip)\.ts)|authoring\/masking\/words\.ts)/;
/** Files whose strings are data for checks and domains. Their comments are read as all others are. */
const isData = /^(?:bench|test|domains|trainer\/tests\w*)\//;
/** The table of the phrases itself. */
const isTable = /^(?:docs\/contributing\/voice\.md|scripts\/voice\.ts)$/;

/** Returns the phrases to avoid in one file. */
export function findPhrases(file: string, source: string): Findings {
  if (isTable.test(file)) return { texts: [], comments: [] };
  const { texts, comments } = rangesOf(file, source);
  return {
    texts: isSpoken.test(file) || isData.test(file) ? [] : find(file, source, masked(source, texts), inTexts),
    comments: find(file, source, masked(source, comments), inComments),
  };
}

/** Returns the phrases to avoid in the whole repository, or in another checkout of it. */
export function findAllPhrases(folder: string = root): Findings {
  const files = globSync(
    [
      '{src,scripts,bench,test,domains}/**/*.{ts,tsx}',
      '{bench,trainer}/**/*.py',
      'docs/**/*.md',
      '{package.json,*.md}',
    ],
    { cwd: folder },
  );
  const found = files
    .map((file) => file.replaceAll('\\', '/'))
    .filter((file) => !file.includes('/.'))
    .sort()
    .map((file) => findPhrases(file, readFileSync(join(folder, file), 'utf8')));
  return { texts: found.flatMap(({ texts }) => texts), comments: found.flatMap(({ comments }) => comments) };
}

function rangesOf(file: string, source: string): { texts: readonly Range[]; comments: readonly Range[] } {
  if (/\.tsx?$/.test(file)) return rangesOfTypeScript(file, source);
  if (file.endsWith('.py')) return rangesOfPython(source);
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
    TemplateElement: ({ start, end }) => void texts.push([start, end]),
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

/** Returns a file in which only the ranges are left, without code spans, line breaks and marks of comments. */
function masked(source: string, ranges: readonly Range[]): string {
  const gap = (text: string) => text.replaceAll(/\s/g, ' ').replaceAll(/[^ ]/g, '\0');
  const blank = (text: string) => ' '.repeat(text.length);
  let [left, at] = ['', 0];
  for (const [start, end] of ranges.toSorted(([one], [other]) => one - other)) {
    left += gap(source.slice(at, start));
    left += source
      .slice(start, end)
      .replaceAll(/\\?`[^`]*`/g, (span) => '\0'.repeat(span.length))
      .replace(/^(?:\/\*\*|""")/, '\x01  ')
      .replaceAll(/^["']|(?:"""|["']|\*\/)$|^(?:\/[*/]|#)/g, blank)
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
