import { isDeepStrictEqual } from 'node:util';
import { CST, type Document, isCollection, isScalar, Lexer, type Pair, parseDocument, type Scalar, visit } from 'yaml';

/** The width that the sample domains are written in. */
const width = 120;

/** Says that a file holds more than one document, which `silent` would not. */
const logLevel = 'error';

/**
 * A YAML file with its indentation and spaces in order. Comments, blank lines, quotes and the words of every text stay
 * as they are, except for blank lines in a row, which become one: each text is kept aside while the rest is written
 * again.
 * @returns null where the file has faults, would not say the same afterwards, or a comment or blank line would move
 */
export function formatted(text: string): string | null {
  const document = parseDocument(text, { keepSourceTokens: true, logLevel });
  if (document.errors.length > 0 || document.contents === null) return null;
  const before = meaningOf(document);
  if (before === null) return null;
  const last = lastComment(document, text);
  document.comment = null;
  const kept = setAside(document, text);
  const options = { lineWidth: width, indent: 2, indentSeq: true, flowCollectionPadding: true } as const;
  const written = putBack(withNarrowLists(document.toString(options)), kept) + last;
  const after = parseDocument(written, { logLevel });
  if (after.errors.length > 0 || !isDeepStrictEqual(before, meaningOf(after))) return null;
  return isDeepStrictEqual(placesIn(text), placesIn(written)) ? written : null;
}

/** Returns what a document says, in its own list; null where an alias leads nowhere. */
function meaningOf(document: Document): readonly [unknown] | null {
  try {
    return [document.toJS({ maxAliasCount: 100 })];
  } catch {
    return null;
  }
}

/** The comment behind everything else, with a blank line before it where it has one. */
function lastComment({ comment }: Document, text: string): string {
  if (!comment) return '';
  const lines = comment.split('\n').map((line) => (line.trim() === '' ? '' : `#${line}`));
  const first = text.lastIndexOf(lines.find((line) => line !== '') ?? '');
  return `${/\n[ \t]*\n[ \t]*$/.test(text.slice(0, first)) ? '\n' : ''}${lines.join('\n')}\n`;
}

type Kept = {
  readonly mark: string;
  readonly text: string;
  readonly isBlock: boolean /** A comment behind the key. */;
  readonly tail: string;
};

/** Puts a word without spaces in the place of each text, as long as the text where that is on one line. */
function setAside(document: Document, text: string): readonly Kept[] {
  const kept: Kept[] = [];
  const tails = new Map<unknown, string>();
  visit(document, {
    Pair: (_, pair) => {
      const tail = takenTail(pair, text);
      if (tail !== '') tails.set(pair.key, tail);
    },
    Scalar: (key, node) => {
      const { range } = node;
      if (!range || (node.type === 'PLAIN' && typeof node.value !== 'string' && key !== 'key')) return;
      const isBlock = node.type === 'BLOCK_FOLDED' || node.type === 'BLOCK_LITERAL';
      const own = text.slice(range[0], range[1]);
      const mark = `\u{e000}${kept.length}\u{e001}`;
      const lines = own.split('\n');
      const length = Math.max(mark.length, isBlock || lines.length > 1 ? 0 : own.length);
      kept.push({
        mark: mark.padEnd(length, '\u{e002}'),
        text: own,
        isBlock: isBlock || lines.length > 1,
        tail: tails.get(node) ?? '',
      });
      replace(node, mark.padEnd(length, '\u{e002}'));
    },
  });
  return kept;
}

/** Takes out the comment behind a key whose value begins below it, which would be written above the value. */
function takenTail({ key, value }: Pair, text: string): string {
  if (!isScalar(key) || !isCollection(value) || !value.commentBefore || !key.range || !value.range) return '';
  const end = text.indexOf('\n', key.range[1]);
  const behind = /#(.*)$/.exec(text.slice(key.range[1], end));
  const [first, ...rest] = value.commentBefore.split('\n');
  if (value.range[0] < end || behind?.[1] !== first) return '';
  value.commentBefore = rest.length === 0 ? null : rest.join('\n');
  return ` #${first}`;
}

