import { arityOf } from '../../engine/core/expression/signature.ts';
import type { Segment } from './shape.ts';
import type { Span } from './text.ts';

/** A word of an expression; what is not finished yet is read as far as it goes. */
export type Token = Span & { readonly kind: 'number' | 'text' | 'name' | 'member' | 'sign'; readonly text: string };

/** One part of a path, and where it is; a computed part is nowhere. */
export type PathPart = Span & { readonly segment: Segment };

/** A path of an expression that begins at a name: `db.orders[args.order_id].status`. */
export type ExpressionPath = {
  readonly root: Token;
  readonly parts: readonly PathPart[];
  /** The end of the expression, including its brackets. */
  readonly end: number;
};

/** A text that names a tool: an input of `last`, or what `.tool` is compared with. */
export type ReadExpression = { readonly paths: readonly ExpressionPath[]; readonly toolTexts: readonly Span[] };

const pattern =
  /\s*(?:(?<number>\d+(?:\.\d+)?)|(?<text>"(?:[^"\\]|\\.)*"?|'(?:[^'\\]|\\.)*'?)|\.\s*(?<member>[A-Za-z_$][\w$]*|\d+)|(?<name>[A-Za-z_$][\w$]*)|(?<sign>==|!=|<=|>=|&&|\|\||[^\s]))/y;

/** The words of an expression, at their offsets in the text. Never fails. */
export function tokensOf(text: string): readonly Token[] {
  const found: Token[] = [];
  pattern.lastIndex = 0;
  for (let match = pattern.exec(text); match; match = pattern.exec(text)) {
    for (const kind of ['number', 'text', 'member', 'name', 'sign'] as const) {
      const own = match.groups?.[kind];
      if (own === undefined) continue;
      const to = pattern.lastIndex;
      found.push({ kind, text: own, from: to - own.length, to });
      break;
    }
  }
  return found;
}

/** The operators that are words. */
export const wordOperators = ['and', 'or', 'not', 'in'] as const;

/** The words of an expression that name nothing. */
export const keywords: ReadonlySet<string> = new Set([...wordOperators, 'true', 'false', 'null']);

type Binding = { readonly root: Token; readonly parts: readonly PathPart[] } | null;
type Scope = ReadonlyMap<string, Binding>;

const element = (at: number): PathPart => ({ segment: null, from: at, to: at });

/** The paths of an expression, those through a bound name spelt out from where its list begins. Never fails. */
export function readExpression(text: string): ReadExpression {
  const reader = new Reader(tokensOf(text));
  reader.until([], new Map());
  return { paths: reader.paths, toolTexts: reader.toolTexts };
}

