import { jsonOf } from '../../engine/core/values/json.ts';
import { deepest, isTooDeep } from '../../engine/core/values/nesting.ts';

/** A JSON value of a file, with the line that it begins on. */
export type PlacedValue = { readonly value: unknown; readonly line: number };

export type ReadValues = {
  readonly values: readonly PlacedValue[];
  readonly problems: readonly { readonly line: number; readonly message: string }[];
};

/**
 * The JSON values of a text: one a line, or the elements of one list, or one value over many lines. What is nested too
 * deep to be gone down into is a problem, like what is not JSON.
 */
export function valuesIn(text: string): ReadValues {
  const { values, problems } = allIn(text);
  const message = `is nested deeper than ${deepest} levels`;
  const deep = values.filter(({ value }) => isTooDeep(value));
  return {
    values: values.filter((each) => !deep.includes(each)),
    problems: [...problems, ...deep.map(({ line }) => ({ line, message }))],
  };
}

function allIn(text: string): ReadValues {
  const bare = text.replace(/^\uFEFF/, '');
  const first = bare.trimStart()[0];
  const opening = jsonOf(firstLine(bare));
  const isOne = first === '[' || (first === '{' && opening === undefined && !hasLines(bare));
  if (!isOne) return linesOf(bare);
  const whole = jsonOf(bare);
  if (whole === undefined) return opening === undefined ? piecewise(bare, first === '[' ? 1 : 0) : linesOf(bare);
  if (!Array.isArray(whole)) return { values: [{ value: whole, line: lineAt(bare, bare.indexOf('{')) }], problems: [] };
  const pieces = piecesOf(bare, 1);
  return { values: whole.map((value, index) => ({ value, line: pieces[index]?.line ?? 1 })), problems: [] };
}

/** Returns whether the lines of a text are values by themselves, so that one that is not JSON is an error of its line. */
function hasLines(text: string): boolean {
  const objects = text.split('\n').filter((line) => line.startsWith('{'));
  return (
    objects.filter((line) => /^\{\s*"/.test(line)).length > 1 || objects.some((line) => jsonOf(line) !== undefined)
  );
}

/** The values of a text that is not JSON as a whole: it was cut off, or has several values one after the other. */
function piecewise(text: string, level: 0 | 1): ReadValues {
  const values: PlacedValue[] = [];
  const problems: { line: number; message: string }[] = [];
  for (const { line, start, end } of piecesOf(text, level)) {
    const value = end === null ? undefined : jsonOf(text.slice(start, end));
    if (value !== undefined) values.push({ value, line });
    else
      problems.push({
        line,
        message: end === null ? 'the file ends within this value: it was cut off' : 'is not JSON',
      });
  }
  if (values.length === 0) return { values, problems: problems.slice(0, 1) };
  return { values, problems };
}

function linesOf(text: string): ReadValues {
  const values: PlacedValue[] = [];
  const problems: { line: number; message: string }[] = [];
  for (const [index, line] of text.split('\n').entries()) {
    if (line.trim() === '') continue;
    const value = jsonOf(line);
    if (value !== undefined) values.push({ value, line: index + 1 });
    else problems.push({ line: index + 1, message: 'is not JSON; one value is expected on each line' });
  }
  return { values, problems };
}

function firstLine(text: string): string {
  return text.split('\n').find((line) => line.trim() !== '') ?? '';
}

function lineAt(text: string, offset: number): number {
  return text.slice(0, offset).split('\n').length;
}

/** A value in a text: the line that it begins on, and where it begins and ends; null for one that does not end. */
type Piece = { readonly line: number; readonly start: number; readonly end: number | null };

/** The values of a text that are inside of as many lists and objects as the level says. */
function piecesOf(text: string, level: 0 | 1): readonly Piece[] {
  const pieces: Piece[] = [];
  let open: { readonly line: number; readonly start: number } | null = null;
  let [depth, line, isText] = [0, 1, false];
  const close = (end: number) => {
    if (open) pieces.push({ ...open, end });
    open = null;
  };
  for (let at = 0; at < text.length; at++) {
    const sign = text[at] ?? '';
    if (sign === '\n') line += 1;
    if (isText) {
      if (sign === '\\') at += 1;
      else if (sign === '"') isText = false;
      continue;
    }
    const isEnd = sign === ']' || sign === '}';
    if (depth === level) {
      if (sign === ',' || isEnd) close(at);
      else if (open === null && sign.trim() !== '') open = { line, start: at };
    }
    if (sign === '"') isText = true;
    else if (sign === '[' || sign === '{') depth += 1;
    else if (isEnd) {
      depth -= 1;
      if (level === 0 && depth === 0) close(at + 1);
    }
  }
  if (open) pieces.push({ ...(open as { line: number; start: number }), end: null });
  return pieces;
}