function replace(node: Scalar, mark: string): void {
  node.value = mark;
  node.type = 'PLAIN';
  delete node.source;
  delete node.srcToken;
}

/** `[a, b]` beside `{ a: 1 }`. Texts are set aside meanwhile, so that every bracket before a comment is one of a list. */
function withNarrowLists(written: string): string {
  return written.replace(/^(?:[^#\n]|(?<!\s)#)*/gm, (line) =>
    line.replace(/\[ (?=\S)/g, '[').replace(/(?<=\S) \]/g, ']'),
  );
}

/** A text of several lines moves as a whole with the line that it begins on. */
function putBack(written: string, kept: readonly Kept[]): string {
  const marks = new Map(kept.map((each) => [each.mark, each]));
  return written.replace(/^(.*?)(\u{e000}\d+\u{e001}\u{e002}*)(.*)$/gmu, (line) => {
    let made = line;
    for (const [mark] of line.matchAll(/\u{e000}\d+\u{e001}\u{e002}*/gu)) {
      const own = marks.get(mark);
      if (!own) continue;
      made = made.replace(mark, () => (own.isBlock ? moved(own.text, line) : own.text));
      made += own.tail;
    }
    return made;
  });
}

/** The lines of a text below the line of its key: two columns in from it, or where the least of them has to be. */
function moved(text: string, line: string): string {
  const [first = '', ...rest] = text.replace(/\n+$/, '').split('\n');
  const filled = rest.filter((each) => each.trim() !== '');
  const least = Math.min(...filled.map((each) => each.length - each.trimStart().length));
  const indent = ' '.repeat((/^(?: |- (?=\S))*/.exec(line)?.[0].length ?? 0) + 2);
  return [first, ...rest.map((each) => (each.trim() === '' ? '' : `${indent}${each.slice(least)}`))].join('\n');
}

/**
 * Each comment with what it is at: a text, a bracket that closes, a sign, or a line of its own behind one of those.
 * Between them the places of blank lines.
 */
function placesIn(text: string): readonly string[] {
  const found: string[] = [];
  /** The lines that the open brackets are on. */
  const opened: number[] = [];
  let things = 0;
  let line = 0;
  let before = '';
  /** Describes the position of a comment on this line; empty if the comment is the first on its line. */
  let at = '';
  let isBlank = true;
  for (const token of new Lexer().lex(text.replaceAll('\r', ''))) {
    const isText = before === CST.SCALAR;
    before = token;
    if (token === CST.SCALAR || token === CST.DOCUMENT || (!isText && /^[ \t]+$/.test(token))) continue;
    if (isText || /^[-"'*[\]{}]/.test(token)) things++;
    line += token.split('\n').length - 1;
    if (token === '\n' ? isBlank : /\n[ \t]*\n$/.test(token)) {
      const blank = `blank line behind ${things}`;
      if (found.length + things > 0 && found.at(-1) !== blank) found.push(blank);
    }
    isBlank = token.endsWith('\n');
    if (isBlank) at = '';
    else if (!isText && token.startsWith('#')) found.push(`${at || `line behind ${things}`} ${token.trim()}`);
    else if (token === '[' || token === '{') opened.push(line);
    else if (token === ']' || token === '}') {
      // Behind the bracket of lines above, a comment is about what else is on its line.
      if (opened.pop() === line || !at.startsWith('text')) at = `bracket ${things}`;
      continue;
    }
    if (isText || /^["'*]/.test(token)) at = `text ${things}`;
    else if (!isBlank && !at.startsWith('text')) at = `sign ${things}`;
  }
  if (found.at(-1) === `blank line behind ${things}`) found.pop();
  return found;
}
