import type { Side } from '../../../engine/core/domain/tool.ts';
import { evaluate as evaluateNode, type Scope } from '../../../engine/core/expression/evaluate.ts';
import { parseExpression } from '../../../engine/core/expression/expression.ts';
import type { Expression } from '../../../engine/core/expression/syntax.ts';
import type { Json, Path } from '../../../engine/core/values/json.ts';
import type { Step } from '../../../engine/shell/rollout/ports.ts';
import type { Edit } from '../rollout/edit.ts';
import { databaseValue } from './databaseRows.ts';
import { evaluate, isRoot, scopeAt } from './expression.ts';
import type { Variable } from './rows.ts';
import { messageValue } from './variables.ts';

/** The list of editable values, for the error message that refuses to edit another. */
export const editable = 'only messages, arguments of calls and values of the database can';

/** The two sides of `db.orders.W1.status = "shipped"`, or null where a text assigns nothing. */
export function assignmentIn(text: string): { readonly expression: string; readonly value: string } | null {
  for (const { index } of text.matchAll(/(?<![=!<>])=(?!=)/g)) {
    const [expression, value] = [text.slice(0, index).trim(), text.slice(index + 1).trim()];
    // The sign within `items[product="lamp"]` leaves something that is not an expression on its left.
    if (value !== '' && !('problem' in parseExpression(expression))) return { expression, value };
  }
  return null;
}

/**
 * A place of the database that an expression names, whether something is there or not; or why it names none.
 * @param step the one that keys are looked up in; without one they are there in words
 */
export function placeNamed(text: string, step?: Step): { readonly side: Side; readonly path: Path } | string {
  const path = pathNamed(text, step);
  if (typeof path === 'string') return path;
  const [root, ...keys] = path;
  if (root === 'db' || root === 'user') {
    if (keys.length === 0) return `name a table or a value in it, such as ${root}.orders`;
    return { side: root === 'db' ? 'agent' : 'user', path: keys };
  }
  return isRoot(String(root)) ? `${text} is not a value of the database` : { side: 'agent', path };
}

/**
 * The edit that gives what an expression names another value; null when it has it already.
 * @returns a sentence where it can't be edited
 */
export function assigned(expression: string, value: string, step: Step): Edit | string | null {
  const found = evaluate(expression, step);
  if (typeof found === 'string') return found;
  const path = pathNamed(expression, step);
  if (typeof path === 'string') return path;
  const variable = variableAt(expression, path, step);
  if (variable && [value, JSON.stringify(value)].includes(variable.value)) return null;
  const edit = variable?.edit ?? variable?.whole?.edit;
  return edit?.(value) ?? `${expression} can't be edited: ${editable}`;
}

function variableAt(expression: string, path: Path, step: Step): Variable | undefined {
  const [root, index, part, nth, _, ...keys] = path;
  if (root !== 'messages') {
    const at = placeNamed(expression, step);
    return typeof at === 'string' ? undefined : databaseValue(step, at.side, at.path);
  }
  const message = step.state.messages[Number(index)];
  if (!message) return undefined;
  const shown = messageValue(message, Number(index));
  if (part === undefined || part === 'content') return shown;
  if (part !== 'toolCalls') return undefined;
  const call = shown.children?.().filter(({ type }) => type === 'call')[Number(nth)];
  return keys.reduce<Variable | undefined>(
    (parent, key) => parent?.children?.().find(({ name }) => name === String(key)),
    call,
  );
}

/** The name that an expression begins with and the keys behind it, each as it is at a step. */
function pathNamed(text: string, step: Step | undefined): Path | string {
  const parsed = parseExpression(text.trim());
  if ('problem' in parsed) return `"${text}" is not an expression: ${parsed.problem}`;
  return (
    keysOf(parsed.expression, step ? scopeAt(step) : () => undefined) ??
    `"${text}" names no place: write a path, such as db.orders.W1.status`
  );
}

function keysOf(expression: Expression, scope: Scope): Path | null {
  if (expression.type === 'name') return [expression.name];
  if (expression.type !== 'member' && expression.type !== 'element') return null;
  const before = keysOf(expression.of, scope);
  if (before === null) return null;
  const key = expression.type === 'member' ? memberKey(expression, scope) : elementKey(expression, scope);
  return key === null ? null : [...before, key];
}

function memberKey({ of, key }: Extract<Expression, { type: 'member' }>, scope: Scope): string | number | null {
  const named = readAs(key, scope);
  if (typeof named === 'string') return named;
  if (typeof named !== 'number') return null;
  const list = readAs(of, scope);
  if (!Array.isArray(list)) return String(named);
  return named < 0 ? named + list.length : named;
}

function elementKey(expression: Extract<Expression, { type: 'element' }>, scope: Scope): number | null {
  const [list, found] = [readAs(expression.of, scope), readAs(expression, scope)];
  const index = Array.isArray(list) && found !== null ? list.indexOf(found) : -1;
  return index < 0 ? null : index;
}

function readAs(expression: Expression, scope: Scope): Json {
  const found = evaluateNode(expression, scope);
  return 'problem' in found ? null : found.value;
}
