import type { Side } from '../../engine/core/domain/tool.ts';
import { isTable, sample } from '../../engine/core/expression/type.ts';
import { isObject, type Json, type JsonObject } from '../../engine/core/values/json.ts';
import { remembered } from '../../engine/shell/source/source.ts';

/**
 * The form of a database, read off its rows: which objects are tables, whose keys are names of rows, and which have
 * fields. A domain declares no schema of its data, so this is what is seen in it.
 */
export type Shape =
  | { readonly type: 'table'; readonly row: Shape }
  | { readonly type: 'list'; readonly item: Shape }
  | { readonly type: 'object'; readonly fields: ReadonlyMap<string, Shape> }
  | { readonly type: 'value'; readonly values: readonly Json[] }
  | { readonly type: 'unknown' };

/** The forms of both sides of a world. */
export type Shapes = { readonly agent: Shape; readonly user: Shape };

/** Values of a field that are remembered, to be offered. */
const kept = 60;

const shapes = new WeakMap<object, Shape>();

/** The form of a database. Its root is never a table: tables are what it has. */
export function shapeOf(database: JsonObject): Shape {
  return remembered(shapes, database, () => objectShape([database]));
}

function merged(values: readonly Json[]): Shape {
  const lists = values.filter((value) => Array.isArray(value));
  const objects = values.filter((value): value is JsonObject => isObject(value));
  if (objects.length > 0) return objects.every(isTable) ? tableShape(objects) : objectShape(objects);
  if (lists.length > 0) return { type: 'list', item: merged(sample(lists.flatMap((list) => sample(list as Json[])))) };
  return values.length === 0 ? { type: 'unknown' } : { type: 'value', values: [...new Set(values)].slice(0, kept) };
}

function tableShape(objects: readonly JsonObject[]): Shape {
  return { type: 'table', row: merged(sample(objects.flatMap((object) => sample(Object.values(object))))) };
}

function objectShape(objects: readonly JsonObject[]): Shape {
  const fields = new Map<string, Json[]>();
  for (const object of objects)
    for (const [key, value] of Object.entries(object)) fields.set(key, [...(fields.get(key) ?? []), value]);
  return { type: 'object', fields: new Map([...fields].map(([key, values]) => [key, merged(sample(values))])) };
}

/** A part of a place: a name or a number that is written there, or null where it is computed. */
export type Segment = string | number | null;

/** The meaning of one segment of a place: a field by its pattern, or a row of a table. */
export type Known = { readonly kind: 'field' | 'row'; readonly name: string };

/** The target of a place: the meaning of each segment, and the shape of the value at its end. */
export type Walk = { readonly known: readonly (Known | null)[]; readonly pattern: string; readonly end: Shape };

/** Follows a place through the form of a database. Rows and elements are `*` in the names of fields. */
export function walk(side: Side, shape: Shape, segments: readonly Segment[]): Walk {
  let end = shape;
  let pattern = `${side}:`;
  const known: (Known | null)[] = [];
  const join = (part: string) => (pattern.endsWith(':') ? `${pattern}${part}` : `${pattern}.${part}`);
  for (const segment of segments) {
    const isElement = end.type === 'table' || end.type === 'list' || segment === null || segment === '*';
    if (end.type === 'table' && segment !== null && segment !== '*')
      known.push({ kind: 'row', name: join(String(segment)) });
    else known.push(isElement ? null : { kind: 'field', name: join(String(segment)) });
    pattern = join(isElement ? '*' : String(segment));
    end = below(end, segment);
  }
  return { known, pattern, end };
}

/** The side of a database and the place in it that a name of a field or a row says. */
export function placeOfName(name: string): { readonly side: Side; readonly segments: readonly string[] } {
  const [side, place = ''] = name.split(/:(.*)/s);
  return { side: side === 'user' ? 'user' : 'agent', segments: place.split('.') };
}

/** The key itself that a name of a field or a row says. */
export function lastPart(name: string): string {
  return placeOfName(name).segments.at(-1) ?? '';
}

function below(shape: Shape, segment: Segment): Shape {
  switch (shape.type) {
    case 'table':
      return shape.row;
    case 'list':
      return shape.item;
    case 'object':
      return (segment === null ? undefined : shape.fields.get(String(segment))) ?? { type: 'unknown' };
    case 'value':
    case 'unknown':
      return { type: 'unknown' };
  }
}
