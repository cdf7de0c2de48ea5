import { type Document, isCollection, isScalar, visit, type YAMLError } from 'yaml';

/** An error that makes a text invalid YAML: its range, its cause, and what to do. */
type Fault = { readonly from: number; readonly to: number; readonly message: string; readonly hint: string };

/**
 * Describes an error of the parser by its cause, which is often not where the parser stopped: a quote or bracket that is
 * not closed, or a line with another indentation than its neighbours.
 */
export function describeFault(text: string, document: Document, error: YAMLError): Fault {
  const [from, to] = error.pos;
  return (
    doubledKey(text, error) ??
    tabIndent(text, from) ??
    unclosed(text, document, error) ??
    deeperLine(text, error) ??
    otherIndent(text, error) ??
    textBehindQuote(text, error) ??
    missingColon(text, error) ??
    colonInText(text, error) ?? { from, to, ...inWords(error) }
  );
}

/** Messages of the parser, each with its cause and what to do. */
const words: readonly (readonly [RegExp, cause: string, hint: string])[] = [
  [/^Plain value cannot start with (a tab)/, 'a text without quotes cannot begin with $1', 'Put the text in quotes.'],
  [/^Plain value cannot start with .*?(\S+)$/, 'a text without quotes cannot begin with $1', 'Put the text in quotes.'],
  [/^Missing , /, 'a comma is missing between two items in brackets', 'Write a comma between them.'],
  [/^Unexpected (?:,|empty item) in/, 'a comma has no item before it', 'Remove the comma.'],
  [
    /^Unexpected flow-\w+-end token .*"(.)"/,
    'the bracket $1 closes nothing',
    'Remove it, or write the opening bracket.',
  ],
  [
    /^Invalid escape sequence (.*)/,
    '$1 has no meaning between double quotes',
    'Write \\\\ for a backslash, or use single quotes.',
  ],
  [
    /^Block scalar header includes extra|^Not a YAML token/,
    'text follows | or > in its line',
    'Move the text to the next line and indent it.',
  ],
  [
    /^Comments must be separated/,
    'a comment has no space before its #',
    'Write a space before it, or put the text with # in quotes.',
  ],
  [
    /multiple documents/,
    'a line with --- begins a second document',
    'A file is one document: remove the `---`, or write a list.',
  ],
  [
    /^Block collections are not allowed/,
    'items in brackets are not separated by commas',
    'Write a comma between them, and no "- ".',
  ],
  [
    /^Unexpected block-seq-ind on same line/,
    'a list begins in the line of its key',
    'Begin the list in the next line.',
  ],
  [/at node end$/, 'text follows the end of a value', 'Put the whole value in quotes, or begin a new line.'],
];

function inWords(error: YAMLError): Pick<Fault, 'message' | 'hint'> {
  const said = error.message.replace(/\s+/g, ' ').replace(/\.$/, '');
  for (const [pattern, cause, hint] of words) {
    const found = pattern.exec(said);
    if (found) return { message: `This is not YAML: ${cause.replace('$1', () => found[1] ?? '')}.`, hint };
  }
  return { message: `This is not YAML: ${said}.`, hint: hintFor(error) };
}

function hintFor({ code }: YAMLError): string {
  switch (code) {
    case 'MISSING_CHAR':
      return 'Check the quotes and brackets up to this place.';
    case 'BLOCK_AS_IMPLICIT_KEY':
    case 'BLOCK_IN_FLOW':
    case 'MULTILINE_IMPLICIT_KEY':
      return 'A text with ": " in it needs quotes.';
    default:
      return 'Check the indentation, quotes and brackets up to this place.';
  }
}

