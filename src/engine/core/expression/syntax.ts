import type { Json } from '../values/json.ts';
import { isLargeInteger } from '../values/largeIntegers.ts';
import { arityOf, functionNames } from './signature.ts';

export type Operator = 'or' | 'and' | '==' | '!=' | '<' | '<=' | '>' | '>=' | 'in' | '+' | '-' | '*' | '/' | '%';

/** A parsed expression. `at` is the offset in its text; of a literal, where its words begin, inside of its quotes. */
export type Expression =
  | { readonly type: 'literal'; readonly value: Json; readonly at: number }
  | { readonly type: 'list'; readonly items: readonly Expression[] }
  | { readonly type: 'name'; readonly name: string; readonly at: number }
  | { readonly type: 'member'; readonly of: Expression; readonly key: Expression; readonly at: number }
  /** `list[field=value]`: the first element with this field. */
  | {
      readonly type: 'element';
      readonly of: Expression;
      readonly field: string;
      readonly value: string;
      readonly at: number;
    }
  | { readonly type: 'not' | 'minus'; readonly of: Expression }
  | { readonly type: 'binary'; readonly operator: Operator; readonly left: Expression; readonly right: Expression }
  | { readonly type: 'call'; readonly name: string; readonly inputs: readonly Expression[]; readonly at: number };

export type SyntaxProblem = {
  readonly problem: string;
  readonly at: number;
  /** The sign at this place, and the one that was meant; absent where that is not clear. */
  readonly misspelt?: { readonly sign: string; readonly meant: Operator };
};

type Token = {
  readonly kind: 'number' | 'text' | 'name' | 'member' | 'sign' | 'end';
  readonly text: string;
  readonly at: number;
  readonly end: number;
};

