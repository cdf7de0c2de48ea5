import type { Task } from '../../core/domain/task.ts';
import { quotedIn } from '../../core/events/quotedResults.ts';
import { type Type, typeOfDatabase, typeUnder } from '../../core/expression/type.ts';
import { valueProblem } from '../../core/expression/typeCheck.ts';
import { isObject, type Json, type JsonObject } from '../../core/values/json.ts';
import type { DomainTypes } from '../load/expressionTypes.ts';
import { type Placed, placeOf } from '../source/items.ts';
import { mostCompared } from '../source/nearest.ts';
import type { Bases, Note } from '../source/note.ts';
import { type ExpressionContext, noteField, noteValue } from './checkExpression.ts';

/** Checks that a task's data matches the domain's: the fields of its rows, and values as they are elsewhere. */
export function checkValues(placed: Placed<Task>, bases: Bases, types: DomainTypes, note: Note): void {
  const context: ExpressionContext = { kind: 'task', names: {}, types, note };
  for (const [index, { side, path, value }] of placed.value.state.entries()) {
    const type = typeOfDatabase(bases[side], side);
    checkPut(type, { placed, path: ['state', index, 'path'], written: path, value: value as Json, index }, context);
  }
  for (const [index, action] of placed.value.actions.entries())
    for (const [name, value] of Object.entries(action.arguments))
      if (typeof value === 'string' && quotedIn(value) === null) checkArgument(placed, index, name, value, context);
}

type Put = {
  readonly placed: Placed<Task>;
  readonly path: readonly PropertyKey[];
  readonly written: readonly (string | number)[];
  readonly value: Json;
  readonly index: number;
};

/** Follows a path into the type of a database: its last key is a field that rows have, or that a tool can write. */
function checkPut(root: Type, { placed, path, written, value, index }: Put, context: ExpressionContext): void {
  let type = root;
  for (const [depth, key] of written.entries()) {
    const found = typeUnder(type, key);
    if (found === null) return;
    if ('missing' in found) {
      const { missing } = found;
      // What is not there before the last key is a path into nowhere, and the table of one is a separate finding.
      const isLast = depth === written.length - 1 && missing.kind !== 'tables';
      if (isLast && value !== null && context.types.written(missing, String(key)) === null)
        noteField(String(key), missing, placeOf(placed, ...path, depth), context);
      return;
    }
    type = found.type;
  }
  checkLike(type, value, [placed, 'state', index, 'value'], context);
}

type Where = readonly [placed: Placed<Task>, ...path: readonly PropertyKey[]];

function checkLike(type: Type, value: Json, where: Where, context: ExpressionContext): void {
  const texts = valueProblem(type, value);
  if (texts) noteValue(String(value), { ...texts, from: 'examples' }, placeOf(...where), context);
  if (!isObject(value)) return;
  for (const [key, each] of Object.entries(value as JsonObject)) {
    const found = typeUnder(type, key);
    if (found === null) continue;
    const at: Where = [...where, key];
    if ('type' in found) checkLike(found.type, each, at, context);
    else if (context.types.written(found.missing, key) === null) {
      const [placed, ...path] = at;
      noteField(key, found.missing, placed.places.key([...placed.path, ...path]), context);
    }
  }
}

/** A value that nothing else has is a misspelling where it is almost a value that a task has for the same argument. */
function checkArgument(
  placed: Placed<Task>,
  index: number,
  name: string,
  value: string,
  context: ExpressionContext,
): void {
  const values = context.types.examples.get(name) ?? new Map<string, number>();
  if (values.size > mostCompared || (values.get(value) ?? 0) > 1) return;
  const { goal, opening, change, insist } = placed.value.user;
  const said = [goal, opening, change?.say, insist?.say];
  if (said.some((text) => text?.includes(value))) return;
  const known = new Set([...values.keys()].filter((each) => each !== value));
  noteValue(value, { known, from: 'examples' }, placeOf(placed, 'actions', index, 'arguments', name), context);
}