function doubledKey(text: string, { code, pos: [from, to] }: YAMLError): Fault | null {
  if (code !== 'DUPLICATE_KEY') return null;
  const key = /^\s*["']?([^"':\n]*)/.exec(text.slice(from))?.[1]?.trim() ?? '';
  return { from, to, message: `The key ${key} appears here a second time.`, hint: 'Keep one of the two.' };
}

function tabIndent(text: string, at: number): Fault | null {
  const { from, indent } = lineAt(text, at);
  if (!/^ *\t/.test(indent)) return null;
  const message = 'This is not YAML: the line is indented with a tab.';
  return { from, to: from + indent.length, message, hint: 'Indent with spaces.' };
}

/** A quote or a bracket is reported where the text ends that it should have closed. */
function unclosed(text: string, document: Document, { code, message }: YAMLError): Fault | null {
  const isQuote = code === 'MISSING_CHAR' && message.startsWith('Missing closing');
  const isBracket = message.startsWith('Flow ');
  if (!isQuote && !isBracket) return null;
  let from = -1;
  visit(document, {
    Node: (_, node) => {
      const [start = 0, end = 0] = node.range ?? [];
      const first = text[start] ?? '';
      const isOpen = isQuote
        ? isScalar(node) && /["']/.test(first) && (end - start < 2 || text[end - 1] !== first)
        : isCollection(node) && node.flow === true && text[end - 1] !== closing[first];
      if (isOpen) from = start;
    },
  });
  if (from < 0) return null;
  const opening = text[from] ?? '';
  const what = isQuote ? 'quote' : 'bracket';
  const reason = `This is not YAML: the ${what} ${opening} is not closed.`;
  return { from, to: from + 1, message: reason, hint: `Add the closing ${closing[opening] ?? opening}.` };
}

const closing: Readonly<Record<string, string>> = { '{': '}', '[': ']' };

/** A line that is indented deeper than the value above it continues that value, and cannot have a key. */
function deeperLine(text: string, { code, pos: [at] }: YAMLError): Fault | null {
  if (code !== 'BLOCK_AS_IMPLICIT_KEY') return null;
  const value = lineAt(text, at);
  if (/:(?:\s|$)/.test(text.slice(at, value.to))) return null;
  let line = lineAt(text, value.to + 1);
  while (line.from < text.length && !/:(?:\s|$)/.test(text.slice(line.from, line.to))) line = lineAt(text, line.to + 1);
  if (line.from >= text.length) return null;
  // Of an item of a list, the keys begin behind its dash.
  const column = /^(?:\s*- )*\s*/.exec(text.slice(value.from, at))?.[0].length ?? 0;
  const indent = line.indent.length;
  return {
    from: line.from,
    to: line.from + indent,
    message: `This is not YAML: the line is indented by ${spaces(indent)}, so it continues the text in line ${lineNumber(text, at)}.`,
    hint: `${column === 0 ? 'Remove the indentation' : `Indent it by ${spaces(column)}`} if it is a key next to that one. A text with ": " in it needs quotes.`,
  };
}

/** A text with a colon and a space in it, which the parser reads as a key within the value of a key. */
function colonInText(text: string, { code, pos: [at, to] }: YAMLError): Fault | null {
  if (code !== 'BLOCK_AS_IMPLICIT_KEY') return null;
  const value = text.slice(at, lineAt(text, at).to).trim();
  const message = 'This is not YAML: the text contains a colon followed by a space, which only a key can have.';
  return { from: at, to, message, hint: `A text with ": " in it needs quotes: ${JSON.stringify(value)}.` };
}

const spaces = (count: number) => (count === 1 ? '1 space' : `${count} spaces`);

function otherIndent(text: string, { message, pos: [at] }: YAMLError): Fault | null {
  const { from, indent } = lineAt(text, at);
  const isMisplaced = message === nodeEnd && at === from + indent.length;
  if (!isMisplaced && !/start at the same column|without - indicator/.test(message)) return null;
  const above = [...text.slice(0, from).matchAll(/^((?: *- )* *)[^\s#-].*:(?:\s|$)/gm)].map(
    ([, own = '']) => own.length,
  );
  const levels = [...new Set(above)].filter((each) => each !== indent.length).sort((one, other) => one - other);
  return {
    from,
    to: from + indent.length + 1,
    message: `This is not YAML: the line is indented by ${spaces(indent.length)}, unlike every key above it.`,
    hint: `Indent it like the keys next to it. Above, keys are indented by ${levels.join(', ')}.`,
  };
}

const nodeEnd = 'Unexpected scalar at node end';

function textBehindQuote(text: string, { message, pos: [from, to] }: YAMLError): Fault | null {
  if (message !== nodeEnd || !/["'] *$/.test(text.slice(0, from))) return null;
  const reason = 'This is not YAML: text follows the closing quote.';
  return {
    from,
    to,
    message: reason,
    hint: 'Put all of the text in one pair of quotes. Inside of "…" a quote is \\".',
  };
}

/** A line between keys that is not one. */
function missingColon(text: string, { code, message, pos: [at] }: YAMLError): Fault | null {
  const isKey =
    code === 'MULTILINE_IMPLICIT_KEY' || (code === 'MISSING_CHAR' && message.startsWith('Implicit map keys'));
  const { from, to, indent } = lineAt(text, at);
  const line = text.slice(from, to).trim();
  if (!isKey || /:(?:\s|$)/.test(line)) return null;
  const start = from + indent.length;
  const place = { from: start, to: start + line.length };
  if (line.startsWith('- ')) {
    const reason = 'This is not YAML: the line is an item of a list, and its neighbors are keys.';
    return { ...place, message: reason, hint: 'Indent it below the key of its list.' };
  }
  const [, word = '', value = ''] = /^([^\s:]+):?\s*(.*)$/.exec(line) ?? [];
  const lacks = line.includes(':') ? 'space after its colon' : 'colon';
  return {
    ...place,
    message: `This is not YAML: the line has no ${lacks}, so it is not a key with a value.`,
    hint: value === '' ? `Write a value after ${word}:` : `Write ${word}: ${value}`,
  };
}

/** The line that an offset is in, from its first character to its line break. */
function lineAt(text: string, at: number): { readonly from: number; readonly to: number; readonly indent: string } {
  if (at >= text.length && at > 0 && text[at - 1] === '\n') return { from: at, to: at, indent: '' };
  const from = text.lastIndexOf('\n', at - 1) + 1;
  const end = text.indexOf('\n', at);
  const to = end < 0 ? text.length : end;
  return { from, to, indent: /^[ \t]*/.exec(text.slice(from, to))?.[0] ?? '' };
}

const lineNumber = (text: string, at: number) => text.slice(0, at).split('\n').length;
