import { finiteText, jsonOf } from '../../engine/core/values/json.ts';
import { exactJsonOf } from '../../engine/core/values/largeIntegers.ts';
import { deepest, isTooDeep } from '../../engine/core/values/nesting.ts';

/** A JSON value of a file, with the line that it begins on. */
export type PlacedValue = { readonly value: unknown; readonly line: number };

/** Why a line of a file is not read. */
export type Unread = { readonly line: number; readonly message: string };

export type ReadValues = {
  readonly values: readonly PlacedValue[];
  readonly problems: readonly Unread[];
  /** Whether a line of the text begins as a list or an object does. */
  readonly isJson: boolean;
};

/** Reads the values of a text that comes in pieces. */
type Reader = {
  readonly add: (text: string) => void;
  readonly end: () => void;
};

/**
 * Collects the JSON values of a text that comes in pieces: one a line, or the elements of one list, or one value over many
 * lines. What is nested too deep to be gone down into is a problem, like what is not JSON. Only one value over many lines
 * is in the memory as a text.
 */
export class JsonValues {
  readonly #found = new Found();
  #opening: string[] = [];
  #reader: Reader | null = null;

  add(text: string): void {
    if (this.#reader) {
      this.#reader.add(text);
      return;
    }
    this.#opening.push(text);
    const first = text.trimStart()[0];
    if (first === undefined) return;
    this.#found.isJson = first === '[' || first === '{';
    this.#reader =
      first === '[' ? new List(this.#found) : first === '{' ? new Objects(this.#found) : lines(this.#found);
    this.#reader.add(this.#opening.join(''));
    this.#opening = [];
  }

  /** Returns all values of the text. */
  end(): ReadValues {
    this.#reader?.end();
    return this.#found;
  }
}

/** The values that were found so far. */
class Found implements ReadValues {
  readonly values: PlacedValue[] = [];
  readonly problems: Unread[] = [];
  isJson = false;

  add(value: unknown, line: number): void {
    if (isTooDeep(value)) this.problems.push({ line, message: `is nested deeper than ${deepest} levels` });
    else this.values.push({ value, line });
  }

