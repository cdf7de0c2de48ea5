import { excerpt } from '../text/excerpt.ts';
import type { Json } from '../values/json.ts';
import { evaluate, holds, type Scope } from './evaluate.ts';
import { arityOf } from './signature.ts';
import type { Expression } from './syntax.ts';

const comparisons: ReadonlySet<string> = new Set(['==', '!=', '<', '<=', '>', '>=', 'in']);
const longest = 120;

/** Returns what a condition that does not hold has read, in the parts that failed: `db.orders.W1.status is "open"`. */
export function readings(condition: Expression, scope: Scope): readonly string[] {
  const read = partsRead(condition, scope, false).map((part) => {
    const evaluated = evaluate(part, scope);
    return `${textOf(part)} is ${'problem' in evaluated ? `unknown (${evaluated.problem})` : shown(evaluated.value)}`;
  });
  return [...new Set(read)];
}

/**
 * Returns the parts of a condition that decide its outcome.
 * @param outcome whether the condition holds
 */
function partsRead(condition: Expression, scope: Scope, outcome: boolean): readonly Expression[] {
  switch (condition.type) {
    case 'literal':
      return [];
    case 'not':
      return partsRead(condition.of, scope, !outcome);
    case 'binary': {
      const { operator } = condition;
      const sides = [condition.left, condition.right];
      if (operator === 'and' || operator === 'or')
        return sides.flatMap((side) => (outcomeOf(side, scope) === outcome ? partsRead(side, scope, outcome) : []));
      return comparisons.has(operator)
        ? sides.filter(({ type }) => type !== 'literal' && type !== 'list')
        : [condition];
    }
    case 'call': {
      // The list that `any` looked at explains more than its result.
      const [list] = condition.inputs;
      return arityOf(condition.name)?.binds && list !== undefined ? [list] : [condition];
    }
    default:
      return [condition];
  }
}

function outcomeOf(condition: Expression, scope: Scope): boolean | null {
  const evaluated = evaluate(condition, scope);
  return 'problem' in evaluated ? null : holds(evaluated.value);
}

/** Returns the text of an expression, with brackets around every part that has an operator. */
function textOf(expression: Expression): string {
  switch (expression.type) {
    case 'literal':
      return JSON.stringify(expression.value);
    case 'list':
      return `[${expression.items.map(textOf).join(', ')}]`;
    case 'name':
      return expression.name;
    case 'member': {
      const { of, key } = expression;
      const isPlain = key.type === 'literal' && typeof key.value === 'string' && /^[A-Za-z_$][\w$]*$/.test(key.value);
      return `${textOf(of)}${isPlain ? `.${key.value}` : `[${textOf(key)}]`}`;
    }
    case 'element':
      return `${textOf(expression.of)}[${expression.field}=${expression.value}]`;
    case 'not':
      return `not ${textOf(expression.of)}`;
    case 'minus':
      return `-${textOf(expression.of)}`;
    case 'binary':
      return `(${textOf(expression.left)} ${expression.operator} ${textOf(expression.right)})`;
    case 'call':
      return `${expression.name}(${expression.inputs.map(textOf).join(', ')})`;
    default:
      return expression satisfies never;
  }
}

const shown = (value: Json): string => excerpt(JSON.stringify(value), longest);
