import {
  isObject,
  type Json,
  type JsonObject,
  objectOf,
  type Path,
  textOrJson,
} from '../../engine/core/values/json.ts';
import { referredBy } from '../../engine/core/values/jsonPointer.ts';

/** A JSON Schema, as far as a form reads it. What a form can't show it shows as JSON. */
export type Schema = JsonObject;

/** One of the forms that a value may have. */
export type Variant = { readonly label: string; readonly schema: Schema };

/** A named part of an object. */
export type FormField = { readonly name: string; readonly schema: Schema; readonly isRequired: boolean };

/** The control that a schema asks for. */
export type FormKind =
  | { readonly type: 'object'; readonly fields: readonly FormField[]; readonly others: Schema | null }
  | { readonly type: 'array'; readonly items: Schema }
  | { readonly type: 'choice'; readonly values: readonly Json[] }
  | { readonly type: 'variants'; readonly variants: readonly Variant[] }
  | { readonly type: 'text' | 'number' | 'boolean' | 'json' };

const listOf = (value: Json | undefined): readonly Json[] => (Array.isArray(value) ? value : []);

/** Steps that may still be taken. A server's schema can lead round in circles, and split at each of them. */
type Steps = { left: number };

/** More steps than a schema without a circle takes. */
const mostReferences = 64;
const mostForms = 256;
const mostParts = 256;

/** The schema behind references to other parts of the root, with what `allOf` adds to it. */
export function resolved(root: Schema, given: Json | undefined, steps: Steps = { left: mostReferences }): Schema {
  let schema = objectOf(given);
  for (; typeof schema.$ref === 'string' && steps.left > 0; steps.left--) {
    const { $ref, ...own } = schema;
    const target = pointedAt(root, $ref);
    if (!target) return own;
    schema = { ...target, ...own };
  }
  return listOf(schema.allOf).reduce<Schema>((merged, part) => {
    steps.left -= 1;
    return steps.left < 0 ? merged : joined(merged, resolved(root, part, steps));
  }, schema);
}

function joined(one: Schema, other: Schema): Schema {
  const properties = [one, other].map((each) => objectOf(each.properties));
  const required = new Set([...listOf(one.required), ...listOf(other.required)]);
  return { ...other, ...one, properties: Object.assign({}, ...properties) as Schema, required: [...required] };
}

function pointedAt(root: Schema, reference: string): Schema | null {
  const found = referredBy(root, reference);
  return isObject(found) ? found : null;
}

/** The control for a schema that `resolved` gave. */
export function kindOf(root: Schema, schema: Schema): FormKind {
  if (Object.hasOwn(schema, 'const')) return { type: 'choice', values: [schema.const as Json] };
  if (Array.isArray(schema.enum)) return { type: 'choice', values: schema.enum };
  const forms = formsOf(root, schema);
  if (forms.length > 0) return hasEndlessForms(root, forms) ? { type: 'json' } : variantsOf(root, schema, forms);
  if (Array.isArray(schema.type)) {
    const { type: types, ...rest } = schema;
    const each = (types as readonly Json[]).map((type): Schema => ({ ...rest, type }));
    return each.length === 1 ? kindOf(root, each[0] as Schema) : variantsOf(root, {}, each);
  }
  switch (schema.type ?? (isObject(schema.properties) ? 'object' : undefined)) {
    case 'object':
      return { type: 'object', fields: fieldsOf(root, schema), others: othersOf(schema) };
    case 'array':
      return { type: 'array', items: resolved(root, schema.items) };
    case 'string':
      return { type: 'text' };
    case 'number':
    case 'integer':
      return { type: 'number' };
    case 'boolean':
      return { type: 'boolean' };
    case 'null':
      return { type: 'choice', values: [null] };
    default:
      return { type: 'json' };
  }
}

function formsOf(root: Schema, { oneOf, anyOf }: Schema): readonly Schema[] {
  return [...listOf(oneOf), ...listOf(anyOf)].map((form) => resolved(root, form));
}