  /** Adds the value of a JSON text. */
  addText(text: string, line: number, message: string): void {
    const value = readValue(text);
    if (value === undefined) this.problems.push({ line, message });
    else this.add(value, line);
  }
}

/** Matches a number outside of a text that may be too large: two ids with other last digits would be one. */
const largeNumber = /(?<!["\d.])\d{16}/;

const parsed = (text: string): unknown => (largeNumber.test(text) ? exactJsonOf(text) : jsonOf(text));

/** Returns the value of a JSON text, with null for NaN and Infinity; undefined for a text that is not JSON. */
function readValue(text: string): unknown {
  const value = parsed(text);
  return value === undefined && /NaN|Infinity/.test(text) ? parsed(finiteText(text)) : value;
}

/** Returns what reads a value from each line that is not empty. */
function lines(found: Found, first = 1): Reader {
  return new Lines((text, line) => {
    if (text.trim() === '') return;
    found.isJson ||= /^\s*[[{]/.test(text);
    found.addText(text, line, 'is not JSON; one value is expected on each line');
  }, first);
}

/** Splits a text that comes in pieces into its lines. */
class Lines implements Reader {
  readonly #take: (text: string, line: number) => void;
  #line: number;
  #open: string[] = [];

  constructor(take: (text: string, line: number) => void, first: number) {
    this.#take = take;
    this.#line = first;
  }

  add(text: string): void {
    let start = 0;
    for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', start)) {
      this.#end(text.slice(start, end));
      start = end + 1;
    }
    if (start < text.length) this.#open.push(text.slice(start));
  }

  end(): void {
    this.#end('');
  }

  #end(last: string): void {
    const text = this.#open.length === 0 ? last : this.#open.join('') + last;
    this.#open = [];
    this.#take(text, this.#line);
    this.#line += 1;
  }
}

/** Reads a text that begins with an object: one a line, or objects over many lines. */
class Objects implements Reader {
  readonly #found: Found;
  #texts: string[] = [];
  #isFirstLine = true;
  #lines: Reader | null = null;

  constructor(found: Found) {
    this.#found = found;
  }

  add(text: string): void {
    if (this.#lines) {
      this.#lines.add(text);
      return;
    }
    this.#texts.push(text);
    if (!this.#isFirstLine || !(this.#texts.length === 1 ? text.trimStart() : text).includes('\n')) return;
    this.#isFirstLine = false;
    const [first = ''] = this.#texts.join('').trimStart().split('\n', 1);
    if (readValue(first) !== undefined) this.#readLines(this.#texts);
  }

  end(): void {
    if (this.#lines) {
      this.#lines.end();
      return;
    }
    const text = this.#texts.join('');
    this.#texts = [];
    const whole = readValue(text);
    if (whole !== undefined) this.#found.add(whole, lineAt(text, text.indexOf('{')));
    else if (hasLines(text)) {
      this.#readLines([text]);
      this.end();
    } else {
      const pieces = new Pieces(this.#found, 0);
      pieces.add(text);
      pieces.end();
    }
  }

  #readLines(texts: readonly string[]): void {
    this.#lines = lines(this.#found);
    for (const each of texts) this.#lines.add(each);
    this.#texts = [];
  }
}

/** Returns whether the lines of a text are values by themselves, so that one that is not JSON is an error of its line. */
function hasLines(text: string): boolean {
  const objects = text.match(/^\{.*/gm) ?? [];
  return (
    objects.filter((line) => /^\{\s*"/.test(line)).length > 1 || objects.some((line) => jsonOf(line) !== undefined)
  );
}

function lineAt(text: string, offset: number): number {
  return text.slice(0, offset).split('\n').length;
}

/** Reads a text that begins with a list: its elements, or one list a line. */
class List implements Reader {
  readonly #found: Found;
  readonly #pieces: Pieces;
  #lines: Reader | null = null;

  constructor(found: Found) {
    this.#found = found;
    this.#pieces = new Pieces(found, 1);
  }

  add(text: string): void {
    if (this.#lines) {
      this.#lines.add(text);
      return;
    }
    const rest = this.#pieces.add(text);
    if (rest === null) return;
    const { values } = this.#found;
    const list = values.splice(0).map(({ value }) => value);
    this.#found.add(list, rest.first);
    this.#lines = lines(this.#found, rest.line);
    this.#lines.add(rest.text);
  }

  end(): void {
    (this.#lines ?? this.#pieces).end();
  }
}

/** The text behind a list that is a line. */
type Rest = { readonly text: string; readonly line: number; readonly first: number };

/** A value that has not ended: the line on which it begins, and its parts in the pieces before. */
type OpenValue = { readonly line: number; readonly parts: readonly string[] };

/** Reads the values of a text that are inside of as many lists and objects as the level says. */
class Pieces {
  readonly #found: Found;
  readonly #level: 0 | 1;
  #state: State = { depth: 0, line: 1, isText: false, isEscaped: false };
  #open: OpenValue | null = null;
  /** The line of the first list, and that on which it ends. */
  #first = 0;
  #firstEnd = 0;

  constructor(found: Found, level: 0 | 1) {
    this.#found = found;
    this.#level = level;
  }

  /** Reads a piece. Returns what is behind the first list, where that is the whole first line and another one follows. */
  add(text: string): Rest | null {
    let { depth, line, isText, isEscaped } = this.#state;
    let start = 0;
    for (let at = 0; at < text.length; at++) {
      const sign = text.charCodeAt(at);
      if (sign === lineEnd) line += 1;
      if (isText) {
        if (isEscaped) isEscaped = false;
        else if (sign === backslash) isEscaped = true;
        else if (sign === quote) isText = false;
        continue;
      }
      if (sign <= space) continue;
      if (depth === 0 && this.#isLineBefore(line)) return { text: text.slice(at), line, first: this.#first };
      const isEnd = sign === listEnd || sign === objectEnd;
      if (depth === this.#level) {
        if (sign === comma || isEnd) this.#close(text.slice(start, at));
        else if (!this.#open) {
          this.#open = { line, parts: [] };
          start = at;
        }
      }
      if (sign === quote) isText = true;
      else if (sign === listStart || sign === objectStart) {
        if (this.#first === 0) this.#first = line;
        depth += 1;
      } else if (isEnd) {
        depth -= 1;
        if (depth !== 0) continue;
        if (this.#level === 0) this.#close(text.slice(start, at + 1));
        if (this.#firstEnd === 0) this.#firstEnd = line;
      }
    }
    this.#state = { depth, line, isText, isEscaped };
    if (this.#open) this.#open = { ...this.#open, parts: [...this.#open.parts, text.slice(start)] };
    return null;
  }

  end(): void {
    const { values, problems } = this.#found;
    if (this.#open)
      problems.push({ line: this.#open.line, message: 'the file ends within this value: it was cut off' });
    if (values.length === 0) problems.splice(1);
  }

  #close(last: string): void {
    if (!this.#open) return;
    const { line, parts } = this.#open;
    this.#open = null;
    this.#found.addText(parts.join('') + last, line, 'is not JSON');
  }

  /** Whether a list is the whole first line of a text that continues on another line. */
  #isLineBefore(line: number): boolean {
    const isWhole = this.#firstEnd > 0 && this.#firstEnd === this.#first && this.#found.problems.length === 0;
    return this.#level === 1 && isWhole && line > this.#first;
  }
}

type State = {
  readonly depth: number;
  readonly line: number;
  readonly isText: boolean;
  readonly isEscaped: boolean;
};

const [lineEnd, space, quote, backslash, comma] = [0x0a, 0x20, 0x22, 0x5c, 0x2c];
const [listStart, listEnd, objectStart, objectEnd] = [0x5b, 0x5d, 0x7b, 0x7d];
