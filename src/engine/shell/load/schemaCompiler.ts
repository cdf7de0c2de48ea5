import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import { Ajv2019 } from 'ajv/dist/2019.js';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { default as AjvDraft04Module } from 'ajv-draft-04';
import { isObject, type Json, type JsonObject } from '../../core/values/json.ts';
import { mostSteps } from '../../core/values/linearPattern.ts';
import { messageOf } from '../files/fault.ts';
import { endlessReference } from './endlessReference.ts';
import { checkExactly, exactKeyword, withExactLimits } from './exactKeyword.ts';
import { addExactLimits } from './exactLimits.ts';
import { countStepsAnew, isMapOfSchemas, isSchemaData, schemaSettings, TooManySteps } from './schemaPatterns.ts';

/** A JSON Schema that is ready to check values, or the words of the compiler that cannot use it. */
export type CompiledSchema =
  | {
      /**
       * Returns how a value differs from the schema.
       * @param exact the value with a text of digits in place of each number that is too large
       */
      readonly errorsOf: (value: Json, exact?: Json) => readonly ErrorObject[];
    }
  | { readonly problem: string };

type Options = typeof schemaSettings & {
  readonly allErrors: boolean;
  readonly meta?: boolean;
  readonly validateSchema?: boolean;
  readonly addUsedSchema?: boolean;
};
type Dialect = {
  readonly uri: RegExp;
  readonly compiler: (options: Options) => Ajv;
  /** Whether the keywords beside a reference do not count. */
  readonly isReferenceAlone?: boolean;
};

/** The settings for how many errors are found in a value, with the schemas compiled for them. */
type Mode = {
  readonly settings: Options;
  readonly quick: Map<Dialect, Ajv>;
  readonly compiled: WeakMap<JsonObject, CompiledSchema>;
};

const modeOf = (allErrors: boolean): Mode => ({
  settings: { ...schemaSettings, allErrors },
  quick: new Map(),
  compiled: new WeakMap(),
});
const everyError = modeOf(true);
const firstError = modeOf(false);

/** The package is CommonJS: Node and the bundler give its class differently. */
const AjvDraft04 = (AjvDraft04Module as unknown as { readonly default?: typeof Ajv }).default ?? AjvDraft04Module;

/** Dialects of JSON Schema, the usual one of MCP first. Draft 7 reads draft 6. */
const dialects: readonly Dialect[] = [
  { uri: /draft\/2020-12\/schema/, compiler: (options) => new Ajv2020(options) },
  { uri: /draft\/2019-09\/schema/, compiler: (options) => new Ajv2019(options) },
  { uri: /draft-0[67]\/schema/, compiler: (options) => new Ajv(options), isReferenceAlone: true },
  {
    uri: /draft-04\/schema/,
    compiler: (options) => new (AjvDraft04 as typeof Ajv)(options),
    isReferenceAlone: true,
  },
];

/**
 * Compiles a JSON Schema in the dialect that its `$schema` names; 2020-12 without one. A schema that mixes dialects, such
 * as one with tuples of draft 7 and no `$schema`, is compiled in the first dialect that takes it.
 */
export function compileSchema(schema: JsonObject): CompiledSchema {
  const all = compiledFor(everyError, schema);
  if ('problem' in all) return all;
  const errorsOf = (value: Json, exact?: Json) => {
    const errors = all.errorsOf(value, exact);
    const first = errors.some(isUnchecked) ? compiledFor(firstError, schema) : all;
    // A form that has failed is not followed further there, so a check takes fewer references.
    return first === all || 'problem' in first ? errors : first.errorsOf(value, exact);
  };
  return { errorsOf };
}

/** Compiles a schema like `compileSchema`, for results of a server: a value of any size has one error at most. */
export function compileOutputSchema(schema: JsonObject): CompiledSchema {
  return compiledFor(firstError, schema);
}

function compiledFor(mode: Mode, schema: JsonObject): CompiledSchema {
  const known = mode.compiled.get(schema);
  if (known) return known;
  const made = compile(mode, schema);
  mode.compiled.set(schema, made);
  return made;
}

function compile(mode: Mode, { $schema, ...written }: JsonObject): CompiledSchema {
  const named = dialects.find(({ uri }) => typeof $schema === 'string' && uri.test($schema)) ?? dialects[0];
  const inOrder = dialects.toSorted((a, b) => Number(b === named) - Number(a === named));
  let problem = '';
  try {
    const context = { anchors: anchorsOf(written), isReferenceAlone: named?.isReferenceAlone ?? false };
    const schema = tolerated(withExactLimits(written), context) as JsonObject;
    const endless = endlessReference(schema);
    if (endless !== undefined) return { problem: `the reference ${endless} leads back to itself` };
    const compilers = [
      ...inOrder.map((dialect) => () => quickOf(mode, dialect)),
      // A schema may refer to the meta-schema of its dialect.
      ...inOrder.slice(0, 1).map((dialect) => () => withoutId(dialect.compiler(mode.settings))),
    ];
    for (const compilerOf of compilers) {
      const made = compiledBy(compilerOf(), schema);
      if (typeof made !== 'string') return { errorsOf: (value, exact) => errorsWithin(made, value, exact) };
      problem ||= made;
    }
  } catch (error) {
    // Such as a schema that is nested too deeply.
    problem ||= messageOf(error);
  }
  return { problem };
}