/** Whether forms have forms that have forms, without an end: no one could choose one. */
function hasEndlessForms(root: Schema, forms: readonly Schema[], steps: Steps = { left: mostForms }): boolean {
  steps.left -= forms.length;
  return steps.left < 0 || forms.some((form) => hasEndlessForms(root, formsOf(root, form), steps));
}

function fieldsOf(root: Schema, schema: Schema): readonly FormField[] {
  const required = listOf(schema.required);
  return Object.entries(objectOf(schema.properties)).map(([name, own]) => ({
    name,
    schema: resolved(root, own),
    isRequired: required.includes(name),
  }));
}

/** Returns what keys without a name of their own may hold; null where there may be none. */
function othersOf({ additionalProperties: others, properties }: Schema): Schema | null {
  if (isObject(others)) return others;
  return others === true || (others === undefined && !isObject(properties)) ? {} : null;
}

function variantsOf(root: Schema, outer: Schema, forms: readonly Schema[]): FormKind {
  const shared = isObject(outer.properties) ? { properties: outer.properties, required: listOf(outer.required) } : null;
  const variants = forms.map((form, index): Variant => {
    const schema = shared ? resolved(root, { allOf: [{ type: 'object', ...shared }, form] }) : form;
    return { label: labelOf(form, index), schema };
  });
  return { type: 'variants', variants };
}

function labelOf(schema: Schema, index: number): string {
  if (typeof schema.title === 'string') return schema.title;
  if (Object.hasOwn(schema, 'const')) return textOrJson(schema.const as Json);
  const marks = Object.entries(objectOf(schema.properties)).flatMap(([name, own]) =>
    isObject(own) && Object.hasOwn(own, 'const') ? [`${name}: ${textOrJson(own.const as Json)}`] : [],
  );
  if (marks.length > 0) return marks.join(', ');
  if (Array.isArray(schema.enum)) return schema.enum.map(textOrJson).join(' or ');
  const names = Object.keys(objectOf(schema.properties));
  if (names.length > 0) return `with ${names.join(', ')}`;
  return typeof schema.type === 'string' ? schema.type : `form ${index + 1}`;
}

/** The variant that a value has, as far as its type and its constant parts tell; the first where none fits. */
export function variantFor(root: Schema, variants: readonly Variant[], value: Json | undefined): number {
  const exact = variants.findIndex(({ schema }) => value !== undefined && mayBe(root, schema, value, true));
  if (exact >= 0) return exact;
  return Math.max(
    0,
    variants.findIndex(({ schema }) => value !== undefined && mayBe(root, schema, value, false)),
  );
}

function mayBe(root: Schema, schema: Schema, value: Json, isExact: boolean): boolean {
  const kind = kindOf(root, schema);
  switch (kind.type) {
    case 'choice':
      return kind.values.some((each) => JSON.stringify(each) === JSON.stringify(value));
    case 'object':
      return isObject(value) && kind.fields.every((field) => fitsField(root, field, value, isExact));
    case 'array':
      return Array.isArray(value);
    case 'text':
      return typeof value === 'string';
    case 'number':
      return typeof value === 'number';
    case 'boolean':
      return typeof value === 'boolean';
    case 'variants':
      return kind.variants.some((variant) => mayBe(root, variant.schema, value, isExact));
    case 'json':
      return true;
    default:
      return kind satisfies never;
  }
}

/** A part that is there is of its kind; of one that is constant that is enough, and else all that is required is there. */
function fitsField(
  root: Schema,
  { name, schema, isRequired }: FormField,
  value: JsonObject,
  isExact: boolean,
): boolean {
  const own = value[name];
  if (own === undefined) return !(isExact && isRequired);
  return !Object.hasOwn(schema, 'const') || mayBe(root, schema, own, isExact);
}

