import { isProposal, namesValue } from '../dialogue/dialogue.ts';
import { calendarDay, isTimeZone } from '../text/calendar.ts';
import { excerpt } from '../text/excerpt.ts';
import { amountsIn, durationsIn, keysNamed, numbersIn, saysAny, textClauses, textSentences } from '../text/phrase.ts';
import { wordsOf } from '../text/text.ts';
import { impossible } from '../values/impossible.ts';
import { type Json, type JsonObject, textOrJson } from '../values/json.ts';
import { isLargeInteger } from '../values/largeIntegers.ts';
import type { FunctionName } from './signature.ts';
import type { Expression, Operator } from './syntax.ts';

/** Returns the value of a name in an expression; undefined for a name that is not known. */
export type Scope = (name: string) => Json | undefined;

export type Evaluated = { readonly value: Json } | Unevaluated;

/**
 * The reason why an expression has no value, with the date in the data that is ambiguous or does not exist, if that is
 * the cause.
 */
export type Unevaluated = { readonly problem: string; readonly unclearDate?: string };

/** Nodes that one evaluation may visit. */
const budget = 500_000;

class Stuck extends Error {}

class Unclear extends Stuck {
  readonly date: string;

  constructor(date: string, problem: string) {
    super(`days needs two dates, and ${shown(date)} ${problem}`);
    this.date = date;
  }
}

type Run = { left: number };

/**
 * The value of an expression. Total: what can't be computed is a `problem` in words. A member that is not there is
 * null, as is a member of null; only own members are seen, so nothing of the runtime is within reach.
 */
export function evaluate(expression: Expression, scope: Scope): Evaluated {
  try {
    return { value: computed(expression, scope, { left: budget }) };
  } catch (error) {
    if (error instanceof Unclear) return { problem: error.message, unclearDate: error.date };
    if (error instanceof Stuck) return { problem: error.message };
    throw error;
  }
}

/** Null, false, 0 and the empty text do not hold; everything else does. */
export function holds(value: Json): boolean {
  return value !== null && value !== false && value !== 0 && value !== '';
}

/** Equality by content. */
export function equalJson(a: Json | undefined, b: Json | undefined): boolean {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  const keys = Object.keys(a);
  return (
    keys.length === Object.keys(b).length &&
    keys.every((key) => Object.hasOwn(b, key) && equalJson((a as JsonObject)[key], (b as JsonObject)[key]))
  );
}

function computed(expression: Expression, scope: Scope, run: Run): Json {
  if (run.left-- <= 0) throw new Stuck('this takes too long');
  switch (expression.type) {
    case 'literal':
      return expression.value;
    case 'list':
      return expression.items.map((item) => computed(item, scope, run));
    case 'name': {
      const value = scope(expression.name);
      if (value === undefined) throw new Stuck(`${expression.name} is not known here`);
      return value;
    }
    case 'member':
      return memberOf(computed(expression.of, scope, run), computed(expression.key, scope, run));
    case 'element':
      return elementOf(computed(expression.of, scope, run), expression.field, expression.value);
    case 'not':
      return !holds(computed(expression.of, scope, run));
    case 'minus': {
      const value = numericOf(computed(expression.of, scope, run), '-');
      return jsonNumber(-value);
    }
    case 'binary':
      return binary(expression, scope, run);
    case 'call':
      return called(expression.name as FunctionName, expression.inputs, scope, run);
    default:
      return impossible('expression', expression);
  }
}

function memberOf(of: Json, key: Json): Json {
  if (typeof of !== 'object' || of === null || key === null) return null;
  if (Array.isArray(of)) {
    if (typeof key !== 'number') return null;
    return (key < 0 ? of.at(key) : of[key]) ?? null;
  }
  const name = String(key);
  return Object.hasOwn(of, name) ? ((of as JsonObject)[name] ?? null) : null;
}

function elementOf(of: Json, field: string, wanted: string): Json {
  return elementsOf(of, 'an element').find((each) => String(memberOf(each, field)) === wanted) ?? null;
}

