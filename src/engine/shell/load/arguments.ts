import type { ErrorObject } from 'ajv';
import { sourceOf } from '../../core/domain/sources/sources.ts';
import type { Tool } from '../../core/domain/tool.ts';
import { capitalized } from '../../core/text/capitalized.ts';
import { type Json, type JsonObject, textOrJson, valueAt } from '../../core/values/json.ts';
import { keysOfPointer } from '../../core/values/jsonPointer.ts';
import { didYouMean } from '../source/nearest.ts';
import { argumentsOf } from '../source/note.ts';
import { exactErrors, integersIn } from './exactErrors.ts';
import { compileSchema, isUnchecked } from './schemaCompiler.ts';

export type ArgumentProblem = {
  /** Path in the arguments. */
  readonly path: readonly string[];
  /** Whether the finding is about the key at the end of the path, not about its value. */
  readonly isKey: boolean;
  /** The key that is missing at the path. */
  readonly missing?: string;
  readonly message: string;
  readonly hint: string;
  /** Words of which one may have been meant. */
  readonly candidates?: readonly string[];
};

/**
 * Returns how arguments differ from the tool's JSON Schema; nothing where the schema cannot be compiled.
 * @param integers JSON Pointers of texts that are numbers
 */
export function argumentProblems(
  tool: Pick<Tool, 'name' | 'parameters'> & Partial<Pick<Tool, 'source'>>,
  given: JsonObject,
  integers?: readonly string[],
): readonly ArgumentProblem[] {
  const schema = compileSchema(tool.parameters);
  if ('problem' in schema) return [];
  const checked = { schema: tool.parameters, value: given, integers: integersIn(tool.parameters, given, integers) };
  const errors = exactErrors(schema, checked);
  // The server checks what cannot be checked here.
  if (tool.source && sourceOf({ source: tool.source }).isForeign && errors.some(isUnchecked)) return [];
  return errors.map((error) => problemOf(tool, error, given));
}

/** Returns what a call is refused with whose arguments do not fit, or null where they do. */
export function misfitOf(tool: Tool, given: JsonObject, integers?: readonly string[]): string | null {
  // A sentence that begins with the path of an argument keeps its letters.
  const problems = argumentProblems(tool, given, integers).map(({ message }, at) =>
    at > 0 && message.startsWith('the ') ? capitalized(message) : message,
  );
  return problems.length === 0 ? null : `the arguments of ${tool.name} do not fit: ${problems.join(' ')}`;
}

/** Returns why a tool's JSON Schema cannot check arguments, or null. */
export function schemaProblem(parameters: JsonObject): string | null {
  if (parameters.type !== 'object') return 'its type is not "object"';
  const schema = compileSchema(parameters);
  return 'problem' in schema ? schema.problem : null;
}

export const requiredMissing = '`required` is missing';

type Schema = { readonly [key: string]: unknown };

/**
 * Returns what a strict provider misses in a schema that is otherwise right: which arguments are required, and the type
 * of each value. `$schema` is not among them: it is never sent to a model.
 */
export function strictProblems(parameters: JsonObject): readonly string[] {
  const { properties, required } = parameters as Schema;
  const hasSome = typeof properties === 'object' && properties !== null && Object.keys(properties).length > 0;
  return [...(hasSome && !Array.isArray(required) ? [requiredMissing] : []), ...typeless(parameters, '')];
}

/** Paths of the values below a schema that say nothing of their type. */
function typeless(schema: unknown, path: string): readonly string[] {
  if (typeof schema !== 'object' || schema === null) return [];
  const { properties, items } = schema as Schema;
  const below = Object.entries((properties ?? {}) as Schema).flatMap(([name, each]) => {
    const own = path === '' ? name : `${path}.${name}`;
    return isTyped(each) ? typeless(each, own) : [`${own} has no \`type\``];
  });
  if (items === undefined || typeof items !== 'object') return below;
  const own = (each: unknown) => (isTyped(each) ? typeless(each, `${path}[]`) : [`${path}[] has no \`type\``]);
  return [...below, ...[items].flat().flatMap(own)];
}

const isTyped = (schema: unknown) =>
  typeof schema === 'object' &&
  schema !== null &&
  ['type', 'enum', 'const', '$ref', 'anyOf', 'oneOf', 'allOf'].some((key) => Object.hasOwn(schema, key));

/** Numbers and texts are mixed up by quotes. */
function typeHint(value: Json | undefined, wanted: string): string {
  // A number has lost the zeros that it was written with.
  if (wanted === 'string' && typeof value === 'number' && value >= 10_000)
    return 'A number loses leading zeros and a plus sign. Put the value in quotes.';
  if (wanted === 'string' && (typeof value === 'number' || typeof value === 'boolean'))
    return `Write it in quotes: "${value}" is a text.`;
  const [[key, inner] = ['', undefined], ...others] =
    typeof value === 'object' && value !== null ? Object.entries(value) : [];
  // YAML reads braces without quotes as an object.
  if (wanted === 'string' && inner === null && others.length === 0) return `Write it in quotes: "{${key}}".`;
  if (/^(?:number|integer|boolean)$/.test(wanted) && typeof value === 'string') return 'Write it without quotes.';
  return `It is ${JSON.stringify(value)?.slice(0, 80) ?? 'missing'}.`;
}

function problemOf(tool: Pick<Tool, 'name' | 'parameters'>, error: ErrorObject, given: JsonObject): ArgumentProblem {
  const path = keysOfPointer(error.instancePath);
  const name = path.join('.');
  const params = error.params as Record<string, unknown>;
  const atValue = { path, isKey: false, hint: `See the description of ${tool.name}.` };
  switch (error.keyword) {
    case 'required': {
      const missing = String(params.missingProperty);
      return {
        path,
        isKey: true,
        missing,
        message: `the argument ${[...path, missing].join('.')} is missing.`,
        hint: `Write ${missing}: and its value.`,
      };
    }
    case 'additionalProperties': {
      const extra = String(params.additionalProperty);
      const names = path.length === 0 ? argumentsOf(tool) : [];
      const all = path.length === 0 ? `Its arguments are ${names.join(', ') || 'none'}.` : 'Remove it.';
      return {
        path: [...path, extra],
        isKey: true,
        message: `the argument ${[...path, extra].join('.')} is unknown.`,
        hint: didYouMean(extra, names, all),
        candidates: names,
      };
    }
    case 'enum': {
      const candidates = (params.allowedValues as readonly unknown[]).map(textOrJson);
      const message = `${name} must be one of ${candidates.join(', ')}.`;
      return { ...atValue, message, hint: 'Choose one of them.', candidates };
    }
    case 'type': {
      const wanted = String(params.type);
      const message = `${name || 'the arguments'} must be of type ${wanted}.`;
      return { ...atValue, message, hint: typeHint(valueAt(given, path), wanted) };
    }
    case 'anyOf':
    case 'oneOf':
      return {
        ...atValue,
        message: name === '' ? 'they fit none of their forms.' : `${name} fits none of the forms that it may have.`,
      };
    default:
      return { ...atValue, message: `${name || 'the arguments'} ${error.message ?? 'must fit the schema'}.` };
  }
}
