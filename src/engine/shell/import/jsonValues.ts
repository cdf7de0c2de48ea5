import { jsonOf } from '../../core/json.ts';
import { deepest, isTooDeep } from '../../core/nesting.ts';

/** A JSON value of a file, with the line that it begins on. */
export type PlacedValue = { readonly value: unknown; readonly line: number };

export type ReadValues = {
  readonly values: readonly PlacedValue[];
  readonly problems: readonly { readonly line: number; readonly message: string }[];
};

/**
 * The JSON values of a text: one a line, or the elements of one list, or one value over many lines. What is nested too
 * deep to be gone down into is a problem, like what is no JSON.
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
  const isOne = first === '[' || (first === '{' && jsonOf(firstLine(bare)) === undefined);
  const whole = isOne ? jsonOf(bare) : undefined;
  if (Array.isArray(whole)) {
    const lines = elementLines(bare);
    return { values: whole.map((value, index) => ({ value, line: lines[index] ?? 1 })), problems: [] };
  }
  if (whole !== undefined)
    return { values: [{ value: whole, line: lineAt(bare, bare.indexOf(first ?? '')) }], problems: [] };
  return linesOf(bare);
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

/** The lines on which the elements of a JSON list begin. */
function elementLines(text: string): readonly number[] {
  const lines: number[] = [];
  let [depth, line, isText, isOpen] = [0, 1, false, false];
  for (let at = 0; at < text.length; at++) {
    const sign = text[at] ?? '';
    if (sign === '\n') line += 1;
    if (isText) {
      if (sign === '\\') at += 1;
      else if (sign === '"') isText = false;
      continue;
    }
    if (depth === 1 && !isOpen && /[^\s,\]]/.test(sign)) {
      lines.push(line);
      isOpen = true;
    }
    if (sign === '"') isText = true;
    if (sign === '[' || sign === '{') depth += 1;
    if (sign === ']' || sign === '}') depth -= 1;
    if (sign === ',' && depth === 1) isOpen = false;
  }
  return lines;
}