function binary({ operator, left, right }: Extract<Expression, { type: 'binary' }>, scope: Scope, run: Run): Json {
  const first = computed(left, scope, run);
  if (operator === 'and') return holds(first) && holds(computed(right, scope, run));
  if (operator === 'or') return holds(first) || holds(computed(right, scope, run));
  const second = computed(right, scope, run);
  if (operator === '==') return equalJson(first, second);
  if (operator === '!=') return !equalJson(first, second);
  if (operator === 'in') return isIn(first, second);
  if (operator === '<' || operator === '<=' || operator === '>' || operator === '>=')
    return compared(operator, first, second);
  const areTexts = typeof first === 'string' && typeof second === 'string';
  if (operator === '+' && areTexts && !(isLargeInteger(first) && isLargeInteger(second))) return first + second;
  return jsonNumber(arithmetic(operator, numericOf(first, operator), numericOf(second, operator)));
}

function isIn(part: Json, whole: Json): boolean {
  if (whole === null) return false;
  if (typeof whole === 'string') return typeof part === 'string' && whole.includes(part);
  if (Array.isArray(whole)) return whole.some((each) => equalJson(each, part));
  if (typeof whole === 'object') return part !== null && Object.hasOwn(whole, String(part));
  throw new Stuck(`in looks into a list, an object or a text, not into ${shown(whole)}`);
}

function compared(operator: '<' | '<=' | '>' | '>=', first: Json, second: Json): boolean {
  const operands =
    numbersOf(first, second) ?? (typeof first === 'string' && typeof second === 'string' && [first, second]);
  if (!operands)
    throw new Stuck(`${shown(first)} ${operator} ${shown(second)} does not compare two numbers or two texts`);
  const [a, b] = operands as [number, number];
  if (operator === '<') return a < b;
  if (operator === '<=') return a <= b;
  return operator === '>' ? a > b : a >= b;
}

/** Returns two values as numbers, of which each may be a text of the digits of a number that is too large; null for others. */
function numbersOf(first: Json, second: Json): readonly Numeric[] | null {
  const numbers = [first, second].map(withoutDigits);
  return numbers.every((each) => typeof each === 'number' || typeof each === 'bigint') ? numbers : null;
}

/** A number of an expression. A whole number that is too large is a text of its digits in data. */
type Numeric = bigint | number;

const withoutDigits = (value: Json) => (typeof value === 'string' && isLargeInteger(value) ? BigInt(value) : value);

function numericOf(value: Json, name: string): Numeric {
  const read = withoutDigits(value);
  return typeof read === 'bigint' ? read : numberOf(read, name);
}

/** Returns a number as data have it. */
function jsonNumber(value: Numeric): Json {
  if (typeof value === 'number') return value;
  const text = String(value);
  return isLargeInteger(text) ? text : Number(value);
}

/** Computes whole numbers exactly, except for a quotient. */
function arithmetic(operator: Operator, a: Numeric, b: Numeric): Numeric {
  if ((operator === '/' || operator === '%') && Number(b) === 0) throw new Stuck('nothing can be divided by 0');
  if (operator === '/') return Number(a) / Number(b);
  if (typeof a === 'bigint' && typeof b === 'bigint') return computedOf(operator, a, b);
  const rounded = computedOf(operator, Number(a), Number(b));
  const isExact = typeof a === 'number' && typeof b === 'number' && !isBeyondSafe(rounded);
  return isExact || !isWhole(a) || !isWhole(b) ? rounded : computedOf(operator, BigInt(a), BigInt(b));
}

const isWhole = (value: Numeric) => typeof value === 'bigint' || Number.isSafeInteger(value);
const isBeyondSafe = (value: number) => Math.abs(value) > Number.MAX_SAFE_INTEGER;

function computedOf<N extends Numeric>(operator: Operator, a: N, b: N): N;
function computedOf(operator: Operator, a: number, b: number): number {
  if (operator === '+') return a + b;
  if (operator === '-') return a - b;
  return operator === '*' ? a * b : a % b;
}