class Reader {
  readonly paths: ExpressionPath[] = [];
  readonly toolTexts: Span[] = [];
  readonly #tokens: readonly Token[];
  #at = 0;

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens;
  }

  /** Reads on to one of the signs, or to the end. */
  until(signs: readonly string[], scope: Scope): void {
    let isOfTool = false;
    for (let token = this.#peek(); token; token = this.#peek()) {
      if (token.kind === 'sign' && signs.includes(token.text)) return;
      isOfTool = this.#one(token, scope, isOfTool);
    }
  }

  #peek(ahead = 0): Token | undefined {
    return this.#tokens[this.#at + ahead];
  }

  #isSign(sign: string, ahead = 0): boolean {
    const token = this.#peek(ahead);
    return token?.kind === 'sign' && token.text === sign;
  }

  /** Reads one thing; gives whether what comes next is compared with the name of a tool. */
  #one(token: Token, scope: Scope, isOfTool: boolean): boolean {
    if (token.kind === 'name' && this.#isSign('(', 1)) {
      this.#call(token, scope);
      return this.#trailing(scope);
    }
    if (token.kind === 'name' && token.text === 'in') {
      this.#at += 1;
      return isOfTool;
    }
    if (token.kind === 'name' && !keywords.has(token.text)) {
      const path = this.#path(token, scope);
      return path.parts.at(-1)?.segment === 'tool' || (path.parts.length === 0 && path.root.text === 'tool');
    }
    this.#at += 1;
    if (token.kind === 'text' && isOfTool) this.toolTexts.push(inside(token));
    if (token.kind === 'sign' && (token.text === '(' || token.text === '[')) {
      const close = token.text === '(' ? ')' : ']';
      if (token.text === '[' && isOfTool) this.#texts(close);
      this.until([close], scope);
      this.#at += 1;
      return false;
    }
    return isOfTool && ['==', '!=', 'not'].includes(token.text);
  }

  /** A list of texts that `.tool` is compared with. */
  #texts(close: string): void {
    while (this.#peek() && !this.#isSign(close)) {
      const token = this.#peek() as Token;
      if (token.kind === 'text') this.toolTexts.push(inside(token));
      this.#at += 1;
    }
  }

  #call({ text: name }: Token, scope: Scope): void {
    this.#at += 2;
    const before = this.paths.length;
    const [first, start] = [this.#peek(), this.#at];
    this.until([',', ')'], scope);
    if (name === 'last' && first?.kind === 'text' && this.#at === start + 1) this.toolTexts.push(inside(first));
    const isWhole = this.paths.length > before && this.#tokens[start]?.kind === 'name' && this.#isPathTo(start);
    const list = isWhole ? (this.paths[before] as ExpressionPath) : null;
    let inner = scope;
    if (arityOf(name)?.binds && this.#isSign(',')) {
      const own = this.#peek(1)?.kind === 'name' && this.#isSign(',', 2) ? this.#peek(1) : undefined;
      const binding = list && { root: list.root, parts: [...list.parts, element(list.root.to)] };
      inner = new Map([...scope, [own?.text ?? 'it', binding]]);
      if (own) this.#at += 2;
    }
    while (this.#isSign(',')) {
      this.#at += 1;
      const token = this.#peek();
      if (name === 'last' && token?.kind === 'text') this.toolTexts.push(inside(token));
      this.until([',', ')'], inner);
    }
    this.#at += 1;
  }

  /** Whether everything between a token and here is one path. */
  #isPathTo(start: number): boolean {
    let depth = 0;
    for (const { kind, text } of this.#tokens.slice(start + 1, this.#at)) {
      if (text === '[') depth += 1;
      else if (text === ']') depth -= 1;
      else if (depth === 0 && kind !== 'member') return false;
    }
    return true;
  }

  /** Members behind a call or a bracket: what they are of is not known, but a tool they may be. */
  #trailing(scope: Scope): boolean {
    return this.#parts(scope).at(-1)?.segment === 'tool';
  }

  #path(root: Token, scope: Scope): ExpressionPath {
    this.#at += 1;
    const own = this.#parts(scope);
    const binding = scope.get(root.text);
    const end = this.#tokens[this.#at - 1]?.to ?? root.to;
    const path = binding
      ? { root: binding.root, parts: [...binding.parts.map(unplaced), ...own], end }
      : { root, parts: own, end };
    if (binding !== null) this.paths.push(path);
    return path;
  }

  #parts(scope: Scope): readonly PathPart[] {
    const parts: PathPart[] = [];
    for (let token = this.#peek(); token; token = this.#peek()) {
      if (token.kind === 'member') {
        parts.push({
          segment: /^\d+$/.test(token.text) ? Number(token.text) : token.text,
          from: token.from,
          to: token.to,
        });
        this.#at += 1;
      } else if (this.#isSign('[')) parts.push(this.#index(token, scope));
      else break;
    }
    return parts;
  }

  #index(open: Token, scope: Scope): PathPart {
    this.#at += 1;
    const key = this.#peek();
    const isAlone = this.#isSign(']', 1);
    if (key && isAlone && (key.kind === 'text' || key.kind === 'number')) {
      this.#at += 2;
      if (key.kind === 'number') return { segment: Number(key.text), from: key.from, to: key.to };
      return { segment: key.text.slice(1, -1), ...inside(key) };
    }
    if (key?.kind === 'name' && this.#isSign('=', 1)) {
      while (this.#peek() && !this.#isSign(']')) this.#at += 1;
    } else this.until([']'], scope);
    this.#at += 1;
    return element(open.to);
  }
}

/** A part that is in another path: it has no place of its own here. */
const unplaced = ({ segment, from }: PathPart): PathPart => ({ segment, from, to: from });

/** The words of a text in quotes. */
function inside({ text, from, to }: Token): Span {
  const isClosed = text.length > 1 && text.at(-1) === text[0];
  return { from: from + 1, to: isClosed ? to - 1 : to };
}
