import type { Path } from '../../engine/core/values/json.ts';
import type { Source } from '../../engine/shell/source/source.ts';
import { lineStarts, type Span, touches } from './text.ts';
import { scalarsOf, type YamlScalar } from './yamlText.ts';

/** The completion context at a place of a YAML file. */
export type Cursor = {
  /** Of the key or the value; the last part of a key's path is what is written of it so far. */
  readonly path: Path;
  readonly isKey: boolean;
  /** The file with a word at the cursor, where one had to be put there to read it. */
  readonly source: Source;
  readonly scalar: YamlScalar;
  /** The range that a completion replaces. */
  readonly span: Span;
  /** The text required before it: a space after a colon, or the dash of a list. */
  readonly lead: string;
  /** Whether it is between brackets, where everything is on one line. */
  readonly isFlow: boolean;
};

/** Replaces the word that is about to be written. */
export const standIn = 'zq9z';

/**
 * Returns what may be written at an offset. More than one thing where a word alone on its line can be a key or a value.
 */
export function cursorsAt(source: Source, offset: number): readonly Cursor[] {
  const { text } = source;
  const before = text.slice(text.lastIndexOf('\n', offset - 1) + 1, offset);
  if (isComment(before)) return [];
  const alone = wordAlone(text, offset);
  const key = alone && keyAlone(source, alone);
  const values = valuesAt(source, offset, before, alone).filter(({ scalar }) => !(key && scalar.isKey));
  return key ? [key, ...values] : values;
}

function valuesAt(source: Source, offset: number, before: string, alone: Span | null): readonly Cursor[] {
  const { text } = source;
  const written = scalarsOf(source).find(
    (scalar) => touches(scalar, offset) && (scalar.to > scalar.from || isQuoted(text, offset)),
  );
  if (written) return [{ ...placed(source, written), span: onLine(text, spanOf(written), offset) }];
  const lead = /[:,]$/.test(before) ? ' ' : '';
  const words = alone ? [standIn, `- ${standIn}`] : [lead + standIn];
  return words.flatMap((word) => {
    const made = { file: source.file, text: text.slice(0, offset) + word + text.slice(offset) };
    const scalar = standInOf(made);
    if (!scalar) return [];
    const own = { ...placed(made, scalar), span: { from: offset, to: offset }, lead: word.slice(0, -standIn.length) };
    // An item that is about to begin may be a map: then its first key comes behind the dash.
    return word.startsWith('- ') ? [own, { ...own, isKey: true, path: [...scalar.path, standIn] }] : [own];
  });
}

const standInOf = (made: Source) =>
  scalarsOf(made).find((each) => String(each.value).includes(standIn) || each.path.at(-1) === standIn);

/** The word around an offset, or the place of one, where nothing but the dashes of lists precedes or follows it. */
function wordAlone(text: string, offset: number): Span | null {
  const [, head = '', word = ''] =
    /^([ \t]*(?:-[ \t]+)*)([\w$-]*)$/.exec(text.slice(text.lastIndexOf('\n', offset - 1) + 1, offset)) ?? [];
  const behind = /^[\w$-]*(?=[ \t]*(?:\r?\n|$))/.exec(text.slice(offset));
  if (!behind || (head === '' && word === '' && offset > 0 && text[offset - 1] !== '\n')) return null;
  return { from: offset - word.length, to: offset + behind[0].length };
}

/**
 * A word alone on its line as a key that has no colon yet. It is read behind a question mark, as YAML has it for keys
 * without a value: without one it would be part of the line above, or of the key below.
 */
function keyAlone({ file, text }: Source, span: Span): Cursor | null {
  const isBelowList = (span.from === 0 || text[span.from - 1] === '\n') && /^- /m.test(text);
  if (isBelowList) return null;
  const made = { file, text: `${text.slice(0, span.from)}? ${standIn}${text.slice(span.to)}` };
  const scalar = standInOf(made);
  return scalar?.isKey && scalar.value === standIn ? { ...placed(made, scalar), span } : null;
}

const isComment = (before: string) => /(?:^|\s)#/.test(before.replace(/"(?:[^"\\]|\\.)*"|'[^']*'/g, ''));

const isQuoted = (text: string, offset: number) =>
  /["']/.test(text[offset - 1] ?? '') && text[offset] === text[offset - 1];

/**
 * Returns what of a span is on the line of an offset: an editor takes no completion over several, as of a quote that is
 * open.
 */
function onLine(text: string, { from, to }: Span, offset: number): Span {
  const end = text.indexOf('\n', offset);
  return { from: Math.max(from, text.lastIndexOf('\n', offset - 1) + 1), to: end < 0 ? to : Math.min(to, end) };
}

const spanOf = ({ from, to }: YamlScalar): Span => ({ from, to });

function placed(source: Source, scalar: YamlScalar): Cursor {
  const { path, isKey } = scalar;
  return { path, isKey, source, scalar, span: spanOf(scalar), lead: '', isFlow: isFlow(source, scalar.from) };
}

/** Whether an offset is between brackets that are open on its line or on one before it. */
function isFlow(source: Source, offset: number): boolean {
  const line = lineStarts(source).findLast((each) => each <= offset) ?? 0;
  const before = source.text.slice(line, offset).replace(/"(?:[^"\\]|\\.)*"|'[^']*'/g, '');
  const open = [...before.matchAll(/[[{]/g)].length;
  return open > [...before.matchAll(/[\]}]/g)].length;
}
