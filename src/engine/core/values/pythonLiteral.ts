import { type Json, put } from './json.ts';
import { isLargeInteger } from './largeIntegers.ts';

/** Deeper nesting is not data that a tool returns. */
const deepest = 200;

const scalars: Readonly<Record<string, Json>> = { None: null, True: true, False: false };
const escapes: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r', b: '\b', f: '\f', v: '\v', a: '\x07' };

/**
 * Returns the value of a list, tuple or dictionary as Python prints it, or undefined where the text is anything else.
 * Servers in Python often answer with `str(rows)`, as in `[{'id': 1, 'paid': True}]`.
 */
export function pythonLiteral(text: string): Json | undefined {
  const source = text.trim();
  if (!/^[[{(]/.test(source)) return undefined;
  const reader = new LiteralReader(source);
  try {
    return reader.whole();
  } catch (error) {
    if (error instanceof NotLiteral) return undefined;
    throw error;
  }
}

class NotLiteral extends Error {}

class LiteralReader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  whole(): Json {
    const value = this.#value(0);
    this.#skipSpace();
    if (this.#at < this.#text.length) throw new NotLiteral();
    return value;
  }

  #value(depth: number): Json {
    if (depth > deepest) throw new NotLiteral();
    this.#skipSpace();
    const [sign = ''] = this.#text.slice(this.#at, this.#at + 1);
    if (sign === '[') return this.#list(']', depth);
    if (sign === '(') return this.#list(')', depth);
    if (sign === '{') return this.#dictionary(depth);
    if (sign === "'" || sign === '"') return this.#string(sign);
    return this.#scalar();
  }

  #list(end: string, depth: number): Json {
    const items: Json[] = [];
    this.#at++;
    while (!this.#takes(end)) {
      items.push(this.#value(depth + 1));
      if (!this.#takes(',') && !this.#isNext(end)) throw new NotLiteral();
    }
    return items;
  }

  #dictionary(depth: number): Json {
    const object: Record<string, Json> = {};
    this.#at++;
    while (!this.#takes('}')) {
      const key = this.#value(depth + 1);
      if (typeof key === 'object' || !this.#takes(':')) throw new NotLiteral();
      put(object, String(key), this.#value(depth + 1));
      if (!this.#takes(',') && !this.#isNext('}')) throw new NotLiteral();
    }
    return object;
  }

  #string(quote: string): string {
    const parts: string[] = [];
    for (this.#at++; ; this.#at++) {
      const sign = this.#text[this.#at];
      if (sign === undefined) throw new NotLiteral();
      if (sign === quote) break;
      parts.push(sign === '\\' ? this.#escaped() : sign);
    }
    this.#at++;
    return parts.join('');
  }

  #escaped(): string {
    this.#at++;
    const sign = this.#text[this.#at] ?? '';
    const digits = { x: 2, u: 4, U: 8 }[sign];
    if (digits === undefined) return escapes[sign] ?? sign;
    const code = this.#text.slice(this.#at + 1, this.#at + 1 + digits);
    const point = Number.parseInt(code, 16);
    if (code.length !== digits || !/^[\da-f]+$/i.test(code) || point > 0x10ffff) throw new NotLiteral();
    this.#at += digits;
    return String.fromCodePoint(point);
  }

  #scalar(): Json {
    const [word = ''] = /^[\w.+-]+/.exec(this.#text.slice(this.#at, this.#at + 40)) ?? [];
    this.#at += word.length;
    if (Object.hasOwn(scalars, word)) return scalars[word] as Json;
    const number = Number(word);
    if (!/^[+-]?\d/.test(word) || !Number.isFinite(number)) throw new NotLiteral();
    return isLargeInteger(word) ? word : number;
  }

  #skipSpace(): void {
    while (/\s/.test(this.#text[this.#at] ?? '')) this.#at++;
  }

  #isNext(sign: string): boolean {
    this.#skipSpace();
    return this.#text[this.#at] === sign;
  }

  #takes(sign: string): boolean {
    const isNext = this.#isNext(sign);
    if (isNext) this.#at++;
    return isNext;
  }
}