/** Returns the initial value: its default, its only value, or the emptiest of its kind. */
export function emptyValue(root: Schema, given: Schema, steps: Steps = { left: mostParts }): Json {
  const schema = resolved(root, given);
  if (schema.default !== undefined) return schema.default;
  const kind = kindOf(root, schema);
  switch (kind.type) {
    case 'object':
      return Object.fromEntries(
        kind.fields.flatMap(({ name, schema: own, isRequired }) => {
          const begun = isRequired ? begunWith(root, own, steps) : undefined;
          return begun === undefined ? [] : [[name, begun]];
        }),
      );
    case 'array':
      return [];
    case 'choice':
      return kind.values[0] ?? null;
    case 'variants':
      return kind.variants[0] ? emptyValue(root, kind.variants[0].schema, steps) : null;
    case 'text':
      return '';
    case 'number':
      return 0;
    case 'boolean':
      return false;
    case 'json':
      return null;
    default:
      return kind satisfies never;
  }
}

/** Returns the value that a required part begins with: its default, or the only value that it allows. */
function begunWith(root: Schema, schema: Schema, steps: Steps): Json | undefined {
  steps.left -= 1;
  if (steps.left < 0) return undefined;
  const kind = kindOf(root, schema);
  if (schema.default !== undefined) return schema.default;
  if (kind.type === 'choice' && kind.values.length === 1) return kind.values[0];
  return kind.type === 'object' || kind.type === 'array' ? emptyValue(root, schema, steps) : undefined;
}

/** Returns the constraints of a schema in words, apart from its description. */
export function demandsOf(schema: Schema): string {
  const { format, pattern, minimum, maximum, minLength, maxLength, minItems, maxItems, multipleOf } = schema;
  return [
    schema.type === 'integer' ? 'a whole number' : '',
    format === undefined ? '' : `format ${String(format)}`,
    pattern === undefined ? '' : `pattern ${String(pattern)}`,
    range(limit(minimum), limit(maximum), ''),
    multipleOf === undefined ? '' : `a multiple of ${String(multipleOf)}`,
    range(minLength, maxLength, ' characters'),
    range(minItems, maxItems, ' items'),
  ]
    .filter((part) => part !== '')
    .join(', ');
}

function range(from: Json | undefined, to: Json | undefined, unit: string): string {
  if (from === undefined && to === undefined) return '';
  if (from === undefined) return `at most ${String(to)}${unit}`;
  return to === undefined ? `${String(from)} or more${unit}` : `${String(from)} to ${String(to)}${unit}`;
}

/** Returns a limit, except for the largest whole number of JavaScript, which is in every schema of whole numbers. */
function limit(value: Json | undefined): Json | undefined {
  return Math.abs(Number(value)) === Number.MAX_SAFE_INTEGER ? undefined : value;
}

/** Returns the typed number, or the text itself if it is not a number, so that validation refuses it. */
export function numberFrom(text: string): Json {
  return /^-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$/.test(text.trim()) ? Number(text) : text;
}

/** Returns a value with another one at a path; missing parts of the path are created. */
export function withValue(value: Json | undefined, path: Path, put: Json): Json {
  const [key, ...rest] = path;
  if (key === undefined) return put;
  if (Array.isArray(value) || typeof key === 'number') {
    const list = Array.isArray(value) ? [...value] : [];
    list[Number(key)] = withValue(list[Number(key)], rest, put);
    return list;
  }
  const map = objectOf(value);
  return { ...map, [key]: withValue(Object.hasOwn(map, key) ? map[key] : undefined, rest, put) };
}

/** Returns a value without the part at a path. */
export function withoutValue(value: Json, path: Path): Json {
  const [key, ...rest] = path;
  if (key === undefined) return value;
  if (Array.isArray(value)) {
    if (rest.length === 0) return value.toSpliced(Number(key), 1);
    return value.with(Number(key), withoutValue(value[Number(key)] as Json, rest));
  }
  if (!isObject(value) || !Object.hasOwn(value, key)) return value;
  if (rest.length > 0) return { ...value, [key]: withoutValue(value[key] as Json, rest) };
  return Object.fromEntries(Object.entries(value).filter(([name]) => name !== String(key)));
}

/** A problem with the value at a path. */
export type Misfit = { readonly path: readonly (string | number)[]; readonly message: string };

/** The first thing that is wrong with the value at a path itself. */
export function misfitAt(misfits: readonly Misfit[], path: Path): string | undefined {
  const key = path.join('\n');
  return misfits.find((each) => each.path.join('\n') === key)?.message;
}