const tokenPattern =
  /\s*(?:(?<number>\d+(?:\.\d+)?)|(?<text>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')|\.\s*(?<member>[A-Za-z_$][\w$]*|\d+)|(?<name>[A-Za-z_$][\w$]*)|(?<sign>==|!=|<=|>=|&&|\|\||[<>+\-*/%!()[\],=]))/y;
const elementPattern = /\[\s*([A-Za-z_$][\w$]*)\s*=(?!=)\s*(?:"([^"]*)"|'([^']*)'|([^\]"']*?))\s*\]/y;
const longest = 2000;
const deepest = 60;

const strengths: Readonly<Record<Operator, number>> = {
  or: 1,
  and: 2,
  '==': 4,
  '!=': 4,
  '<': 4,
  '<=': 4,
  '>': 4,
  '>=': 4,
  in: 4,
  '+': 5,
  '-': 5,
  '*': 6,
  '/': 6,
  '%': 6,
};
const otherSigns: Readonly<Record<string, Operator>> = { '&&': 'and', '||': 'or' };

const misspeltSigns: Readonly<Record<string, Operator>> = { '=<': '<=', '=>': '>=', '=': '==' };

class Misread extends Error {
  readonly at: number;
  readonly misspelt: SyntaxProblem['misspelt'];

  constructor(message: string, at: number, misspelt?: SyntaxProblem['misspelt']) {
    super(message);
    this.at = at;
    this.misspelt = misspelt;
  }
}

/** Reads an expression. Nothing is evaluated; names are not judged, functions and their inputs are. */
export function parse(text: string): { readonly expression: Expression } | SyntaxProblem {
  try {
    if (text.length > longest) throw new Misread(`an expression has at most ${longest} characters`, longest);
    return { expression: new Reader(text).whole() };
  } catch (error) {
    if (error instanceof Misread) {
      const { message, at, misspelt } = error;
      return { problem: message, at, ...(misspelt ? { misspelt } : {}) };
    }
    throw error;
  }
}

class Reader {
  readonly #text: string;
  #token: Token;
  #next = 0;
  #depth = 0;

  constructor(text: string) {
    this.#text = text;
    this.#token = this.#read();
  }

  whole(): Expression {
    const expression = this.#binary(1);
    if (this.#token.kind !== 'end') throw this.#unexpected('an operator such as == or the end');
    return expression;
  }

  #read(): Token {
    tokenPattern.lastIndex = this.#next;
    const match = tokenPattern.exec(this.#text);
    if (!match) {
      const rest = this.#text.slice(this.#next);
      const at = this.#next + rest.length - rest.trimStart().length;
      if (rest.trim() === '') return { kind: 'end', text: '', at, end: at };
      const isOpen = /^\s*["']/.test(rest);
      throw new Misread(isOpen ? 'a quote is not closed' : `"${rest.trim()[0]}" does not belong here`, at);
    }
    const at = match.index + match[0].length - match[0].trimStart().length;
    this.#next = tokenPattern.lastIndex;
    for (const kind of ['number', 'text', 'member', 'name', 'sign'] as const) {
      const found = match.groups?.[kind];
      if (found !== undefined) return { kind, text: found, at, end: this.#next };
    }
    throw new Misread('nothing was read', at);
  }

  #advance(): Token {
    const taken = this.#token;
    this.#token = this.#read();
    return taken;
  }

  #binary(strength: number): Expression {
    if (++this.#depth > deepest) throw new Misread('this is nested too deeply', this.#token.at);
    let left = this.#unary();
    for (;;) {
      const isNotIn = this.#isWord('not') && /^\s*in\b/.test(this.#text.slice(this.#next));
      const operator = isNotIn ? 'in' : this.#operator();
      if (operator === null || strengths[operator] < strength) break;
      this.#advance();
      if (isNotIn) this.#advance();
      const right = this.#binary(strengths[operator] + 1);
      const made: Expression = { type: 'binary', operator, left, right };
      left = isNotIn ? { type: 'not', of: made } : made;
    }
    this.#depth--;
    return left;
  }

  #isWord(word: string): boolean {
    return this.#token.kind === 'name' && this.#token.text === word;
  }

  #operator(): Operator | null {
    const { kind, text, at } = this.#token;
    if (kind !== 'sign' && kind !== 'name') return null;
    if (text === '=') throw this.#misspelt(at);
    if (Object.hasOwn(otherSigns, text)) return otherSigns[text] ?? null;
    return Object.hasOwn(strengths, text) ? (text as Operator) : null;
  }

  #misspelt(at: number): Misread {
    const two = this.#text.slice(at, at + 2);
    const sign = Object.hasOwn(misspeltSigns, two) ? two : '=';
    const meant = misspeltSigns[sign] ?? '==';
    const message = sign === '=' ? '= compares nothing' : `${sign} is not an operator`;
    return new Misread(`${message}: write ${meant}`, at, { sign, meant });
  }

  #unary(): Expression {
    if (this.#isWord('not')) {
      this.#advance();
      return { type: 'not', of: this.#binary(3) };
    }
    if (this.#token.kind === 'sign' && this.#token.text === '!') {
      this.#advance();
      return { type: 'not', of: this.#unary() };
    }
    if (this.#token.kind === 'sign' && this.#token.text === '-') {
      this.#advance();
      return { type: 'minus', of: this.#unary() };
    }
    return this.#path(this.#primary());
  }

  #primary(): Expression {
    const { kind, text, at } = this.#token;
    if (kind === 'number') {
      this.#advance();
      // As in the state of a server, a number that would lose digits is a text of them.
      return { type: 'literal', value: isLargeInteger(text) ? text : Number(text), at };
    }
    if (kind === 'text') {
      this.#advance();
      return { type: 'literal', value: unquoted(text), at: at + 1 };
    }
    if (kind === 'name') return this.#named();
    if (kind === 'sign' && text === '(') {
      this.#advance();
      const inner = this.#binary(1);
      this.#expect(')');
      return inner;
    }
    if (kind === 'sign' && text === '[') {
      this.#advance();
      return { type: 'list', items: this.#inputs(']') };
    }
    throw kind === 'end' ? new Misread('the expression ends too early', at) : this.#unexpected('a value');
  }

  #named(): Expression {
    const { text: name, at } = this.#advance();
    if (name === 'true' || name === 'false') return { type: 'literal', value: name === 'true', at };
    if (name === 'null') return { type: 'literal', value: null, at };
    if (name === 'and' || name === 'or' || name === 'in') throw new Misread(`${name} needs a value before it`, at);
    if (this.#token.kind !== 'sign' || this.#token.text !== '(') return { type: 'name', name, at };
    const arity = arityOf(name);
    if (!arity) throw new Misread(`there is no function ${name}; there are ${functionNames.join(', ')}`, at);
    this.#advance();
    const inputs = this.#inputs(')');
    if (inputs.length < arity.min || inputs.length > arity.max)
      throw new Misread(`${name} is written ${arity.usage}`, at);
    if (arity.binds && inputs.length === 3 && inputs[1]?.type !== 'name')
      throw new Misread(`the second of three inputs of ${name} is a name: ${arity.usage}`, at);
    return { type: 'call', name, inputs, at };
  }

  #inputs(close: string): readonly Expression[] {
    const items: Expression[] = [];
    while (!(this.#token.kind === 'sign' && this.#token.text === close)) {
      items.push(this.#binary(1));
      if (this.#token.kind === 'sign' && this.#token.text === ',') this.#advance();
      else break;
    }
    this.#expect(close);
    return items;
  }

  #path(root: Expression): Expression {
    let of = root;
    for (;;) {
      const { kind, text, at } = this.#token;
      if (kind === 'member') {
        const { end } = this.#advance();
        const value = /^\d+$/.test(text) ? Number(text) : text;
        of = { type: 'member', of, key: { type: 'literal', value, at: end - text.length }, at };
      } else if (kind === 'sign' && text === '[') {
        of = this.#element(of, at) ?? this.#indexed(of, at);
      } else return of;
    }
  }

  #element(of: Expression, at: number): Expression | null {
    elementPattern.lastIndex = at;
    const match = elementPattern.exec(this.#text);
    if (!match) return null;
    this.#next = elementPattern.lastIndex;
    this.#token = this.#read();
    const field = match[1] ?? '';
    const value = match[2] ?? match[3] ?? match[4] ?? '';
    return { type: 'element', of, field, value, at: at + match[0].indexOf(field) };
  }

  #indexed(of: Expression, at: number): Expression {
    this.#advance();
    const key = this.#binary(1);
    this.#expect(']');
    return { type: 'member', of, key, at };
  }

  #expect(sign: string): void {
    if (this.#token.kind !== 'sign' || this.#token.text !== sign) throw this.#unexpected(`"${sign}"`);
    this.#advance();
  }

  #unexpected(wanted: string): Misread {
    const { kind, text, at } = this.#token;
    return new Misread(`expected ${wanted}, but found ${kind === 'end' ? 'the end' : `"${text}"`}`, at);
  }
}

function unquoted(text: string): string {
  return text.slice(1, -1).replace(/\\(.)/g, (_, char: string) => (char === 'n' ? '\n' : char));
}
