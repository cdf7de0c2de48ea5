import type { JsonObject } from '../values/json.ts';
import { type Evaluated, evaluate, holds, type Scope, type Unevaluated } from './evaluate.ts';
import { arityOf } from './signature.ts';
import { type Expression, parse, type SyntaxProblem } from './syntax.ts';

export { type Evaluated, equalJson, type Scope, type Unevaluated } from './evaluate.ts';

/**
 * The one expression language of the project: conditions in rules.yaml, assertions of tasks, and what the debugger
 * reads at a step. Pure and total: it reads values and calls a fixed set of functions, nothing else. See
 * docs/rule-language.md.
 */
const read = new Map<string, { readonly expression: Expression } | SyntaxProblem>();
const remembered = 2000;

/** The parsed text, remembered: the same few expressions are evaluated over and over. */
export function parseExpression(text: string): { readonly expression: Expression } | SyntaxProblem {
  const known = read.get(text);
  if (known) return known;
  const parsed = parse(text);
  if (read.size >= remembered) read.clear();
  read.set(text, parsed);
  return parsed;
}

/** The value of an expression, or why there is none. */
export function evaluateExpression(text: string, scope: Scope): Evaluated {
  const parsed = parseExpression(text);
  return 'problem' in parsed ? { problem: parsed.problem } : evaluate(parsed.expression, scope);
}

/** Whether a condition holds, or why that can't be said. */
export function conditionHolds(text: string, scope: Scope): boolean | Unevaluated {
  const evaluated = evaluateExpression(text, scope);
  return 'problem' in evaluated ? evaluated : holds(evaluated.value);
}

/** A scope in which the members of an object are names. */
export function scopeOf(names: JsonObject, outer: Scope = () => undefined): Scope {
  return (name) => (Object.hasOwn(names, name) ? names[name] : outer(name));
}

/** A path that an expression begins at a name, such as `args.order_id`: its literal parts, and where it is. */
export type NamedPath = { readonly name: string; readonly keys: readonly (string | number)[]; readonly at: number };

/** Every name that an expression reads from its scope, with the literal members that follow it. */
export function pathsIn(expression: Expression): readonly NamedPath[] {
  const known = paths.get(expression) ?? collect(expression, new Set());
  paths.set(expression, known);
  return known;
}

const paths = new WeakMap<Expression, readonly NamedPath[]>();

function collect(expression: Expression, bound: ReadonlySet<string>): readonly NamedPath[] {
  switch (expression.type) {
    case 'literal':
      return [];
    case 'list':
      return expression.items.flatMap((item) => collect(item, bound));
    case 'name':
      return bound.has(expression.name) ? [] : [{ name: expression.name, keys: [], at: expression.at }];
    case 'member':
      return memberPaths(expression, bound);
    case 'element':
    case 'not':
    case 'minus':
      return collect(expression.of, bound);
    case 'binary':
      return [...collect(expression.left, bound), ...collect(expression.right, bound)];
    case 'call': {
      const [list, ...rest] = expression.inputs;
      const [variable] = rest;
      const own = rest.length === 2 && variable?.type === 'name' ? variable.name : 'it';
      const inner = arityOf(expression.name)?.binds ? new Set([...bound, own]) : bound;
      // `last` looks into the calls without naming them.
      const calls: NamedPath[] = expression.name === 'last' ? [{ name: 'calls', keys: [], at: expression.at }] : [];
      return [...calls, ...(list ? collect(list, bound) : []), ...rest.flatMap((each) => collect(each, inner))];
    }
  }
}

function memberPaths(
  expression: Extract<Expression, { type: 'member' }>,
  bound: ReadonlySet<string>,
): readonly NamedPath[] {
  const of = collect(expression.of, bound);
  const own = collect(expression.key, bound);
  const [root] = of;
  const isPlain = root !== undefined && of.length === 1 && isPathTo(expression.of, root);
  if (!isPlain || expression.key.type !== 'literal') return [...of, ...own];
  return [{ ...root, keys: [...root.keys, expression.key.value as string | number] }];
}

/**
 * Whether an expression takes rows of the value that a name refers to: it counts them, names one by its place or by a field,
 * or reads fields of each, such as `any(state, it.id == 1)`.
 */
export function takesRowsOf(name: string, expression: Expression): boolean {
  const isNamed = (of: Expression | undefined) => of?.type === 'name' && of.name === name;
  const within = (...parts: readonly Expression[]) => parts.some((part) => takesRowsOf(name, part));
  switch (expression.type) {
    case 'literal':
    case 'name':
      return false;
    case 'list':
      return within(...expression.items);
    case 'member': {
      const { of, key } = expression;
      return (isNamed(of) && key.type === 'literal' && typeof key.value === 'number') || within(of, key);
    }
    case 'element':
      return isNamed(expression.of) || within(expression.of);
    case 'not':
    case 'minus':
      return within(expression.of);
    case 'binary':
      return within(expression.left, expression.right);
    case 'call': {
      const { inputs } = expression;
      const isOver = arityOf(expression.name)?.binds === true && isNamed(inputs[0]);
      return (isOver && (expression.name === 'count' || readsFields(inputs.slice(1)))) || within(...inputs);
    }
  }
}

/** @param inputs the inputs of a function behind its list: the name of an element, if it is not `it`, and what is read */
function readsFields(inputs: readonly Expression[]): boolean {
  const [variable] = inputs;
  const own = inputs.length === 2 && variable?.type === 'name' ? variable.name : 'it';
  return inputs.flatMap(pathsIn).some(({ name, keys }) => name === own && keys.length > 0);
}

/** Whether an expression is nothing but this path, so that a further member belongs to it. */
function isPathTo(expression: Expression, { keys, name }: NamedPath): boolean {
  if (expression.type === 'name') return keys.length === 0 && expression.name === name;
  return (
    expression.type === 'member' &&
    expression.key.type === 'literal' &&
    expression.key.value === keys.at(-1) &&
    isPathTo(expression.of, { name, keys: keys.slice(0, -1), at: 0 })
  );
}
