import type { Span } from '../symbols/text.ts';
import type { TextEdit } from '../symbols/textEdit.ts';

/** The text in brackets from an item, or the opening bracket, to the next item or the closing bracket. */
type Gap = {
  readonly comma: number | null;
  /** The comment on the line that it begins on: it is about the item before, also behind the comma. */
  readonly own: Span | null;
  readonly hasOthers: boolean;
  readonly end: number;
};

export function gapBehind(text: string, from: number): Gap {
  let comma: number | null = null;
  let own: Span | null = null;
  let hasOthers = false;
  let end = from;
  for (const { 0: part, index } of text.slice(from).matchAll(/[\s,]|#[^\r\n]*/gy)) {
    const at = from + index;
    end = at + part.length;
    if (part === ',') comma ??= at;
    if (!part.startsWith('#')) continue;
    if (own === null && !text.slice(from, at).includes('\n')) own = { from: at, to: end };
    else hasOthers = true;
  }
  return { comma, own, hasOthers, end };
}

/**
 * Takes an item out of brackets with its own comment, and leaves those of the others at their items.
 * @param from behind the item before, or behind the opening bracket
 * @param end of the item
 */
export function withoutFlowItem(text: string, from: number, end: number, isFirst: boolean): readonly TextEdit[] {
  const before = gapBehind(text, from);
  const after = gapBehind(text, end);
  const hasNoneBefore = before.own === null && !before.hasOthers;
  if (isFirst && !after.hasOthers) {
    const isOnly = /[\]}]/.test(text[after.end] ?? '');
    if (!isOnly) return [{ offset: before.end, length: after.end - before.end, text: '' }];
    if (hasNoneBefore) return [{ offset: from, length: after.end - from, text: '' }];
  }
  if (!isFirst && hasNoneBefore && after.own === null) return [{ offset: from, length: end - from, text: '' }];
  const isOnLine = (one: number, other: number) => !text.slice(one, other).includes('\n');
  const isLed = !isFirst && before.comma !== null && isOnLine(before.comma, before.end);
  const isFollowed = after.comma !== null && (!isLed || isOnLine(end, after.comma));
  const comma = isFollowed || isFirst ? after.comma : before.comma;
  const pieces: Span[] = [{ from: before.end, to: end }];
  if (comma !== null) pieces.push({ from: comma, to: comma + 1 });
  if (after.own) pieces.push(after.own);
  return joined(text, pieces).map((piece) => tidyCut(text, piece));
}

/** Pieces with nothing but spaces between them are one. */
function joined(text: string, pieces: readonly Span[]): readonly Span[] {
  const made: Span[] = [];
  for (const piece of pieces.toSorted((one, other) => one.from - other.from)) {
    const last = made.at(-1);
    if (last && /^[ \t]*$/.test(text.slice(last.to, piece.from))) made[made.length - 1] = { ...last, to: piece.to };
    else made.push(piece);
  }
  return made;
}

/** Lines that nothing is left of go; else no spaces stay at the end of a line, nor twice between two items. */
function tidyCut(text: string, { from, to }: Span): TextEdit {
  const line = text.lastIndexOf('\n', from - 1) + 1;
  const spacesBefore = /[ \t]*$/.exec(text.slice(line, from))?.[0].length ?? 0;
  const [spacesBehind = '', lineBreak] = /^[ \t]*(\r?\n)?/.exec(text.slice(to)) ?? [];
  const isFirst = from - spacesBefore === line;
  if (lineBreak !== undefined) {
    const start = from - spacesBefore;
    const until = to + spacesBehind.length - (isFirst ? 0 : lineBreak.length);
    return { offset: start, length: until - start, text: '' };
  }
  const until = isFirst || (text[from] !== ',' && text[to - 1] === ',') ? to + spacesBehind.length : to;
  return { offset: from, length: until - from, text: '' };
}