/** Returns a compiler for many schemas. It has no meta-schema, which takes longer to compile than everything else here. */
function quickOf({ settings, quick }: Mode, dialect: Dialect): Ajv {
  const known = quick.get(dialect);
  if (known) return known;
  const made = withoutId(dialect.compiler({ ...settings, meta: false, validateSchema: false, addUsedSchema: false }));
  quick.set(dialect, made);
  return made;
}

/** The limit of references followed to check one value. Each may follow two more, so a small schema may not end. */
const mostReferences = 100_000;

/** Is next to every reference of a compiled schema. */
const counted = 'rehearsal-counted';
let references = 0;

class TooManyReferences extends Error {}

/** Returns whether an error means that a value cannot be checked, so that it may fit. */
export const isUnchecked = ({ keyword }: ErrorObject): boolean => keyword === counted;

function errorsWithin(check: ValidateFunction, value: Json, exact: Json = value): readonly ErrorObject[] {
  references = 0;
  countStepsAnew();
  checkExactly(exact);
  try {
    return check(value) ? [] : (check.errors ?? []);
  } catch (error) {
    // A reference that leads back to itself without a step into the value has no end, so the value is not checked.
    if (error instanceof RangeError) return [];
    if (!(error instanceof TooManyReferences || error instanceof TooManySteps)) throw error;
    const limit = error instanceof TooManySteps ? `${mostSteps} steps of its patterns` : `${mostReferences} references`;
    const message = `cannot be checked: the schema takes more than ${limit} for one value`;
    return [{ keyword: counted, instancePath: '', schemaPath: '#', params: {}, message }];
  }
}

/**
 * Adds the keywords of this program, and takes out `id`, which Ajv refuses outside of draft 4. Servers write it beside any
 * `$schema`.
 */
function withoutId(ajv: Ajv): Ajv {
  ajv.addKeyword(exactKeyword);
  addExactLimits(ajv);
  ajv.addKeyword({
    keyword: counted,
    validate: () => {
      references += 1;
      if (references > mostReferences) throw new TooManyReferences();
      return true;
    },
  });
  return ajv.opts.schemaId === 'id' ? ajv : (ajv.removeKeyword('id') as Ajv);
}

/** Returns the words of the compiler where it cannot use the schema. */
function compiledBy(ajv: Ajv, schema: object): ValidateFunction | string {
  try {
    return ajv.compile(schema);
  } catch (error) {
    return messageOf(error);
  } finally {
    ajv.removeSchema(schema);
  }
}

/** Facts about a whole schema: the references to its root by its own anchors, and whether a reference is alone. */
type Context = { readonly anchors: readonly string[]; readonly isReferenceAlone: boolean };

/**
 * Returns a schema without what compilers refuse and servers write all the same: keywords that are null, and the `nullable`
 * of OpenAPI beside no `type`. Without `$async` too, with which Ajv answers later. A dynamic reference is a usual one, which
 * it is in a schema of one part: Ajv takes it for the root wherever its anchor is. A reference to an anchor of the root itself
 * is one to the root, as Ajv looks for anchors only below it. Without what is beside a reference, where the dialect says so.
 */
function tolerated(schema: Json, context: Context): Json {
  const { anchors, isReferenceAlone } = context;
  if (Array.isArray(schema)) return schema.map((each) => tolerated(each, context));
  if (!isObject(schema)) return schema;
  const {
    nullable,
    $async: _,
    $dynamicRef,
    $recursiveRef = $dynamicRef,
    ...plain
  } = Object.fromEntries(
    Object.entries(schema).flatMap(([key, value]) => {
      if (value === null && (key === 'enum' || !isSchemaData(key))) return [];
      if (isSchemaData(key)) return [[key, value]];
      return [[key, isMapOfSchemas(key) && isObject(value) ? toleratedMap(value, context) : tolerated(value, context)]];
    }),
  ) as JsonObject;
  const { $ref = $recursiveRef } = plain;
  if (typeof $ref === 'string') {
    const reference = { $ref: anchors.includes($ref) ? '#' : $ref, [counted]: true };
    if (isReferenceAlone) return { ...targetsIn(plain), ...reference };
    Object.assign(plain, reference);
  }
  if (nullable === undefined) return plain;
  if (plain['type'] !== undefined) return nullable === true ? { ...plain, nullable } : plain;
  return nullable === true ? { anyOf: [{ type: 'null' }, plain] } : plain;
}

/** Returns the references to a schema by its own anchors. */
function anchorsOf({ $anchor, $dynamicAnchor }: JsonObject): readonly string[] {
  return [$anchor, $dynamicAnchor].flatMap((name) => (typeof name === 'string' ? [`#${name}`] : []));
}

/** Returns what references lead to, and the names that they use. */
function targetsIn(schema: JsonObject): JsonObject {
  const names = ['definitions', '$defs', '$id', 'id'];
  return Object.fromEntries(Object.entries(schema).filter(([key]) => names.includes(key)));
}

function toleratedMap(schemas: JsonObject, context: Context): JsonObject {
  return Object.fromEntries(
    Object.entries(schemas).flatMap(([name, schema]) => (schema === null ? [] : [[name, tolerated(schema, context)]])),
  );
}