function called(name: FunctionName, inputs: readonly Expression[], scope: Scope, run: Run): Json {
  const input = (index: number): Json => {
    const expression = inputs[index];
    return expression === undefined ? null : computed(expression, scope, run);
  };
  const text = (index: number) => textOf(input(index), name);
  switch (name) {
    case 'any':
    case 'all':
    case 'find':
    case 'filter':
    case 'count':
    case 'sum':
      return overElements(name, inputs, scope, run);
    case 'keys': {
      const value = input(0);
      return typeof value === 'object' && value !== null ? Object.keys(value) : [];
    }
    case 'round': {
      const digits = numberOf(inputs.length > 1 ? input(1) : 0, name);
      const value = numericOf(input(0), name);
      if (typeof value === 'bigint' && digits >= 0) return jsonNumber(value);
      const factor = 10 ** digits;
      return Math.round(Number(value) * factor) / factor;
    }
    case 'days':
      return dayOf(input(1), scope) - dayOf(input(0), scope);
    case 'lower':
      return text(0).toLowerCase();
    case 'words':
      return wordsOf(text(0));
    case 'sentences':
      return textSentences(text(0));
    case 'clauses':
      return textClauses(text(0));
    case 'names':
      return namesValue(text(0), textOrJson(input(1)));
    case 'says': {
      const said = text(0);
      return inputs.slice(1).some((_, index) => saysAny(said, phrasesOf(input(index + 1))));
    }
    case 'mentions': {
      const table = input(1);
      return typeof table === 'object' && table !== null ? keysNamed(text(0), table) : [];
    }
    case 'asksForYes':
      return isProposal(text(0));
    case 'amounts':
      return amountsIn(text(0));
    case 'numbers':
      return numbersIn(text(0));
    case 'durations':
      return durationsIn(text(0));
    case 'last':
      return lastResult(
        scope,
        inputs.map((_, index) => text(index)),
      );
    default:
      return impossible('function', name);
  }
}

function overElements(
  name: 'any' | 'all' | 'find' | 'filter' | 'count' | 'sum',
  inputs: readonly Expression[],
  scope: Scope,
  run: Run,
): Json {
  const [list, ...rest] = inputs;
  const elements = elementsOf(list === undefined ? null : computed(list, scope, run), name);
  const body = rest.at(-1);
  const variable = rest.length === 2 && rest[0]?.type === 'name' ? rest[0].name : 'it';
  const of = (element: Json): Json =>
    body === undefined ? element : computed(body, (each) => (each === variable ? element : scope(each)), run);
  if (name === 'any') return elements.some((element) => holds(of(element)));
  if (name === 'all') return elements.every((element) => holds(of(element)));
  if (name === 'find') return elements.find((element) => holds(of(element))) ?? null;
  if (name === 'filter') return elements.filter((element) => holds(of(element)));
  if (name === 'count') return body === undefined ? elements.length : elements.filter((each) => holds(of(each))).length;
  return jsonNumber(elements.reduce<Numeric>((total, each) => arithmetic('+', total, numericOf(of(each), name)), 0));
}

/** Elements of a list, or the values of an object. Nothing is a list without elements. */
function elementsOf(value: Json, name: string): readonly Json[] {
  if (value === null) return [];
  if (typeof value !== 'object') throw new Stuck(`${name} needs a list, not ${shown(value)}`);
  return Array.isArray(value) ? value : Object.values(value as JsonObject);
}

/** The result of the last successful call of one of these tools, or null. */
function lastResult(scope: Scope, tools: readonly string[]): Json {
  const calls = elementsOf(scope('calls') ?? null, 'last') as readonly JsonObject[];
  const found = calls.findLast((call) => call['failed'] === false && tools.includes(String(call['tool'])));
  return found?.['result'] ?? null;
}

function phrasesOf(value: Json): readonly string[] {
  if (value === null) throw new Stuck('says needs phrases, not nothing');
  return (Array.isArray(value) ? value : [value]).map(textOrJson);
}

function numberOf(value: Json, name: string): number {
  if (typeof value !== 'number') throw new Stuck(`${name} needs a number, not ${shown(value)}`);
  return value;
}

function textOf(value: Json, name: string): string {
  if (typeof value !== 'string') throw new Stuck(`${name} needs a text, not ${shown(value)}`);
  return value;
}

/** The number of the calendar day that a date falls on in the time zone of the domain. */
function dayOf(value: Json, scope: Scope): number {
  if (typeof value !== 'string') throw new Stuck(`days needs two dates, not ${shown(value)}`);
  const zone = scope('timeZone');
  const found = calendarDay(value, typeof zone === 'string' && isTimeZone(zone) ? zone : 'UTC');
  if ('problem' in found) throw new Unclear(value, found.problem);
  return found.day;
}

const shown = (value: Json): string => excerpt(JSON.stringify(value) ?? 'nothing', 40);
